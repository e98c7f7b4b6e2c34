/**
 * One poll: cursor -> pages -> dispatch -> commit. The order of the three writes is the promise:
 * queue first, remember the identities second, move the cursor last. A crash between any two costs a repeat,
 * which identities and ledger absorb, and never an item.
 */
import type { Alert, ItemPage, Source } from '../alert.ts';
import type { HeldLock } from '../redis/lock.ts';
import type { Cursor, Cursors, Track } from './cursor.ts';
import { createIngest, type Window } from './ingest.ts';
import type { PollLock } from './lock.ts';
import type { MirroredCursor } from './mirror.ts';
import type { Seen } from './seen.ts';
import { createWatermark } from './watermark.ts';

/** What one request can read: one protocol's inspections, or the notifications of several protocols. */
export interface Stream {
  service: string;
  source: Source;
  protocols: string[];
}

/** A page as it is read. */
export interface ReadPage extends ItemPage {
  /** There is probably no further page; only asking for it can tell. */
  short?: boolean;
  /** Everything dated before this has been read, by whichever date the service filters by. Epoch milliseconds. */
  settledBefore?: number;
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
  /**
   * The stream's pages dated after `since`, each yielded before the next is asked for; `thorough` so that nothing can
   * slip between two of them. Throws `ServiceError`.
   */
  pages(stream: Stream, since: number, signal: AbortSignal, thorough: boolean): AsyncIterable<ReadPage>;
  /** The service's own time in epoch milliseconds, rather too early than too late. */
  clock(service: string): number;
  /** Where a track begins that Redis knows nothing of: never polled, or lost. */
  beginningOf(track: Track): MirroredCursor | Promise<MirroredCursor>;
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
  /** `busy`: another daemon polls this stream right now. `held`: the service is not to be asked now. */
  outcome: 'read' | 'busy' | 'held';
  items: number;
  alerts: number;
  sweep: boolean;
}

/** How far a read has come. */
interface Progress {
  position?: number | undefined;
  sweptTo?: number | undefined;
}

/** Just before the second that holds `at`: items whose dates are whole seconds are never cut off from their equals. */
const beforeSecond = (at: number): number => Math.floor(at / 1000) * 1000 - 1;

export const createPoller = (dependencies: PollerDependencies) => {
  const { pages, clock, cursors, seen, lock, now, settings } = dependencies;
  const take = createIngest({ ...dependencies, assessments: settings.assessments, lookback: settings.lookback });

  const loadCursors = async (tracks: readonly Track[]): Promise<Cursor[]> => {
    const found = await cursors.get(tracks);
    return Promise.all(
      tracks.map(async (track, index): Promise<Cursor> => {
        const cursor = found[index];
        if (cursor) return cursor;
        const beginning = await dependencies.beginningOf(track);
        await cursors.begin(track, beginning);
        return beginning;
      }),
    );
  };

  /** The first read is one: it learns what was there before. */
  const isSweepDue = ({ polledAt, sweptAt, sweptTo }: Cursor, begun: number): boolean =>
    polledAt === undefined || begun - (sweptAt ?? sweptTo) >= settings.sweepEvery;

  const sinceOf = ({ start, position, sweptTo }: Cursor, sweep: boolean): number => {
    const hot = position - settings.overlap;
    const since = sweep ? Math.min(hot, sweptTo - settings.lookback) : hot;
    return beforeSecond(Math.max(start - settings.lookback, since));
  };

  const advanceAll = (windows: readonly Window[], to: Progress & { polledAt?: number; sweptAt?: number }) =>
    Promise.all(windows.map(({ track }) => cursors.advance(track, to)));

  /** The copy outside Redis stays behind what is not delivered: with Redis its job would be lost, too. */
  const mirror = async ({ track, cursor }: Window, { position = 0, sweptTo = 0 }: Progress) => {
    const oldest = (await dependencies.oldestOpen(track)) ?? Number.POSITIVE_INFINITY;
    dependencies.onCursor(track, {
      start: cursor.start,
      position: Math.min(Math.max(cursor.position, position), oldest),
      sweptTo: Math.min(Math.max(cursor.sweptTo, sweptTo), oldest),
    });
  };

  const finish = async (windows: readonly Window[], progress: Progress, sweptAt: number | undefined) => {
    await advanceAll(windows, { ...progress, polledAt: now(), ...(sweptAt === undefined ? {} : { sweptAt }) });
    await Promise.all(windows.map((window) => mirror(window, progress)));
    const floor = settings.overlap + 2 * settings.lookback;
    await Promise.all(
      windows.map(({ track, cursor }) => seen.forget(track, Math.min(cursor.position, cursor.sweptTo) - floor)),
    );
  };

  const read = async (stream: Stream, tracks: Track[], held: HeldLock, signal: AbortSignal): Promise<PollResult> => {
    const ownBegun = now();
    const guessed = clock(stream.service);
    const loaded = await loadCursors(tracks);
    const sweep = loaded.some((cursor) => isSweepDue(cursor, guessed));
    const windows = tracks.flatMap((track, index): Window[] => {
      const cursor = loaded[index];
      return cursor ? [{ track, cursor, since: sinceOf(cursor, sweep) }] : [];
    });
    const watermark = createWatermark();
    // The answers may have told that the service's clock is behind what we took it for.
    const begun = (): number => Math.min(guessed, clock(stream.service) - (now() - ownBegun));
    /** No date ahead of the service's own clock moves a cursor, or one item from the future would hide what comes before. */
    const progress = (settledBefore?: number): Progress => {
      const position = watermark.upTo(Math.min(settledBefore ?? begun(), begun()));
      if (position === undefined || !sweep) return { position };
      return {
        position,
        sweptTo: settledBefore === undefined ? begun() : Math.min(position + settings.lookback, begun()),
      };
    };
    const result: PollResult = { outcome: 'read', items: 0, alerts: 0, sweep };
    for await (const page of pages(stream, Math.min(...windows.map(({ since }) => since)), signal, sweep)) {
      if (!(await held.renew())) throw new Error('the lock of this poll was lost: another daemon goes on from here');
      await dependencies.onPage(stream, page);
      const fresh = await take(windows, page);
      watermark.take(page.items);
      result.alerts += fresh;
      result.items += page.items.length;
      if (page.settledBefore !== undefined) await advanceAll(windows, progress(page.settledBefore));
      // Nothing new where new things come: the sweep asks whether there is more.
      if (page.short && fresh === 0 && !sweep) break;
    }
    await finish(windows, progress(), sweep ? begun() : undefined);
    return result;
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
