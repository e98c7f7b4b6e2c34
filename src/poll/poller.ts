/**
 * One poll: cursor -> pages -> dispatch -> commit. The order of the three writes is the promise:
 * queue first, remember the identities second, move the cursor last. A crash between any two costs a repeat,
 * which identities and ledger absorb, and never an item.
 *
 * A poll begins without a lock, from what this daemon remembers of the stream. The first item that it does not know makes
 * it take the lock of the stream's tracks for that page: what is new is asked of Redis, queued and remembered under it.
 */
import type { Alert } from '../alert.ts';
import type { ItemPage } from '../item.ts';
import type { HeldLock } from '../redis/lock.ts';
import type { Reason } from './catalog.ts';
import type { CommitStore } from './commit-store.ts';
import type { Advance, Cursor, Cursors, PollLock, Track } from './cursor.ts';
import { createIngest, type Distinguish, type IngestSettings } from './ingest.ts';
import { type MirroredCursor, mirroredOf } from './mirror.ts';
import {
  createItemMemory,
  type ItemMemory,
  isUnchanged,
  type KnownStream,
  moveCursor,
  type ReadMemory,
} from './read-memory.ts';
import type { Seen } from './seen.ts';
import { type Stream, tracksOf } from './stream.ts';
import { createProgress, isSweepDue, notAhead, type Window, type WindowSettings, windowOf } from './windows.ts';

export interface ReadPage extends ItemPage {
  /** There is probably no further page; only asking for it can show that. */
  short?: boolean;
  /** Everything dated before this has been read, by any date that the service may filter by. Epoch milliseconds. */
  settledBefore?: number;
}

interface CommitDependencies {
  cursors: Pick<Cursors, 'get' | 'begin' | 'set' | 'setReason'>;
  commits: Pick<CommitStore, 'finish'>;
  /** Why a track is read, and since when by the service's clock. Default: it always was. */
  reasonFor?(track: Track): Promise<Pick<Reason, 'token' | 'since'> | undefined>;
  /** Called when reading begins again after a track was left out: from when to when nothing is read, in epoch milliseconds. */
  onSkipped?(track: Track, from: number, to: number): Promise<void>;
  /** Where a track begins that Redis knows nothing of: never polled, or lost. */
  beginningOf(track: Track): MirroredCursor | Promise<MirroredCursor>;
  /** Called with each cursor after a read; not past an alert that is still on its way. */
  onCursor(track: Track, cursor: MirroredCursor): void;
  settings: Pick<WindowSettings, 'overlap' | 'lookback'>;
}

/** Loads and moves the cursors of one poll, and keeps their copy and the memory of seen items in step. */
export const createCommit = (dependencies: CommitDependencies) => {
  const { cursors, commits, reasonFor, onSkipped, beginningOf, onCursor, settings } = dependencies;
  const floor = settings.overlap + 2 * settings.lookback;

  const begin = async (track: Track, reason: string | undefined): Promise<Cursor> => {
    const beginning = { ...(await beginningOf(track)), ...(reason === undefined ? {} : { reason }) };
    await cursors.begin(track, beginning);
    return { ...beginning, begun: beginning.position };
  };

  /** A cursor that was read for another reason was left out meanwhile: what came then is not owed. */
  const goOn = async (track: Track, cursor: Cursor, reason: Pick<Reason, 'token' | 'since'>): Promise<Cursor> => {
    const at = Math.floor(reason.since);
    if (cursor.reason === undefined || at <= cursor.position) {
      await cursors.setReason(track, reason.token);
      return { ...cursor, reason: reason.token };
    }
    await onSkipped?.(track, cursor.position, at);
    await cursors.set(track, at, reason.token);
    return { start: at, position: at, sweptTo: at, begun: at, reason: reason.token };
  };

  const load = async (track: Track, cursor: Cursor | undefined): Promise<Cursor> => {
    const reason = await reasonFor?.(track);
    if (cursor === undefined) return begin(track, reason?.token);
    return reason === undefined || cursor.reason === reason.token ? cursor : goOn(track, cursor, reason);
  };

  return {
    /** The tracks' cursors in their order; a track that has none begins. */
    load: async (tracks: readonly Track[]): Promise<Cursor[]> => {
      const found = await cursors.get(tracks);
      return Promise.all(tracks.map((track, index) => load(track, found[index])));
    },
    /** When a read has ended; releases the lock. */
    finish: async (lock: HeldLock, windows: readonly Window[], end: Advance): Promise<void> => {
      const ends = windows.map(({ track, cursor }) => ({
        track,
        forgetBefore: Math.min(cursor.position, cursor.sweptTo) - floor,
      }));
      const oldest = await commits.finish(lock, ends, end);
      for (const [index, { track, cursor }] of windows.entries())
        onCursor(track, mirroredOf(moveCursor({ ...cursor }, end), oldest[index]));
    },
  };
};

export interface PollerDependencies extends CommitDependencies {
  /**
   * The stream's pages dated after `since`, each yielded before the next is asked for; `thorough` so that nothing can
   * slip between two of them. Throws `ServiceError`.
   */
  pages(stream: Stream, since: number, signal: AbortSignal, thorough: boolean): AsyncIterable<ReadPage>;
  /** The service's own time in epoch milliseconds, rather too early than too late. */
  clock(service: string): number;
  seen: Seen;
  commits: Pick<CommitStore, 'remember' | 'advance' | 'finish'>;
  lock: PollLock;
  memory: Pick<ReadMemory, 'recall' | 'keep' | 'move' | 'forget'>;
  /** Default: they have it. */
  distinguish?: Distinguish;
  /** Resolves when every alert is durably queued. */
  dispatch(alerts: Alert[]): Promise<void>;
  /** Called for every page as it is ingested, to count items and report malformed ones; without items it had before. */
  onPage(stream: Stream, page: ItemPage): Promise<void>;
  now(): number;
  settings: WindowSettings & IngestSettings;
}

export interface PollResult {
  /** `busy`: another daemon polls this stream right now. `held`: the service is not to be asked now. */
  outcome: 'read' | 'busy' | 'held';
  items: number;
  alerts: number;
  sweep: boolean;
}

const BUSY: PollResult = { outcome: 'busy', items: 0, alerts: 0, sweep: false };

interface Reading {
  stream: Stream;
  tracks: readonly Track[];
  signal: AbortSignal;
  /** Absent while the poll has no lock. */
  held?: HeldLock | undefined;
  /** What this daemon remembers, where the poll began without the lock. */
  known?: KnownStream;
  loaded: readonly Cursor[];
  items: ItemMemory;
}

/** Most pages have nothing on them, and nothing is to be reported, queued or remembered of those. */
const isNothing = ({ items, malformed, foreign = [] }: ReadPage): boolean =>
  items.length + malformed.length + foreign.length === 0;

export const createPoller = (dependencies: PollerDependencies) => {
  const { pages, lock, now, settings, cursors, commits, memory } = dependencies;
  const ingest = createIngest(dependencies);
  const commit = createCommit(dependencies);
  const noItems = createItemMemory(0, settings);

  /** Takes the lock on the way. What Redis has under it decides whether what is remembered is still so: else `changed`. */
  const takeLock = async (reading: Reading): Promise<'locked' | 'changed' | 'busy'> => {
    const held = await lock.take(reading.tracks);
    if (!held) return 'busy';
    reading.held = held;
    const found = await cursors.get(reading.tracks);
    const isSame =
      reading.known?.server === held.server &&
      reading.known.tracks.every((one, index) => isUnchanged(one, found[index]));
    return isSame ? 'locked' : 'changed';
  };

  const end = async (reading: Reading, windows: readonly Window[], to: Advance): Promise<void> => {
    const { stream, held, known, loaded, items } = reading;
    if (held === undefined) return known && memory.move(stream, known, to);
    await commit.finish(held, windows, to);
    memory.keep(stream, { server: held.server, loaded, items }, to);
  };

  const windowsOf = ({ tracks, loaded }: Reading, begun: number) => {
    const present = loaded.map((cursor) => notAhead(cursor, begun));
    const isSweep = present.some((cursor) => isSweepDue(cursor, begun, settings));
    const of = (cursor: Cursor, index: number) => windowOf(tracks[index] as Track, cursor, isSweep, settings);
    return { isSweep, windows: present.map(of) };
  };

  /** Reports and queues what a page has. Gives how many alerts that were, or why it was not taken. */
  const take = async (reading: Reading, windows: readonly Window[], page: ReadPage) => {
    const { stream, items } = reading;
    if (isNothing(page)) return 0;
    const known = items.look(page, windows);
    const isLockOfPage = reading.held === undefined;
    if (isLockOfPage && !known.needsNothing()) {
      const taken = await takeLock(reading);
      if (taken !== 'locked') return taken;
    }
    const reported = dependencies.onPage(stream, { ...page, items: known.unreported });
    // Its alerts do not wait for what is counted and reported; where they fail, the poll fails with their error.
    reported.catch(() => {});
    const undone = { ...page, items: known.undone };
    const fresh = reading.held === undefined ? 0 : await ingest(reading.held, windows, undone, isLockOfPage);
    await reported;
    known.note();
    if (isLockOfPage) {
      await reading.held?.release();
      reading.held = undefined;
    }
    return fresh;
  };

  /** While the read goes on. Without the lock nothing is written before its end. */
  const advance = async (
    { held, tracks }: Reading,
    { settledBefore }: ReadPage,
    { upTo }: Pick<ReturnType<typeof createProgress>, 'upTo'>,
  ): Promise<void> => {
    if (held !== undefined && settledBefore !== undefined) await commits.advance(held, tracks, upTo(settledBefore));
  };

  /** Gives what it found; `changed` where it has to begin again under the lock, which it holds. */
  const read = async (reading: Reading): Promise<PollResult | 'changed'> => {
    const { stream, signal } = reading;
    const clock = (): number => dependencies.clock(stream.service);
    const [ownBegun, begun] = [now(), clock()];
    const { isSweep, windows } = windowsOf(reading, begun);
    const progress = createProgress({ clock, now, begun, ownBegun, isSweep, lookback: settings.lookback });
    const result: PollResult = { outcome: 'read', items: 0, alerts: 0, sweep: isSweep };
    for await (const page of pages(stream, Math.min(...windows.map(({ since }) => since)), signal, isSweep)) {
      const fresh = await take(reading, windows, page);
      if (typeof fresh === 'string') return fresh === 'changed' ? fresh : BUSY;
      progress.count(page.items);
      result.alerts += fresh;
      result.items += page.items.length;
      await advance(reading, page, progress);
      // Nothing new where new items come: the sweep asks whether there is more.
      if (page.short && fresh === 0 && !isSweep) break;
    }
    const sweptAt = isSweep ? progress.begun() : undefined;
    await end(reading, windows, { ...progress.upTo(), sweptAt, polledAt: now() });
    return result;
  };

  const readUnlocked = async (reading: Reading): Promise<PollResult | 'changed'> => {
    const known = memory.recall(reading.stream);
    if (known === undefined) return 'changed';
    Object.assign(reading, { known, loaded: known.tracks.map(({ cursor }) => cursor), items: known.items });
    return read(reading);
  };

  const readLocked = async (reading: Reading): Promise<PollResult> => {
    const { stream, tracks } = reading;
    memory.forget(stream);
    const held = reading.held ?? (await lock.take(tracks));
    if (!held) return BUSY;
    reading.held = held;
    const loaded = await commit.load(tracks);
    const result = await read({ ...reading, loaded, items: createItemMemory(tracks.length, settings) });
    if (result === 'changed') throw new Error('a poll under the lock does not begin again');
    return result;
  };

  return {
    /** Reads what is new and queues it. Throws where the service or Redis failed; nothing is lost by that. */
    poll: async (stream: Stream, signal: AbortSignal): Promise<PollResult> => {
      const reading: Reading = {
        ...{ stream, tracks: tracksOf(stream), signal, loaded: [], items: noItems },
      };
      try {
        const result = await readUnlocked(reading);
        return result === 'changed' ? await readLocked(reading) : result;
      } finally {
        await reading.held?.release();
      }
    },
  };
};
