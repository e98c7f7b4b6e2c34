/**
 * Announces what is wrong: once over all daemons, a few times an hour at most, over channels that work, and its end to
 * those who heard of it. What it is, and in which words, say those who find it.
 */
import type { Logger } from 'pino';
import { type Alert, type Destination, isAnnouncement, isHuman, onceEach } from '../../alert.ts';
import { mapInChunks } from '../../chunks.ts';
import { contentId } from '../../item.ts';
import type { Locks } from '../../redis/lock.ts';
import { type Announce, announcementItem } from '../announcements/announce.ts';
import { type Announced, type AnnouncedStore, brokenAmong, labelsOf, type Over } from './store.ts';

/** Beginnings of one thing that are announced within an hour; after these it is known to come and go. */
export const ANNOUNCED_AN_HOUR = 3;
export const COMES_AND_GOES =
  'It comes and goes: for the rest of the hour its changes are only in the log, not announced.';

interface AnnouncerDependencies {
  store: Pick<AnnouncedStore, 'list' | 'replace' | 'inForce' | 'count'>;
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
  /** Who hears of these where neither operators nor the fallback can. Default: nobody. */
  people?(one: Pick<Announced, 'members'>): Promise<readonly Destination[]>;
  /** It must not be used, as it is what this is about. Default: none. */
  isPartOf?(one: Pick<Announced, 'members'>): (destination: Destination) => boolean;
  /** It follows from something that is announced already, and waits for the end of that. Default: it does not. */
  isHeldBack?(one: Pick<Announced, 'members'>): Promise<boolean>;
}

export type Beginning<T extends Announced = Announced> = Omit<T, 'text' | 'announcedTo' | 'isAnnounced'> & {
  /** Its members, or the whole, as they are counted within an hour. */
  counted: string[];
  /** What began too often is not kept, so that it is found again when the hour is over. Default: it is kept. */
  isLater?: boolean;
  /** `comesAndGoes`: its next beginnings within the hour are not announced. */
  words(members: readonly string[], comesAndGoes: boolean): string;
};

export interface Ending {
  of: readonly Over[];
  about: Announced['about'];
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
    const isPart = group.isPartOf?.(one) ?? (() => false);
    const isBroken = await brokenAmong(store, all);
    const { notHeard = [] } = one;
    const isWell = (destination: Destination): boolean =>
      !isPart(destination) && !isBroken(destination) && !notHeard.includes(destination.id);
    const working = [operators, fallback, people].map((list) => list.filter(isWell));
    const first = working.findIndex(({ length }) => length > 0);
    return { readers: working[first] ?? [], arePeople: first === 2, isAnybody: all.length > 0 };
  };

/** Who was to get an announcement that died has not heard of it; where nobody has, the next round tells others. */
const createDied = ({ store, groups = [] }: AnnouncerDependencies) => {
  const note = async (group: string, one: Announced, id: Destination['id']): Promise<boolean> => {
    const announcedTo = one.announcedTo.filter((reader) => reader.id !== id);
    if (announcedTo.length === one.announcedTo.length) return true;
    const notHeard = [...(one.notHeard ?? []), id];
    const isAnnounced = one.isAnnounced && announcedTo.length > 0;
    return store.replace(group, one, { ...one, announcedTo, notHeard, isAnnounced });
  };

  const died = async (destination: Destination, alerts: readonly Alert[]): Promise<void> => {
    const items = new Set(alerts.filter(isAnnouncement).map(({ itemId }) => itemId));
    for (const group of items.size === 0 ? [] : groups) {
      const all = (await store.list(group)).filter((one) => items.has(announcementItem(one)));
      const noted = await Promise.all(all.map((one) => note(group, one, destination.id)));
      // Another daemon came between.
      if (noted.includes(false)) await died(destination, alerts);
    }
  };
  return died;
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
      const chosen = { ...one, announcedTo: readers };
      return (await store.replace(group.name, one, chosen)) ? chosen : undefined;
    }
    if (isFirst) sayBegun(one, undefined, isAnybody ? UNHEARD : ', and it is announced to nobody');
    if (isFirst && !isAnybody) await store.replace(group.name, one, { ...one, isAnnounced: true });
    return undefined;
  };

  /** Also completes one that was cut short, or that nobody could hear: the same key is the same announcement, sent once. */
  const tell = async (group: Group, one: Announced, isFirst = false): Promise<void> => {
    if (await group.isHeldBack?.(one)) return;
    const chosen = await choose(group, one, isFirst);
    if (chosen === undefined) return;
    const { about, key, text: message, since, announcedTo } = chosen;
    const announcement = await announce({ about, key, message }, Date.parse(since), announcedTo);
    // It may be over meanwhile.
    await store.replace(group.name, chosen, { ...chosen, isAnnounced: true });
    sayBegun(chosen, announcement);
  };

  const keep = async (group: Group, one: Announced): Promise<void> => {
    await store.replace(group.name, undefined, one);
    if (one.isAnnounced) sayBegun(one, undefined);
    else await tell(group, one, true);
  };

  /** People of protocols hear of their own one only; others of all at once. */
  const partsOf = async (group: Group, one: Pick<Announced, 'members'>): Promise<string[][]> => {
    const { members } = one;
    if (members.length < 2 || members.length > MOST_APART) return [members];
    return (await readersOf(group, one)).arePeople ? members.map((name) => [name]) : [members];
  };

  const begin = async (group: Group, { counted, isLater = false, words, ...one }: Beginning): Promise<void> => {
    const times = await mapInChunks(counted, AT_ONCE, store.count);
    const timesOf = (index: number): number => times[index] ?? times[0] ?? 0;
    const isLoud = (index: number): boolean => timesOf(index) <= ANNOUNCED_AN_HOUR;
    const loud = one.members.filter((_, index) => isLoud(index));
    const silent = one.members.filter((_, index) => !isLoud(index));
    const isWhole = one.members.length === 0;
    const comesAndGoes = times.some((n) => n === ANNOUNCED_AN_HOUR);
    const kept = { ...one, announcedTo: [] };
    const hasLoud = loud.length > 0 || (isWhole && isLoud(0));
    for (const members of hasLoud ? await partsOf(group, { ...kept, members: loud }) : []) {
      const key = members.length < loud.length ? `${one.key} ${members.join(' ')}` : one.key;
      await keep(group, { ...kept, key, members, text: words(members, comesAndGoes), isAnnounced: false });
    }
    if (isLater || (silent.length === 0 && !(isWhole && !isLoud(0)))) return;
    const key = `${one.key} silent`;
    await keep(group, { ...kept, key, members: silent, text: words(silent, true), isAnnounced: true });
  };

  const end = async (group: Group, { of, about, words, said }: Ending): Promise<void> => {
    const key = contentId(...of.flatMap(({ announced, members }) => [announced.key, ...members]));
    const readers = onceEach(of.flatMap(({ announced }) => announced.announcedTo));
    const message = await words();
    const announcement = readers.length === 0 ? undefined : await announce({ about, key, message }, now(), readers);
    for (const { announced, members } of of) {
      const left = announced.members.filter((name) => !members.includes(name));
      await store.replace(group.name, announced, left.length === 0 ? undefined : { ...announced, members: left });
    }
    log.info({ ...said.fields, announcement, announcedTo: labelsOf(readers) }, said.text);
  };

  return {
    tell,
    died: createDied(dependencies),
    /** Finds what is new, looks again under the lock, and says it. False where another daemon is about to say something. */
    round: async (group: Group, find: (announced: readonly Announced[]) => News | Promise<News>): Promise<boolean> => {
      const isNews = async (): Promise<boolean> => {
        const announced = await store.list(group.name);
        const { begun, ended } = await find(announced);
        return begun.length + ended.length > 0 || announced.some((one) => !one.isAnnounced);
      };
      if (!(await isNews())) return true;
      const held = await locks.take([`announce:${group.name}`]);
      if (held === undefined) return false;
      try {
        const announced = await store.list(group.name);
        const { begun, ended } = await find(announced);
        for (const one of announced) if (!one.isAnnounced) await tell(group, one);
        for (const one of ended) await end(group, one);
        for (const one of begun) await begin(group, one);
      } finally {
        await held.release();
      }
      return true;
    },
  };
};
