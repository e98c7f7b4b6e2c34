/**
 * One poll: cursor -> pages -> dispatch -> commit. The order of the three writes is the promise:
 * queue first, remember the identities second, move the cursor last. A crash between any two costs a repeat,
 * which identities and ledger absorb, and never an item.
 */
import { type Alert, alertId, type Item, type ItemPage, type Source } from '../alert.ts';
import type { Cursor, Cursors, Track } from './cursor.ts';
import type { HeldLock, PollLock } from './lock.ts';
import type { MirroredCursor } from './mirror.ts';
import type { Identity, Seen } from './seen.ts';
import { createWalk } from './walk.ts';

/** What one request can read: one protocol's inspections, or the notifications of several protocols. */
export interface Stream {
  service: string;
  source: Source;
  protocols: string[];
}

/** Durations in milliseconds. */
export interface PollSettings {
  overlap: number;
  lookback: number;
  sweepEvery: number;
  /** Assessments that make an inspection an alert. */
  assessments: readonly string[];
}

export interface PollerDependencies {
  /** Every page of the stream dated after `since`, each yielded before the next is asked for. Throws `ServiceError`. */
  pages(stream: Stream, since: number, signal: AbortSignal): AsyncIterable<ItemPage>;
  /** The service's own time in epoch milliseconds. */
  clock(service: string): number;
  /** Where a track begins that Redis knows nothing of: never polled, or lost. */
  beginningOf(track: Track): MirroredCursor;
  /** Told of each cursor after a read; not past an alert that is still on its way. */
  onCursor(track: Track, cursor: MirroredCursor): void;
  /** The date of a track's oldest alert that is still on its way, in epoch milliseconds. */
  oldestOpen(track: Track): Promise<number | undefined>;
  cursors: Cursors;
  seen: Seen;
  lock: PollLock;
  /** Resolves when every alert is durably queued. */
  dispatch(alerts: Alert[]): Promise<void>;
  /** Told of every page before it is taken, for counts and for what is malformed. */
  onPage(stream: Stream, page: ItemPage): Promise<void>;
  now(): number;
  settings: PollSettings;
}

export interface PollResult {
  /** `busy`: another daemon polls this stream right now. */
  outcome: 'read' | 'busy';
  items: number;
  alerts: number;
  sweep: boolean;
}

/** What one read wants of one track. */
interface Window {
  track: Track;
  cursor: Cursor;
  /** Items dated at or before this were not asked for, whatever the service gives. */
  since: number;
}

const datesOf = ({ dates }: Item): number[] => Object.values(dates);

const isoOf = (item: Item, fallback: number): string =>
  new Date(item.dates.createdAt ?? item.dates.txTimestamp ?? item.dates.updatedAt ?? fallback).toISOString();

const typeOf = ({ source, assessment }: Item): string =>
  source === 'notifications' ? 'notification.created' : `inspection.${assessment ?? 'unknown'}`;

export const toAlert = (item: Item, service: string, protocol: string, readAt: number): Alert => ({
  id: alertId(service, item.source, item.itemId),
  source: item.source,
  service,
  protocol,
  type: typeOf(item),
  itemId: item.itemId,
  at: isoOf(item, readAt),
  readAt: new Date(readAt).toISOString(),
  ...(item.txHash === undefined ? {} : { txHash: item.txHash }),
  item: item.raw,
  replay: false,
});

/** Whether an item is something to tell people about. */
export const isWanted = (item: Item, assessments: readonly string[]): boolean =>
  item.source === 'notifications' || assessments.includes(item.assessment ?? '');

export const createPoller = (dependencies: PollerDependencies) => {
  const { pages, clock, cursors, seen, lock, dispatch, now, settings } = dependencies;

  const loadCursors = async (tracks: readonly Track[]): Promise<Cursor[]> => {
    const found = await cursors.get(tracks);
    return Promise.all(
      tracks.map(async (track, index): Promise<Cursor> => {
        const cursor = found[index];
        if (cursor) return cursor;
        const beginning = dependencies.beginningOf(track);
        await cursors.begin(track, beginning);
        return beginning;
      }),
    );
  };

  const sinceOf = ({ start, position, sweptTo }: Cursor, sweep: boolean): number => {
    const hot = position - settings.overlap;
    return Math.max(start - settings.lookback, sweep ? Math.min(hot, sweptTo - settings.lookback) : hot);
  };

  /** The latest date decides: it is the one no filter of the service can lie beyond. Undated items are always taken. */
  const isInWindow = (item: Item, { since, cursor }: Window): boolean => {
    const dates = datesOf(item);
    return dates.length === 0 || Math.max(...dates) > Math.max(since, cursor.start);
  };

  const take = async (window: Window, page: readonly Item[]): Promise<number> => {
    const readAt = now();
    const found = new Map<string, { alert: Alert; identity: Identity }>();
    for (const item of page) {
      if (!isWanted(item, settings.assessments) || !isInWindow(item, window)) continue;
      const alert = toAlert(item, window.track.service, window.track.protocol, readAt);
      const latest = Math.max(...datesOf(item), Number.NEGATIVE_INFINITY);
      found.set(alert.id, { alert, identity: { id: alert.id, latest: Number.isFinite(latest) ? latest : readAt } });
    }
    if (found.size === 0) return 0;
    const identities = [...found.values()].map(({ identity }) => identity);
    const fresh = await seen.unknown(window.track, identities);
    if (fresh.length > 0) await dispatch(fresh.flatMap(({ id }) => found.get(id)?.alert ?? []));
    await seen.remember(window.track, identities);
    return fresh.length;
  };

  const advanceAll = (windows: readonly Window[], to: Parameters<Cursors['advance']>[1]) =>
    Promise.all(windows.map(({ track }) => cursors.advance(track, to)));

  const takePage = async (windows: readonly Window[], { items }: ItemPage): Promise<number> => {
    const single = windows.length === 1;
    let alerts = 0;
    for (const window of windows) {
      const own = single ? items : items.filter(({ protocol }) => protocol === window.track.protocol);
      alerts += await take(window, own);
    }
    return alerts;
  };

  /** The copy outside Redis stays behind what is not delivered: with Redis its job would be lost, too. */
  const mirror = async ({ track, cursor }: Window, position: number | undefined, sweptTo: number | undefined) => {
    const oldest = (await dependencies.oldestOpen(track)) ?? Number.POSITIVE_INFINITY;
    dependencies.onCursor(track, {
      start: cursor.start,
      position: Math.min(Math.max(cursor.position, position ?? 0), oldest),
      sweptTo: Math.min(Math.max(cursor.sweptTo, sweptTo ?? 0), oldest),
    });
  };

  const finish = async (windows: readonly Window[], position: number | undefined, sweptTo: number | undefined) => {
    await advanceAll(windows, {
      ...(position === undefined ? {} : { position }),
      ...(sweptTo === undefined ? {} : { sweptTo }),
      polledAt: now(),
    });
    await Promise.all(windows.map((window) => mirror(window, position, sweptTo)));
    const floor = settings.overlap + 2 * settings.lookback;
    await Promise.all(
      windows.map(({ track, cursor }) => seen.forget(track, Math.min(cursor.position, cursor.sweptTo) - floor)),
    );
  };

  const read = async (stream: Stream, tracks: Track[], held: HeldLock, signal: AbortSignal): Promise<PollResult> => {
    const begun = clock(stream.service);
    const loaded = await loadCursors(tracks);
    const sweep = loaded.some(({ sweptTo }) => begun - sweptTo >= settings.sweepEvery);
    const windows = tracks.flatMap((track, index): Window[] => {
      const cursor = loaded[index];
      return cursor ? [{ track, cursor, since: sinceOf(cursor, sweep) }] : [];
    });
    const walk = createWalk(begun, settings.lookback);
    let items = 0;
    let alerts = 0;
    for await (const page of pages(stream, Math.min(...windows.map(({ since }) => since)), signal)) {
      if (!(await held.renew())) throw new Error('the lock of this poll was lost: another daemon goes on from here');
      await dependencies.onPage(stream, page);
      alerts += await takePage(windows, page);
      items += page.items.length;
      const safe = walk.after(page.items);
      if (safe !== undefined) await advanceAll(windows, sweep ? { position: safe, sweptTo: safe } : { position: safe });
    }
    await finish(windows, walk.end(), sweep ? begun : undefined);
    return { outcome: 'read', items, alerts, sweep };
  };

  return {
    /** Reads what is new and queues it. Throws where the service or Redis failed; nothing is lost by that. */
    poll: async (stream: Stream, signal: AbortSignal): Promise<PollResult> => {
      const tracks = stream.protocols.map((protocol) => ({ service: stream.service, source: stream.source, protocol }));
      const held = await lock.take(tracks);
      if (!held) return { outcome: 'busy', items: 0, alerts: 0, sweep: false };
      try {
        return await read(stream, tracks, held, signal);
      } finally {
        await held.release();
      }
    },
  };
};
