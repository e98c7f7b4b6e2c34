/**
 * Announces what is wrong: once over all daemons, a few times an hour at most, over channels that work, and its end to
 * those who heard of it. What it is, and in which words, say those who find it.
 */
import type { Logger } from 'pino';
import { type Alert, type Announcement, type Destination, isAnnouncement, isHuman, onceEach } from '../../alert.ts';
import { mapInChunks } from '../../chunks.ts';
import { contentId } from '../../item.ts';
import { type Locks, underLock } from '../../redis/lock.ts';
import { iso } from '../../time.ts';
import { type Announce, announcementItem } from '../announcements/announce.ts';
import { type Announced, type AnnouncedStore, brokenAmong, labelsOf, type Over } from './store.ts';

/** Beginnings of one thing that are announced within an hour; after these it is known to come and go. */
export const ANNOUNCED_AN_HOUR = 3;
const COMES_AND_GOES = 'It comes and goes: for the rest of the hour its changes are not announced.';
/** The last line of the announcement of what began so often within the hour; empty before the last of them. */
export const lastLine = (times: number): string => (times < ANNOUNCED_AN_HOUR ? '' : `\n${COMES_AND_GOES}`);

interface AnnouncerDependencies {
  store: Pick<AnnouncedStore, 'list' | 'change' | 'update' | 'inForce' | 'count'>;
  locks: Pick<Locks, 'take'>;
  announce: Announce;
  /** Who is to hear of it before the fallback is. */
  operators: readonly Destination[];
  fallback: readonly Destination[];
  /** Of records whose readers may turn out not to have got it. Default: none. */
  groups?: readonly string[];
  log: Pick<Logger, 'error' | 'info'>;
  now(): number;
}

/** What one part finds, and who hears of that. */
export interface Group {
  /** Of its records, and of the lock under which they change. */
  name: string;
  about: { begun: Announcement; over: Announcement };
  /** Who hears of these where neither operators nor the fallback can. Default: nobody. */
  people?(one: Pick<Announced, 'members'>): Promise<readonly Destination[]>;
  /** It must not be used, as it is what this is about. Default: none. */
  isPartOf?(destination: Destination): boolean;
  /** It follows from something that is announced already, and waits for the end of that. Default: it does not. */
  isHeldBack?(): Promise<boolean>;
}

/** `key`: its first word is what it is about; what is of the same members then is the same announcement. */
export type Beginning<T extends Announced = Announced> = Omit<T, 'about' | 'text' | 'announcedTo' | 'isAnnounced'> & {
  /** How often it begins within an hour is counted for all of its group together. Default: for each member. */
  isOneThing?: boolean;
  words(members: readonly string[]): string;
};

export interface Ending {
  of: readonly Over[];
  words(): string | Promise<string>;
  said: Announced['said'];
}

export interface News {
  begun: readonly Beginning[];
  ended: readonly Ending[];
}

const AT_ONCE = 50;
/** Of more protocols people hear in one message: a flood of them would help nobody. */
const MOST_APART = 100;
const UNHEARD = ', and no channel works that could announce it';

/** The operators; where none of them can be reached, the fallback; then people of the same protocols; else nobody. */
const createReaders =
  ({ store, operators, fallback }: AnnouncerDependencies) =>
  async (group: Group, one: Pick<Announced, 'members' | 'notHeard'>) => {
    // There may be thousands of webhooks, and nobody asks whether they work.
    const people = onceEach(((await group.people?.(one)) ?? []).filter(isHuman));
    const all = [...operators, ...fallback, ...people];
    const isBroken = await brokenAmong(store, all);
    const { notHeard = [] } = one;
    const isWell = (destination: Destination): boolean =>
      !group.isPartOf?.(destination) && !isBroken(destination) && !notHeard.includes(destination.id);
    const working = [operators, fallback, people].map((list) => list.filter(isWell));
    const first = working.findIndex(({ length }) => length > 0);
    return { readers: working[first] ?? [], arePeople: first === 2, isAnybody: all.length > 0 };
  };

/** Who was to get an announcement that died has not heard of it; where nobody has, the next round tells others. */
const createDied =
  ({ store, groups = [] }: AnnouncerDependencies) =>
  async ({ id }: Destination, alerts: readonly Alert[]): Promise<void> => {
    const items = new Set(alerts.filter(isAnnouncement).map(({ itemId }) => itemId));
    for (const group of items.size === 0 ? [] : groups) {
      const wasToHear = (one: Announced): boolean =>
        items.has(announcementItem(one)) && one.announcedTo.some((reader) => reader.id === id);
      for (const one of (await store.list(group)).filter(wasToHear)) {
        await store.update(group, one, (kept) => {
          const announcedTo = kept.announcedTo.filter((reader) => reader.id !== id);
          const notHeard = [...(kept.notHeard ?? []), id];
          return { ...kept, announcedTo, notHeard, isAnnounced: kept.isAnnounced && announcedTo.length > 0 };
        });
      }
    }
  };

export type Announcer = ReturnType<typeof createAnnouncer>;

export const createAnnouncer = (dependencies: AnnouncerDependencies) => {
  const { store, locks, announce, log, now } = dependencies;
  const readersOf = createReaders(dependencies);

  const sayBegun = ({ said, announcedTo }: Announced, announcement: string | undefined, but = ''): void =>
    log.error({ ...said.fields, announcement, announcedTo: labelsOf(announcedTo) }, `${said.text}${but}`);

  /** Who hears of it, chosen once: where a daemon ends after that, another one completes it. Undefined for nobody now. */
  const choose = async (group: Group, one: Announced, isFirst: boolean): Promise<Announced | undefined> => {
    if (one.announcedTo.length > 0) return one;
    const { readers, isAnybody } = await readersOf(group, one);
    if (readers.length > 0) {
      return store.update(group.name, one, (kept) =>
        kept.announcedTo.length > 0 ? kept : { ...kept, announcedTo: readers },
      );
    }
    if (isFirst) sayBegun(one, undefined, isAnybody ? UNHEARD : ', and it is announced to nobody');
    if (isFirst && !isAnybody) await store.update(group.name, one, (kept) => ({ ...kept, isAnnounced: true }));
    return undefined;
  };

  /** Also completes one that was cut short, or that nobody could hear: the same key is the same announcement, sent once. */
  const tell = async (group: Group, one: Announced, isFirst = false): Promise<void> => {
    if (await group.isHeldBack?.()) return;
    const chosen = await choose(group, one, isFirst);
    if (chosen === undefined) return;
    const { about, key, text: message, since, announcedTo } = chosen;
    const announcement = await announce({ about, key, message }, Date.parse(since), announcedTo);
    await store.update(group.name, chosen, (kept) => ({ ...kept, isAnnounced: kept.announcedTo.length > 0 }));
    sayBegun(chosen, announcement);
  };

  /** People of protocols hear of their own one only; others of all at once. */
  const partsOf = async (group: Group, one: Pick<Announced, 'members'>): Promise<string[][]> => {
    const { members } = one;
    if (members.length < 2 || members.length > MOST_APART) return [members];
    return (await readersOf(group, one)).arePeople ? members.map((name) => [name]) : [members];
  };

  /** What began too often is not kept: where it stays, it is found again, and announced when the hour is over. */
  const begin = async (group: Group, { isOneThing, words, ...one }: Beginning): Promise<void> => {
    const subjects = isOneThing ? [''] : one.members;
    const times = await mapInChunks(subjects, AT_ONCE, (name) => store.count(`${group.name}-${contentId(name)}`));
    const isLoud = (index: number): boolean => (times[index] ?? times[0] ?? 0) <= ANNOUNCED_AN_HOUR;
    const loud = one.members.filter((_, index) => isLoud(index));
    const id = `${one.key} ${contentId(...loud).slice(0, 12)}`;
    const kept = { ...one, notedAt: iso(now()), about: group.about.begun, announcedTo: [], isAnnounced: false };
    const last = lastLine(Math.max(0, ...times.filter((n) => n <= ANNOUNCED_AN_HOUR)));
    if (times.includes(ANNOUNCED_AN_HOUR + 1)) sayBegun({ ...kept, text: '' }, undefined, ', and it comes and goes');
    const isNone = one.members.length > 0 ? loud.length === 0 : !isLoud(0);
    for (const members of isNone ? [] : await partsOf(group, { members: loud })) {
      const key = members.length < loud.length ? `${id} ${members.join(' ')}` : id;
      const begun = { ...kept, key, members, text: `${words(members)}${last}` };
      await store.change(group.name, key, () => begun);
      await tell(group, begun, true);
    }
  };

  const left = ({ announced, members }: Over) => announced.members.filter((name) => !members.includes(name));

  /** The end of a whole announcement has its key, that of a part a longer one: see `channels/webhook/formats/event.ts`. */
  const end = async (group: Group, { of, words, said }: Ending): Promise<void> => {
    const [first] = of;
    const ids = of.flatMap(({ announced, members }) => [announced.key, ...members]);
    const isPart = of.length > 1 || of.some((one) => left(one).length > 0);
    const key = `${first?.announced.key}${isPart ? ` ${contentId(...ids)}` : ''}`;
    const readers = onceEach(of.flatMap(({ announced }) => announced.announcedTo));
    const news = { about: group.about.over, key, message: await words() };
    const announcement = readers.length === 0 ? undefined : await announce(news, now(), readers);
    for (const one of of) {
      const members = left(one);
      await store.update(group.name, one.announced, (kept) =>
        members.length === 0 ? undefined : { ...kept, members },
      );
    }
    log.info({ ...said.fields, announcement, announcedTo: labelsOf(readers) }, said.text);
  };

  return {
    ...{ tell, end },
    died: createDied(dependencies),
    /** Says what is found. Where that is nothing it takes no lock. False where another daemon is about to say something. */
    round: async (group: Group, find: (announced: readonly Announced[]) => News | Promise<News>): Promise<boolean> => {
      const look = async () => {
        const announced = await store.list(group.name);
        return { announced, ...(await find(announced)) };
      };
      const before = await look();
      const isQuiet = before.begun.length + before.ended.length === 0;
      if (isQuiet && before.announced.every(({ isAnnounced }) => isAnnounced)) return true;
      const said = await underLock(locks, [`announce:${group.name}`], async () => {
        const { announced, begun, ended } = await look();
        for (const one of announced) if (!one.isAnnounced) await tell(group, one);
        for (const one of ended) await end(group, one);
        for (const one of begun) await begin(group, one);
        return true;
      });
      return said ?? false;
    },
  };
};
