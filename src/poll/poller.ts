/**
 * One poll: cursor -> pages -> dispatch -> commit. The order of the three writes is the promise:
 * queue first, remember the identities second, move the cursor last. A crash between any two costs a repeat,
 * which identities and ledger absorb, and never an item.
 *
 * A poll begins quietly, from what this daemon remembers of the stream. The first item that it does not know makes it
 * take the lock of the stream's tracks; from there on all is asked of Redis.
 */

import type { Alert } from '../alert.ts';
import type { ItemPage } from '../item.ts';
import type { HeldLock } from '../redis/lock.ts';
import type { Advance, CommitStore } from './commit-store.ts';
import type { Cursor, Cursors, PollLock, Track } from './cursor.ts';
import { createIngest, type IngestSettings, standingOf } from './ingest.ts';
import { type MirroredCursor, mirroredOf } from './mirror.ts';
import {
  createItemMemory,
  type ItemMemory,
  isUnchanged,
  type KnownStream,
  type ReadEnd,
  type ReadMemory,
} from './read-memory.ts';
import type { Seen } from './seen.ts';
import { type Stream, tracksOf } from './stream.ts';
import {
  createProgress,
  isSweepDue,
  notAhead,
  type Progress,
  type Window,
  type WindowSettings,
  windowOf,
} from './windows.ts';

// How a page meets what is remembered of its items. Pure but for that memory.

const createRecollection = (settings: IngestSettings) => ({
  /** Those that were not told before. */
  untold: ({ items }: ItemPage, memory: ItemMemory): ItemPage['items'] =>
    items.filter((item) => memory.stateOf(item) === undefined),
  /** Nothing on the page is to be queued. */
  isQuiet: ({ items }: ItemPage, windows: readonly Window[], memory: ItemMemory): boolean =>
    items.every(
      (item) =>
        memory.stateOf(item) === 'done' || ['unwanted', 'outside'].includes(standingOf(item, windows, settings)),
    ),
  /** The page was read, told and, where that was to be done, queued. */
  note: ({ items }: ItemPage, windows: readonly Window[], memory: ItemMemory): void => {
    for (const item of items) {
      if (memory.stateOf(item) === 'done') continue;
      const standing = standingOf(item, windows, settings);
      memory.note(item, standing === 'unwanted' || standing === 'settled' ? 'done' : 'told');
    }
  },
});

// Loads and moves the cursors of one poll, and keeps their copy and the memory of seen items in step.

interface CommitDependencies {
  cursors: Pick<Cursors, 'get' | 'begin'>;
  commits: Pick<CommitStore, 'advance' | 'finish'>;
  /** Where a track begins that Redis knows nothing of: never polled, or lost. */
  beginningOf(track: Track): MirroredCursor | Promise<MirroredCursor>;
  /** Called with each cursor after a read; not past an alert that is still on its way. */
  onCursor(track: Track, cursor: MirroredCursor): void;
  /** Durations in milliseconds. */
  settings: { overlap: number; lookback: number };
}

export const createCommit = ({ cursors, commits, onCursor, ...dependencies }: CommitDependencies) => {
  const { overlap, lookback } = dependencies.settings;

  const begin = async (track: Track): Promise<Cursor> => {
    const beginning = await dependencies.beginningOf(track);
    await cursors.begin(track, beginning);
    return { ...beginning, begun: beginning.position };
  };

  const mirror = (
    { track, cursor }: Window,
    { position = 0, sweptTo = 0 }: Progress,
    oldest: number | undefined,
  ): void => {
    const moved = {
      start: cursor.start,
      position: Math.max(cursor.position, position),
      sweptTo: Math.max(cursor.sweptTo, sweptTo),
    };
    onCursor(track, mirroredOf(moved, oldest));
  };

  return {
    /** The tracks' cursors in their order; a track that has none begins. */
    load: async (tracks: readonly Track[]): Promise<{ track: Track; cursor: Cursor }[]> => {
      const found = await cursors.get(tracks);
      return Promise.all(tracks.map(async (track, index) => ({ track, cursor: found[index] ?? (await begin(track)) })));
    },
    /** While the read goes on. */
    advance: (lock: HeldLock, windows: readonly Window[], to: Advance): Promise<void> =>
      commits.advance(
        lock,
        windows.map(({ track }) => track),
        to,
      ),
    /** When it has ended; releases the lock. */
    finish: async (lock: HeldLock, windows: readonly Window[], end: Advance): Promise<void> => {
      const floor = overlap + 2 * lookback;
      const ends = windows.map(({ track, cursor }) => ({
        track,
        forgetBefore: Math.min(cursor.position, cursor.sweptTo) - floor,
      }));
      const oldest = await commits.finish(lock, ends, end);
      for (const [index, window] of windows.entries()) mirror(window, end, oldest[index]);
    },
  };
};

/** A page as it is read. */
export interface ReadPage extends ItemPage {
  /** There is probably no further page; only asking for it can show that. */
  short?: boolean;
  /** Everything dated before this has been read, by whichever date the service filters by. Epoch milliseconds. */
  settledBefore?: number;
}

export interface PollSettings extends WindowSettings {
  /** Assessments that make an inspection an alert. */
  assessments: readonly string[];
}

export interface PollerDependencies extends Omit<CommitDependencies, 'commits' | 'settings'> {
  /**
   * The stream's pages dated after `since`, each yielded before the next is asked for; `thorough` so that nothing can
   * slip between two of them. Throws `ServiceError`.
   */
  pages(stream: Stream, since: number, signal: AbortSignal, thorough: boolean): AsyncIterable<ReadPage>;
  /** The service's own time in epoch milliseconds, rather too early than too late. */
  clock(service: string): number;
  seen: Seen;
  commits: CommitStore;
  lock: PollLock;
  /** Default: every poll asks Redis. */
  memory?: Pick<ReadMemory, 'recall' | 'keep' | 'move' | 'forget'>;
  /** Resolves when every alert is durably queued. */
  dispatch(alerts: Alert[]): Promise<void>;
  /** Called for every page as it is ingested, to count items and report malformed ones; without items it had before. */
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

const NOT_READ = { items: 0, alerts: 0, sweep: false };

/** What a poll goes by, and what it finds. */
interface Reading {
  stream: Stream;
  tracks: readonly Track[];
  signal: AbortSignal;
  /** Absent while the poll is quiet. */
  held?: HeldLock;
  /** What this daemon remembers, where the poll began quietly. */
  known?: KnownStream;
  /** The cursors as Redis had them when the poll turned. Quiet polls may have moved what is remembered on from there. */
  stored?: readonly (Cursor | undefined)[];
  /** The tracks' cursors. */
  loaded: readonly Cursor[];
  items: ItemMemory;
}

/** Where the stream stands. Then the poll is quiet no more, or begins again with what Redis has. */
type Turned = 'loud' | 'changed' | 'busy';

/** Most pages have nothing on them, and nothing is to be told, queued or remembered of those. */
const isNothing = ({ items, malformed, foreign = [] }: ReadPage): boolean =>
  items.length + malformed.length + foreign.length === 0;

const windowBehind = (window: Window, { position, sweptTo }: Cursor = window.cursor): Window => ({
  ...window,
  cursor: {
    ...window.cursor,
    position: Math.min(window.cursor.position, position),
    sweptTo: Math.min(window.cursor.sweptTo, sweptTo),
  },
});

const NO_MEMORY: NonNullable<PollerDependencies['memory']> = {
  recall: () => undefined,
  keep: () => {},
  move: () => {},
  forget: () => {},
};

export const createPoller = (dependencies: PollerDependencies) => {
  const { pages, lock, now, settings, cursors, memory = NO_MEMORY } = dependencies;
  const ingest = createIngest({ ...dependencies, assessments: settings.assessments, lookback: settings.lookback });
  const commit = createCommit(dependencies);
  const recollection = createRecollection(settings);

  /** A quiet poll takes the lock. What it was told under it decides whether what is remembered is still so. */
  const turn = async (reading: Reading): Promise<Turned> => {
    const held = await lock.take(reading.tracks);
    if (!held) return 'busy';
    reading.held = held;
    const found = await cursors.get(reading.tracks);
    reading.stored = found;
    const isSame =
      reading.known?.server === held.server &&
      reading.known.tracks.every((one, index) => isUnchanged(one, found[index]));
    return isSame ? 'loud' : 'changed';
  };

  const end = async (reading: Reading, windows: readonly Window[], to: ReadEnd): Promise<void> => {
    const { stream, held, known, loaded, stored, items } = reading;
    if (held === undefined) return known && memory.move(stream, known, to);
    // Whoever reads next begins where Redis is, and must find remembered what that brings.
    const behind = stored === undefined ? windows : windows.map((one, index) => windowBehind(one, stored[index]));
    await commit.finish(held, behind, to);
    memory.keep(stream, { server: held.server, loaded, items }, to);
  };

  const windowsOf = ({ tracks, loaded }: Reading, begun: number) => {
    const present = loaded.map((cursor) => notAhead(cursor, begun));
    const isSweep = present.some((cursor) => isSweepDue(cursor, begun, settings));
    const of = (cursor: Cursor, index: number) => windowOf(tracks[index] as Track, cursor, isSweep, settings);
    return { isSweep, windows: present.map(of) };
  };

  /** Tells and queues what a page has. Gives how many alerts that were, or why it was not taken. */
  const take = async (reading: Reading, windows: readonly Window[], page: ReadPage) => {
    const { stream, items } = reading;
    if (isNothing(page)) return 0;
    if (reading.held === undefined && !recollection.isQuiet(page, windows, items)) {
      const turned = await turn(reading);
      if (turned !== 'loud') return turned;
    }
    const reported = dependencies.onPage(stream, { ...page, items: recollection.untold(page, items) });
    // Its alerts do not wait for what is counted and reported; where they fail, the poll fails with their error.
    reported.catch(() => {});
    const fresh = reading.held === undefined ? 0 : await ingest(reading.held, windows, page);
    await reported;
    recollection.note(page, windows, items);
    return fresh;
  };

  /** While the read goes on. Of a quiet one nothing is written before its end. */
  const advance = async (
    { held }: Reading,
    windows: readonly Window[],
    { upTo }: Pick<ReturnType<typeof createProgress>, 'upTo'>,
    { settledBefore }: ReadPage,
  ): Promise<void> => {
    if (held !== undefined && settledBefore !== undefined) await commit.advance(held, windows, upTo(settledBefore));
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
      if (typeof fresh === 'string') return fresh === 'changed' ? fresh : { ...NOT_READ, outcome: fresh };
      progress.count(page.items);
      result.alerts += fresh;
      result.items += page.items.length;
      await advance(reading, windows, progress, page);
      // Nothing new where new items come: the sweep asks whether there is more.
      if (page.short && fresh === 0 && !isSweep) break;
    }
    const sweptAt = isSweep ? progress.begun() : undefined;
    await end(reading, windows, { ...progress.upTo(), sweptAt, polledAt: now() });
    return result;
  };

  const readQuietly = async (reading: Reading): Promise<PollResult | 'changed'> => {
    const known = memory.recall(reading.stream);
    if (known === undefined) return 'changed';
    Object.assign(reading, { known, loaded: known.tracks.map(({ cursor }) => cursor), items: known.items });
    return read(reading);
  };

  const readLocked = async (reading: Reading): Promise<PollResult> => {
    const { stream, tracks } = reading;
    memory.forget(stream);
    const held = reading.held ?? (await lock.take(tracks));
    if (!held) return { outcome: 'busy', ...NOT_READ };
    reading.held = held;
    const loaded = (await commit.load(tracks)).map(({ cursor }) => cursor);
    const result = await read({ ...reading, loaded, items: createItemMemory(tracks.length) });
    if (result === 'changed') throw new Error('a poll under the lock does not turn');
    return result;
  };

  return {
    /** Reads what is new and queues it. Throws where the service or Redis failed; nothing is lost by that. */
    poll: async (stream: Stream, signal: AbortSignal): Promise<PollResult> => {
      const reading: Reading = { stream, tracks: tracksOf(stream), signal, loaded: [], items: createItemMemory(0) };
      try {
        const result = await readQuietly(reading);
        return result === 'changed' ? await readLocked(reading) : result;
      } finally {
        await reading.held?.release();
      }
    },
  };
};
