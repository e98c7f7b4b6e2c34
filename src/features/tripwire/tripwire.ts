/** Compares each whole listing with what is remembered of a service's protocols, and has their people hear of changes. */
import type { Logger } from 'pino';
import { type ChannelEntry, type Destination, isHuman } from '../../alert.ts';
import { contentId } from '../../identity.ts';
import type { Locks } from '../../redis/lock.ts';
import type { Listing } from '../../service/listing.ts';
import { inSlices, mapSliced } from '../../slices.ts';
import { iso } from '../../time.ts';
import type { Announce } from '../announcements/announce.ts';
import { brokenAmong } from '../outages/audience.ts';
import type { OutageStore } from '../outages/store.ts';
import { audienceOf, type ChangeRoutes, groupsOf, hasLostPeople, isOnlyHeld } from './audience.ts';
import { type Change, type Comparison, compare, type Remembered } from './changes.ts';
import { differencesOf } from './describe.ts';
import { loudAmong } from './flapping.ts';
import { changesText, type Told } from './message.ts';
import { type WatchedSettings, watchedOf } from './settings.ts';
import type { TripwireStore } from './store.ts';

export interface TripwireDependencies {
  store: Pick<TripwireStore, 'read' | 'remember'>;
  locks: Locks;
  outages: Pick<OutageStore, 'get' | 'count'>;
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

type Answer = Pick<Listing, 'settings' | 'malformed' | 'unfinished'>;

interface ToldChange extends Told {
  change: Change;
  routes: ChangeRoutes;
}

interface Look {
  listed: ReadonlyMap<string, WatchedSettings>;
  unreadable: ReadonlySet<string>;
  /** Of all that. */
  fingerprint: string;
}

/** Changes of one look that are logged one by one. */
const MOST_LOGGED = 20;

const lookOf = async ({ settings, malformed }: Answer): Promise<Look> => {
  const byName = [...Map.groupBy(settings, ({ name }) => name)];
  const listed = new Map(await inSlices(mapSliced(byName, ([name, all]) => [name, watchedOf(all)] as const)));
  const unreadable = new Set(malformed.map(({ name }) => name).filter((name) => !listed.has(name)));
  const texts = await inSlices(mapSliced([...listed], (one) => contentId(JSON.stringify(one))));
  return { listed, unreadable, fingerprint: contentId(...texts.toSorted(), ...[...unreadable].toSorted()) };
};

const asRemembered = (listed: ReadonlyMap<string, WatchedSettings>): Map<string, Remembered> =>
  new Map([...listed].map(([name, settings]) => [name, { settings }]));

/** The same changes since the same version are the same announcement, whichever daemon finds them. */
const keyOf = (service: string, version: string, changes: readonly Change[]): string =>
  `${service} ${version} ${contentId(...changes.map((change) => JSON.stringify(change)).toSorted())}`;

const createNotifier = (dependencies: TripwireDependencies) => {
  const { outages, announce, fallback, destinationsAt, isIncluded, log, now } = dependencies;

  const routesOf = (change: Change): ChangeRoutes => ({
    before: change.kind === 'new' ? [] : destinationsAt(change.protocol, change.before.channels),
    after: change.kind === 'vanished' ? [] : destinationsAt(change.protocol, change.after.channels),
  });

  const toldOf = (change: Change): ToldChange => {
    const { protocol, kind } = change;
    const routes = routesOf(change);
    const isCritical = hasLostPeople(change, routes);
    const isUnreadable = change.kind === 'vanished' && change.isUnreadable === true;
    return { change, routes, protocol, kind, isUnreadable, isCritical, differences: differencesOf(change) };
  };

  const write = (service: string, all: readonly ToldChange[], announced: number): void => {
    for (const { protocol, kind, isCritical, differences } of all.slice(0, MOST_LOGGED)) {
      const facts = { service, protocol, change: kind, isCritical, differences };
      log.warn(facts, 'the settings of a protocol were changed at the service');
    }
    if (all.length === 0) return;
    log.warn({ service, protocols: all.length, announcements: announced }, 'protocols were changed at the service');
  };

  /** Durable when it resolves. */
  const announceAll = async (service: string, version: string, all: readonly ToldChange[]): Promise<number> => {
    const isOpen = await dependencies.isOpen();
    const found = all.filter(
      ({ change, routes }) => isIncluded(change.protocol) && !isOnlyHeld(change, routes, isOpen),
    );
    const news = await loudAmong(service, found, outages);
    const broken = await brokenAmong(outages, [
      ...fallback,
      // There may be thousands of webhooks, and nobody asks whether they work.
      ...news.flatMap(({ routes: { before, after } }) => [...before, ...after].filter(isHuman)),
    ]);
    const isWell = (one: Destination): boolean => !broken(one);
    const groups = groupsOf(
      news.map((change) => ({
        change,
        audience: audienceOf({ ...change.routes, isCritical: change.isCritical, fallback, isOpen, isWell }),
      })),
    );
    for (const { destinations, changes } of groups) {
      const key = keyOf(
        service,
        version,
        changes.map(({ change }) => change),
      );
      await announce({ about: 'protocol.changed', key, message: changesText(service, changes) }, now(), destinations);
    }
    return groups.length;
  };

  return async (service: string, version: string, changes: readonly Change[]): Promise<ToldChange[]> => {
    const all = changes.map(toldOf);
    if (all.length > 0) write(service, all, await announceAll(service, version, all));
    return all;
  };
};

export const createTripwire = (dependencies: TripwireDependencies) => {
  const { store, locks, now } = dependencies;
  const notify = createNotifier(dependencies);
  /** The last listing of each service that this daemon looked at. */
  const last = new Map<string, Look & { isSettled: boolean }>();

  /** Where Redis remembers nothing, as at the first start, the listing itself is; after a loss, what this daemon knows. */
  const rememberedOf = async (service: string, { listed }: Look) => {
    const known = await store.read(service);
    if (known !== undefined) return { ...known, isNew: false };
    return { version: '', protocols: asRemembered(last.get(service)?.listed ?? listed), isNew: true };
  };

  const writesOf = (
    { writes }: Comparison,
    remembered: ReadonlyMap<string, Remembered>,
    isNew: boolean,
  ): Comparison['writes'] => (isNew ? new Map([...remembered, ...writes]) : writes);

  const compareWith = async (service: string, found: Look): Promise<boolean> => {
    const held = await locks.take([`tripwire:${service}`]);
    // Another daemon is about to say it.
    if (held === undefined) return false;
    try {
      const { version, protocols, isNew } = await rememberedOf(service, found);
      const comparison = compare({ remembered: protocols, ...found });
      const all = await notify(service, version, comparison.changes);
      const at = iso(now());
      const seen = new Map(
        all.map(({ protocol, kind, isCritical, differences }) => [protocol, { at, kind, isCritical, differences }]),
      );
      const writes = writesOf(comparison, protocols, isNew);
      if (!isNew && writes.size === 0) return comparison.isSettled;
      return (await store.remember(held, service, { version, writes, seen })) && comparison.isSettled;
    } finally {
      await held.release();
    }
  };

  return {
    /** Of a listing that came in its turn: only those count where a protocol is missing, as there is one at a time. */
    look: async (service: string, answer: Answer): Promise<void> => {
      // What was cut off or did not come has not changed.
      if (answer.unfinished !== undefined) return;
      const found = await lookOf(answer);
      const before = last.get(service);
      if (before?.isSettled && before.fingerprint === found.fingerprint) return;
      const isSettled = await compareWith(service, found);
      if (isSettled || before === undefined) last.set(service, { ...found, isSettled });
      else last.set(service, { ...before, isSettled });
    },
  };
};
