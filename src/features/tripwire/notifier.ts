/** Has the people of protocols that were changed at the service hear of it. */
import type { Logger } from 'pino';
import { type Destination, isHuman, onceEach } from '../../alert.ts';
import { getOrCreate } from '../../bounded-map.ts';
import { mapInChunks } from '../../chunks.ts';
import { type ChannelEntry, contentId } from '../../item.ts';
import type { Announce } from '../announcements/announce.ts';
import { ANNOUNCED_AN_HOUR } from '../conditions/announcer.ts';
import { type AnnouncedStore, brokenAmong } from '../conditions/store.ts';
import type { Change } from './changes.ts';
import { type ChangeWords, changesText, differencesOf, worstFirst } from './message.ts';
import type { WatchedSettings } from './watched.ts';

/** Where alerts of a protocol went and go. */
interface ChangeRoutes {
  before: readonly Destination[];
  after: readonly Destination[];
}

const listsPeople = ({ channels }: WatchedSettings): boolean =>
  channels.some(
    ({ name, contacts = [], url }) => isHuman({ kind: name }) && (contacts.length > 0 || url !== undefined),
  );

/**
 * Somebody read its alerts, and nobody does now; by the service's channels, or by those of them that the config sets up. A
 * person whom the config adds stays.
 */
export const hasLostPeople = (change: Change, { before, after }: ChangeRoutes): boolean =>
  change.kind !== 'vanished' &&
  change.before !== undefined &&
  !after.some(isHuman) &&
  (before.some(isHuman) || (listsPeople(change.before) && !listsPeople(change.after)));

/** One of the people who read its alerts does so no more. */
const losesAReader = ({ before, after }: ChangeRoutes): boolean => {
  const left = new Set(after.map(({ id }) => id));
  return before.some((one) => isHuman(one) && !left.has(one.id));
};

/** Its only news are destinations that wait for approval, which is announced by itself when they get an alert. */
export const isOnlyHeld = (
  change: Change,
  { before, after }: ChangeRoutes,
  isOpen: (destination: Destination) => boolean,
): boolean => {
  if (change.kind !== 'changed' || change.aspects.some((aspect) => aspect !== 'channels')) return false;
  const ids = new Set(before.map(({ id }) => id));
  const added = after.filter(({ id }) => !ids.has(id));
  return added.length > 0 && added.length + before.length === after.length && added.every((one) => !isOpen(one));
};

interface AudienceInput extends ChangeRoutes {
  fallback: readonly Destination[];
  isCritical: boolean;
  /** Nobody had it before. */
  isNew: boolean;
  isOpen(destination: Destination): boolean;
  /** It takes messages now, as far as is known. */
  isWell(destination: Destination): boolean;
}

/**
 * Old and new destinations; with the fallback where it is critical, or where no person among the old ones can be reached:
 * the new ones may be those of who made the change.
 */
export const audienceOf = (input: AudienceInput): readonly Destination[] => {
  const { before, after, fallback, isCritical, isNew, isOpen, isWell } = input;
  const own = [...before, ...after].filter(isOpen);
  const isHeard = (isNew ? after : before).some((one) => isHuman(one) && isOpen(one) && isWell(one));
  const all = isHeard && !isCritical ? own : [...own, ...fallback];
  return onceEach(all);
};

/**
 * Where too many changes at once would each be an announcement: destinations that hear of the same changes share one. None
 * hears of a change that is not for it.
 */
export const groupsOf = <T>(all: readonly { change: T; audience: readonly Destination[] }[]) => {
  const heard = new Map<string, { destination: Destination; indices: number[] }>();
  for (const [index, { audience }] of all.entries()) {
    for (const destination of audience) {
      getOrCreate(heard, destination.id, () => ({ destination, indices: [] })).indices.push(index);
    }
  }
  const groups = Map.groupBy(heard.values(), ({ indices }) => indices.join());
  return [...groups.values()].map((members) => ({
    destinations: members.map(({ destination }) => destination),
    changes: (members[0]?.indices ?? []).flatMap((index) => all[index]?.change ?? []),
  }));
};

/**
 * Who has to hear of changes that take a reader away: people who read all of these protocols before. Who came with one of
 * the changes may be who made it. Undefined where nobody of `destinations` lost anything.
 */
export const readersAmong = (
  destinations: readonly Destination[],
  changes: readonly ChangeRoutes[],
): Destination['id'][] | undefined => {
  const losing = changes.filter(losesAReader).map(({ before }) => new Set(before.map(({ id }) => id)));
  const people = destinations.filter(isHuman);
  if (!people.some(({ id }) => losing.some((before) => before.has(id)))) return undefined;
  return people.flatMap(({ id }) => (losing.every((before) => before.has(id)) ? [id] : []));
};

export interface NotifierDependencies {
  outages: Pick<AnnouncedStore, 'inForce' | 'count'>;
  announce: Announce;
  fallback: readonly Destination[];
  /** Where alerts of a protocol go while the service lists these channels. */
  destinationsAt(protocol: string, channels: readonly ChannelEntry[]): readonly Destination[];
  isOpen(): Promise<(destination: Destination) => boolean>;
  /** By include and exclude. Changes of others are only remembered. */
  isIncluded(protocol: string): boolean;
  log: Pick<Logger, 'warn'>;
  now(): number;
}

interface DescribedChange extends ChangeWords {
  change: Change;
  routes: ChangeRoutes;
}

const createDescribe =
  ({ destinationsAt }: NotifierDependencies) =>
  (change: Change): DescribedChange => {
    const { protocol, kind } = change;
    const routes: ChangeRoutes = {
      before: change.before === undefined ? [] : destinationsAt(protocol, change.before.channels),
      after: change.kind === 'vanished' ? [] : destinationsAt(protocol, change.after.channels),
    };
    const isCritical = hasLostPeople(change, routes);
    const isUnreadable = change.kind === 'vanished' && change.isUnreadable === true;
    const isBack = change.kind === 'new' && change.before !== undefined;
    const words = { isUnreadable, isBack, isCritical, losesReader: losesAReader(routes), since: change.since };
    return { change, routes, protocol, kind, ...words, differences: differencesOf(change) };
  };

/** Each aspect counts by itself: who changes detectors again and again does not hide that he changes the triggers. */
const classesOf = ({ change, isCritical }: DescribedChange): string[] => {
  if (isCritical) return ['critical'];
  return change.kind === 'changed' ? change.aspects : [change.kind];
};

const AT_ONCE = 50;

/**
 * Bounds how often one protocol is announced: what a service lists now so and now otherwise would flood its people. Gives
 * those that are announced, as one of their classes still may be; `comesAndGoes`: the next changes of a class of theirs
 * are not, for the rest of the hour.
 */
const loudAmong = (service: string, all: readonly DescribedChange[], { outages }: NotifierDependencies) =>
  mapInChunks(all, AT_ONCE, async (one): Promise<DescribedChange[]> => {
    const subjects = classesOf(one).map((each) => `tripwire-${contentId(service, one.protocol, each)}`);
    const times = await Promise.all(subjects.map(outages.count));
    const comesAndGoes = times.some((n) => n >= ANNOUNCED_AN_HOUR);
    return times.some((n) => n <= ANNOUNCED_AN_HOUR) ? [{ ...one, comesAndGoes }] : [];
  });

/** Durable when it resolves. Gives how many announcements there are. */
const createSay =
  ({ outages, announce, fallback, now }: NotifierDependencies) =>
  async (
    service: string,
    version: string,
    news: readonly DescribedChange[],
    isOpen: (destination: Destination) => boolean,
  ): Promise<number> => {
    // There may be thousands of webhooks, and nobody asks whether they work.
    const people = news.flatMap(({ routes: { before, after } }) => [...before, ...after].filter(isHuman));
    const broken = await brokenAmong(outages, [...fallback, ...people]);
    const isWell = (one: Destination): boolean => !broken(one);
    const audienceFor = ({ change, routes, isCritical }: DescribedChange) =>
      audienceOf({ ...routes, isCritical, isNew: change.before === undefined, fallback, isOpen, isWell });
    const groups = groupsOf(news.map((change) => ({ change, audience: audienceFor(change) })));
    for (const { destinations, changes } of groups) {
      // The same changes since the same version are the same announcement, found by any daemon.
      const key = `${service} ${version} ${contentId(...changes.map(({ change }) => JSON.stringify(change)).toSorted())}`;
      const readers = readersAmong(
        destinations,
        changes.map(({ routes }) => routes),
      );
      const message = changesText(service, changes);
      await announce({ about: 'protocol.changed', key, message, readers }, now(), destinations);
    }
    return groups.length;
  };

/** Changes of one look that are logged one by one. */
const MOST_LOGGED = 20;

/** Both functions are durable when they resolve; they reject where Redis fails, and may then be called again. */
export const createNotifier = (dependencies: NotifierDependencies) => {
  const { isIncluded, log } = dependencies;
  const describe = createDescribe(dependencies);
  const say = createSay(dependencies);

  /** `found`: those that are for somebody. */
  const look = async (changes: readonly Change[]) => {
    const all = worstFirst(changes.map(describe));
    const isOpen = await dependencies.isOpen();
    const isForSomebody = ({ change, routes }: DescribedChange): boolean =>
      isIncluded(change.protocol) && !isOnlyHeld(change, routes, isOpen);
    return { all, found: all.filter(isForSomebody), isOpen };
  };

  return {
    /** `isHeard`: it was announced, or is for nobody; else it came and went too often. */
    changed: async (service: string, version: string, changes: readonly Change[]) => {
      if (changes.length === 0) return [];
      const { all, found, isOpen } = await look(changes);
      const news = (await loudAmong(service, found, dependencies)).flat();
      const announcements = await say(service, version, news, isOpen);
      for (const { protocol, kind, isCritical, differences } of all.slice(0, MOST_LOGGED)) {
        const facts = { service, protocol, change: kind, isCritical, differences };
        log.warn(facts, 'the settings of a protocol were changed at the service');
      }
      log.warn({ service, protocols: all.length, announcements }, 'protocols were changed at the service');
      const loud = new Set(news.map(({ change }) => change));
      const unheard = new Set(found.map(({ change }) => change).filter((change) => !loud.has(change)));
      return all.map((one) => ({ ...one, isHeard: !unheard.has(one.change) }));
    },
    /** What came and went, in sum, now that it does so no more. */
    stayed: async (service: string, version: string, changes: readonly Change[]): Promise<void> => {
      if (changes.length === 0) return;
      const { found, isOpen } = await look(changes);
      const all = found.map((one) => ({ ...one, hasStayed: true }));
      const announcements = await say(service, version, all, isOpen);
      const what = 'protocols that were changed too often to be announced have stayed as they are';
      log.warn({ service, protocols: all.length, announcements }, what);
    },
  };
};
