/** From items to alerts that are queued: what is wanted, what is new, what is old; in a poll, and outside of one. */
import type { Alert } from '../alert.ts';
import { alertId, type Item, type ItemPage, latestDate } from '../item.ts';
import type { HeldLock } from '../redis/lock.ts';
import { plainName } from '../text.ts';
import { iso } from '../time.ts';
import type { CommitStore } from './commit-store.ts';
import type { Cursor, Cursors, PollLock, Track } from './cursor.ts';
import { type Identity, identityOf, type Seen } from './seen.ts';
import type { Window } from './windows.ts';

export interface IngestSettings {
  /** Assessments that make an inspection an alert. */
  assessments: readonly string[];
  /** Milliseconds that an item may be late. */
  lookback: number;
}

/** The same alerts, each with the id that is its own. */
export type Distinguish = (alerts: readonly Alert[]) => Promise<Alert[]>;

interface IngestDependencies {
  seen: Seen;
  commits: Pick<CommitStore, 'remember'>;
  /** Default: they have it. */
  distinguish?: Distinguish;
  /** Resolves when every alert is durably queued. */
  dispatch(alerts: Alert[]): Promise<void>;
  now(): number;
  settings: IngestSettings;
}

export const toAlert = (item: Item, service: string, protocol: string, readAt: number): Alert => {
  const { source, itemId, assessment = 'unknown', txHash, dates, raw } = item;
  return {
    id: alertId(service, source, itemId),
    ...{ source, service, protocol },
    type: source === 'notifications' ? 'notification.created' : `inspection.${assessment}`,
    itemId,
    at: iso(dates.createdAt ?? dates.txTimestamp ?? dates.updatedAt ?? readAt),
    readAt: iso(readAt),
    ...(txHash === undefined ? {} : { txHash }),
    item: raw,
    replay: false,
  };
};

export const isWanted = (item: Item, assessments: readonly string[]): boolean =>
  item.source === 'notifications' || assessments.includes(item.assessment ?? '');

/**
 * A track's own items. Stored notifications of others may come along, where the service ignores the names it is
 * asked for; they must not be forwarded for this protocol. The feed has left out such inspections.
 */
export const ownItems = (items: readonly Item[], { source, protocol }: Track): readonly Item[] =>
  source === 'inspections' ? items : items.filter((item) => plainName(item.protocol) === plainName(protocol));

/** The latest moment an item's dates can mean: one in whole seconds may have lost its milliseconds. */
const latestOf = ({ dates }: Item): number | undefined => {
  const latest = latestDate(dates);
  if (latest === 0) return undefined;
  return latest % 1000 === 0 ? latest + 999 : latest;
};

/** The latest date decides: the one that the service filters by is not after it. Undated items always count. */
const isInWindow = (item: Item, { since, cursor }: Window, lookback: number): boolean => {
  const latest = latestOf(item);
  return latest === undefined || latest > Math.max(since, cursor.start - lookback);
};

/**
 * `unwanted`: it is no alert here. `outside`: these windows do not want it, a wider one may. `settled`: once it was ingested
 * nothing more is to be done. `open`: it has to be looked up each time.
 */
type Standing = 'unwanted' | 'outside' | 'settled' | 'open';

export const standingOf = (item: Item, windows: readonly Window[], settings: IngestSettings): Standing => {
  const { assessments, lookback } = settings;
  if (!isWanted(item, assessments)) return 'unwanted';
  const own = windows.filter(({ track }) => ownItems([item], track).length > 0);
  if (own.length === 0) return 'unwanted';
  if (!own.some((window) => isInWindow(item, window, lookback))) return 'outside';
  // Without a date it is remembered for as long as it is read.
  const isSettled = latestOf(item) !== undefined && own.every((window) => isInWindow(item, window, lookback));
  return isSettled ? 'settled' : 'open';
};

const asTheyAre: Distinguish = async (alerts) => [...alerts];

export const createIngest = (dependencies: IngestDependencies) => {
  const { seen, commits, distinguish = asTheyAre, dispatch, now, settings } = dependencies;
  const { assessments, lookback } = settings;
  /**
   * An item dated before the start is history where the first read finds it. One that shows up afterwards was written
   * late.
   */
  const isPast = (item: Item, { start, polledAt }: Cursor): boolean =>
    polledAt === undefined && (latestOf(item) ?? Number.POSITIVE_INFINITY) <= start;

  const takeItems = async (
    lock: HeldLock,
    window: Window,
    items: readonly Item[],
    releases: boolean,
  ): Promise<number> => {
    const readAt = now();
    const found = new Map<string, { alert: Alert; identity: Identity; past: boolean }>();
    for (const item of items) {
      if (!isWanted(item, assessments) || !isInWindow(item, window, lookback)) continue;
      const alert = toAlert(item, window.track.service, window.track.protocol, readAt);
      const identity = identityOf(alert, latestOf(item) ?? readAt, alert.id);
      found.set(identity.id, { alert, identity, past: isPast(item, window.cursor) });
    }
    if (found.size === 0) return 0;
    const identities = [...found.values()].map(({ identity }) => identity);
    const { unknown, later } = await seen.compare(window.track, identities);
    const fresh = unknown.flatMap(({ id }) => found.get(id) ?? []).filter(({ past }) => !past);
    if (fresh.length > 0) {
      if (!(await lock.isHeld())) throw new Error('the lock of this poll was lost: another daemon goes on from here');
      await dispatch(await distinguish(fresh.map(({ alert }) => alert)));
    }
    // Mostly none: what the overlap brings again is remembered.
    await commits.remember(lock, window.track, [...unknown, ...later], releases);
    return fresh.length;
  };

  /**
   * Queues what is new on a page and remembers it, in that order. Gives how many that were. `releases`: the lock goes with the
   * last write, if there is one.
   */
  return async (lock: HeldLock, windows: readonly Window[], { items }: ItemPage, releases = false): Promise<number> => {
    const some = windows
      .map((window) => ({ window, own: ownItems(items, window.track) }))
      .filter(({ own }) => own.length > 0);
    let alerts = 0;
    for (const [index, { window, own }] of some.entries()) {
      alerts += await takeItems(lock, window, own, releases && index === some.length - 1);
    }
    return alerts;
  };
};

interface LateItemsDependencies extends Pick<IngestDependencies, 'commits' | 'distinguish' | 'dispatch' | 'now'> {
  cursors: Pick<Cursors, 'get'>;
  lock: PollLock;
}

/** Those of the alerts that were not queued yet. Asked under the lock, so that no poll queues them meanwhile. */
export type Unknown = (track: Track, alerts: readonly Alert[]) => Promise<Alert[]>;

/** Ingests items that were found outside of a poll, as a poll would: queue first, remember second, under the same lock. */
export const createLateItems = ({
  cursors,
  commits,
  lock,
  distinguish = asTheyAre,
  dispatch,
  now,
}: LateItemsDependencies) => ({
  /** Gives the alerts that were queued; undefined where a poll reads the track just now: try again. */
  ingest: async (track: Track, items: readonly Item[], unknown: Unknown): Promise<Alert[] | undefined> => {
    const held = await lock.take([track]);
    if (!held) return undefined;
    try {
      const [cursor] = await cursors.get([track]);
      if (!cursor) return [];
      const readAt = now();
      // Items that were written before the track began are history, which is not forwarded.
      const news = items.filter((item) => (latestOf(item) ?? cursor.start) > cursor.start);
      const alerts = await distinguish(news.map((item) => toAlert(item, track.service, track.protocol, readAt)));
      const latest = new Map(alerts.map(({ id }, index) => [id, latestOf(news[index] as Item) ?? readAt]));
      const fresh = await unknown(track, alerts);
      if (fresh.length === 0) return [];
      await dispatch(fresh);
      const identities = fresh.map((alert) => identityOf(alert, latest.get(alert.id) ?? readAt));
      await commits.remember(held, track, identities);
      return fresh;
    } finally {
      await held.release();
    }
  },
});

export type LateItems = ReturnType<typeof createLateItems>;
