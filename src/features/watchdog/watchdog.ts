/** Announces Tocsin's own troubles once over all daemons, and their end, over channels that work. */
import type { Logger } from 'pino';
import type { ChannelKind, Destination } from '../../alert.ts';
import { type Condition, conditionKey, conditionText, nextStepOf, rowOf } from '../../condition.ts';
import { contentId } from '../../item.ts';
import type { HeldLock } from '../../redis/lock.ts';
import { capital, cleanLine, shorten } from '../../text.ts';
import { ageText, clockText, iso } from '../../time.ts';
import { type Announce, TO_DO } from '../announcements/announce.ts';
import { ANNOUNCED_AN_HOUR, brokenAmong, COMES_AND_GOES } from '../broken-destinations/message.ts';
import type { OutageStore } from '../broken-destinations/store.ts';
import { changesOf, type ListedTrouble, type StoredTrouble, type WatchdogStore } from './store.ts';

type Said = Omit<Condition, 'announcedTo'>;
type Named = Pick<Condition, 'name' | 'of'>;

/** For how long this daemon has seen each trouble without a break, and for how long an announced one has been gone. */
const createSightings = (monotonic: () => number) => {
  let seenSince: ReadonlyMap<string, number> = new Map();
  let goneSince: ReadonlyMap<string, number> = new Map();

  const since = (before: ReadonlyMap<string, number>, keys: readonly string[]): Map<string, number> =>
    new Map(keys.map((key) => [key, before.get(key) ?? monotonic()]));
  const forMs = (from: number | undefined): number => (from === undefined ? 0 : monotonic() - from);

  return {
    look: (current: readonly Named[], announced: readonly Named[]): void => {
      const here = current.map(conditionKey);
      const gone = announced.map(conditionKey).filter((key) => !here.includes(key));
      seenSince = since(seenSince, here);
      goneSince = since(goneSince, gone);
    },
    seenForMs: (key: string): number => forMs(seenSince.get(key)),
    goneForMs: (key: string): number => forMs(goneSince.get(key)),
  };
};

/** A message tells at most this many; the others are counted. */
const MOST = 15;
const LIMIT = 400;

const lineOf = (text: string): string => shorten(cleanLine(text), LIMIT).replace(/\.+$/, '');

const sentenceOf = ({ what, why }: Said): string =>
  capital(why === undefined ? lineOf(what) : lineOf(`${what}: ${why}`));

const sinceOf = ({ since }: Said): string => (since === undefined ? '' : ` Since ${clockText(since)}.`);

/** What they are, and a line about each. `alone`: how one is said; `verb`: of several. */
const linesOf = <T extends Said>(
  troubles: readonly T[],
  alone: (sentence: string) => string,
  verb: string,
  lineFor: (one: T) => string,
): string[] => {
  const first = troubles[0] === undefined ? '' : sentenceOf(troubles[0]);
  const isAlone = troubles.length === 1;
  const lines = troubles
    .slice(0, MOST)
    .map((one, index) => `${isAlone ? '' : `${index + 1}. ${sentenceOf(one)}.`}${lineFor(one)}`.trim());
  const more = troubles.length - MOST;
  return [
    isAlone ? alone(first) : `${troubles.length} troubles in Tocsin itself${verb}, the first: ${first}.`,
    ...lines.filter((line) => line !== ''),
    ...(more > 0 ? [`And ${more} more: see \`tocsin status\`.`] : []),
  ];
};

/** The first line stands alone; then by trouble since when, what becomes of alerts, and what to do. `comesAndGoes`: one of them began so often within the hour that its next beginnings are not announced. */
export const begunText = (troubles: readonly Said[], { comesAndGoes }: { comesAndGoes: boolean }): string => {
  const lines = linesOf(
    troubles,
    (one) => `${one}.`,
    '',
    (one) => `${sinceOf(one)} ${rowOf(one.name).effect}.\n${TO_DO}${nextStepOf(one)}.`,
  );
  return [...lines, ...(comesAndGoes ? [COMES_AND_GOES] : [])].join('\n');
};

interface Ended extends Said {
  /** The daemon that had it does not run any more, so nobody knows. */
  isUnknown: boolean;
}

/** `left`: troubles that were announced and are not over. */
export const overText = (troubles: readonly Ended[], { left, now }: { left: number; now: number }): string => {
  const lasted = ({ since }: Said): string =>
    since === undefined
      ? ''
      : ` It lasted ${ageText(Math.max(0, now - Date.parse(since)))}, since ${clockText(since)}.`;
  const gone = ({ isUnknown }: Ended): string => (isUnknown ? ' The daemon that had it does not run any more.' : '');
  const lines = linesOf(
    troubles,
    (one) => `Over: “${one}”.`,
    ' are over',
    (one) => `${lasted(one)}${gone(one)}`,
  );
  const rest = left === 0 ? [] : [`${left === 1 ? 'One is' : `${left} are`} left: see \`tocsin status\`.`];
  return [...lines, ...rest].join('\n');
};

export interface Listed {
  troubles: readonly ListedTrouble[];
  /** Of the daemons that run. */
  hosts: ReadonlySet<string>;
}

interface WatchdogDependencies {
  /** Everything that is wrong now, as all daemons know it. */
  list(): Promise<Listed>;
  store: Pick<WatchdogStore, 'list' | 'set' | 'remove'>;
  outages: Pick<OutageStore, 'get' | 'count'>;
  locks: { take(names: readonly string[]): Promise<HeldLock | undefined> };
  announce: Announce;
  /** Who is to hear of it; and who does where none of these works. */
  destinations: readonly Destination[];
  fallback: readonly Destination[];
  /** How long a trouble has to last, and how long its end. */
  afterMs: number;
  log: Pick<Logger, 'error' | 'info' | 'warn'>;
  monotonic(): number;
  now(): number;
}

const LOCK = 'watchdog';

/** Those that take messages, of the first list of which one does: never a channel that is itself the trouble. */
const createReaders =
  ({ outages, destinations, fallback }: WatchdogDependencies) =>
  async (troubles: readonly ListedTrouble[]): Promise<Destination[]> => {
    const isBroken = await brokenAmong(outages, [...destinations, ...fallback]);
    const failing = new Set<string>(troubles.flatMap(({ name, of }) => (name === 'channel' ? [of] : [])));
    const isWell = (one: Destination): boolean => !isBroken(one) && !failing.has(one.kind satisfies ChannelKind);
    const first = destinations.filter(isWell);
    return first.length > 0 ? first : fallback.filter(isWell);
  };

const labelsOf = (destinations: readonly Destination[]): string[] => destinations.map(({ label }) => label);

type Tell = (troubles: readonly StoredTrouble[], comesAndGoes?: boolean) => Promise<void>;

/** Announces what is stored already; also completes what was cut short: the same key is the same announcement, sent once. */
const createTell =
  ({ store, announce, log, now }: WatchdogDependencies): Tell =>
  async (troubles, comesAndGoes = false) => {
    const [first] = troubles;
    if (first === undefined) return;
    const { announcement: key, announcedTo } = first;
    const message = begunText(troubles, { comesAndGoes });
    if (announcedTo.length > 0) await announce({ about: 'trouble.begun', key, message }, now(), announcedTo);
    await store.set(troubles.map((one) => ({ ...one, isAnnounced: true })));
    const silent = announcedTo.length > 0 ? '' : ', and it is announced to nobody';
    const line = { troubles: troubles.map(conditionText), announcedTo: labelsOf(announcedTo) };
    log.error(line, `trouble in Tocsin itself${silent}`);
  };

const createBegin = (dependencies: WatchdogDependencies, tell: Tell, seenForMs: (key: string) => number) => {
  const { store, outages, destinations, fallback, log, now } = dependencies;
  const readersFor = createReaders(dependencies);
  let isWarned = false;

  /** Stored first: where a daemon ends in between, another one completes it. */
  const keep = async (
    troubles: readonly ListedTrouble[],
    announcement: string,
    announcedTo: Destination[],
    comesAndGoes = false,
  ): Promise<void> => {
    const stored = troubles.map(({ isAnnounced: _, ...one }): StoredTrouble => {
      const since = one.since ?? iso(now() - seenForMs(conditionKey(one)));
      return { ...one, since, announcement, announcedTo, isAnnounced: false };
    });
    await store.set(stored);
    await tell(stored, comesAndGoes);
  };

  return async (begun: readonly ListedTrouble[], all: readonly ListedTrouble[]): Promise<void> => {
    if (begun.length === 0) return;
    const readers = await readersFor(all);
    if (readers.length === 0 && destinations.length + fallback.length > 0) {
      if (!isWarned)
        log.error({ troubles: begun.map(conditionText) }, 'no channel works that could announce a trouble');
      isWarned = true;
      return;
    }
    isWarned = false;
    const times = new Map<ListedTrouble, number>();
    for (const one of begun) times.set(one, await outages.count(`watchdog-${contentId(conditionKey(one))}`));
    const isAtLeast = (count: number) => (one: ListedTrouble) => (times.get(one) ?? 0) >= count;
    const silent = begun.filter(isAtLeast(ANNOUNCED_AN_HOUR + 1));
    const loud = begun.filter((one) => !silent.includes(one));
    const key = `${iso(now())} ${contentId(...begun.map(conditionKey)).slice(0, 12)}`;
    await keep(loud, key, readers, loud.some(isAtLeast(ANNOUNCED_AN_HOUR)));
    await keep(silent, `${key} silent`, []);
  };
};

const createEnd =
  ({ store, announce, log, now }: WatchdogDependencies) =>
  async (ended: readonly StoredTrouble[], left: number, hosts: Listed['hosts']): Promise<void> => {
    if (ended.length === 0) return;
    const announcedTo = [...new Map(ended.flatMap((one) => one.announcedTo).map((one) => [one.id, one])).values()];
    const isUnknown = (one: StoredTrouble): boolean =>
      rowOf(one.name).isOfOneDaemon && !hosts.has(one.of.split(' ', 1)[0] ?? '');
    const heard = ended
      .filter((one) => one.announcedTo.length > 0)
      .map((one) => ({ ...one, isUnknown: isUnknown(one) }));
    const key = contentId(...ended.map((one) => `${one.announcement} ${conditionKey(one)}`));
    const message = overText(heard, { left, now: now() });
    if (heard.length > 0) await announce({ about: 'trouble.over', key, message }, now(), announcedTo);
    await store.remove(ended);
    log.info(
      { troubles: ended.map(conditionText), announcedTo: labelsOf(announcedTo) },
      'trouble in Tocsin itself is over',
    );
  };

export const createWatchdogRound = (dependencies: WatchdogDependencies) => {
  const { list, store, locks, afterMs, monotonic } = dependencies;
  const sightings = createSightings(monotonic);
  const tell = createTell(dependencies);
  const begin = createBegin(dependencies, tell, sightings.seenForMs);
  const end = createEnd(dependencies);

  return async (): Promise<void> => {
    const { troubles: current, hosts } = await list();
    const news = async () => {
      const announced = await store.list();
      sightings.look(current, announced);
      return { announced, changes: changesOf({ current, announced, ...sightings, afterMs }) };
    };
    const found = await news();
    const { begun, ended } = found.changes;
    if (begun.length + ended.length === 0 && found.announced.every(({ isAnnounced }) => isAnnounced)) return;
    const held = await locks.take([LOCK]);
    // Another daemon is about to say it.
    if (held === undefined) return;
    try {
      const { announced, changes } = await news();
      const cut = Map.groupBy(
        announced.filter(({ isAnnounced }) => !isAnnounced),
        ({ announcement }) => announcement,
      );
      for (const troubles of cut.values()) await tell(troubles);
      await end(changes.ended, announced.length - changes.ended.length, hosts);
      await begin(changes.begun, current);
    } finally {
      await held.release();
    }
  };
};
