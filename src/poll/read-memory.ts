/**
 * What this daemon knows of the tracks that it polls: their cursors, and the items that need nothing more. With it a poll
 * that finds nothing new asks Redis nothing. It is only ever a copy of what was done under a track's lock. Where it is
 * lost, or wrong, a poll asks Redis again.
 */

import { chunksOf } from '../chunks.ts';
import type { Item } from '../item.ts';
import type { QuietAnswer, QuietCommits } from './commit-store.ts';
import type { Cursor, Track } from './cursor.ts';
import { type MirroredCursor, mirroredOf } from './mirror.ts';
import { type Stream, streamKey, tracksOf } from './stream.ts';
import type { Progress } from './windows.ts';

// Which items of a stream need nothing more, as this daemon saw them done: a read that brings only those is quiet.
// An item whose assessment or date has changed is another one.

/** Of one track; of what is beyond it Redis is asked at each read. About 100 bytes each, in two generations. */
const MOST_REMEMBERED = 100;

/** `told`: it was counted and reported. `done`: besides, it is queued, or not wanted. */
export type ItemState = 'told' | 'done';

const keyOf = ({ itemId, assessment = '', dates }: Item): string =>
  `${itemId} ${assessment} ${Math.max(...Object.values(dates))}`;

export interface ItemMemory {
  stateOf(item: Item): ItemState | undefined;
  note(item: Item, state: ItemState): void;
  /** A sweep has ended, which reads everything that can still come: what it did not bring is forgotten with the next. */
  swept(): void;
}

export const createItemMemory = (tracks: number): ItemMemory => {
  const most = MOST_REMEMBERED * tracks;
  let young = new Map<string, ItemState>();
  let old = young;
  const set = (key: string, state: ItemState): void => {
    if (young.size < most || young.has(key)) young.set(key, state);
  };
  return {
    stateOf: (item) => {
      if (young.size + old.size === 0) return undefined;
      const key = keyOf(item);
      const state = young.get(key) ?? old.get(key);
      if (state !== undefined && !young.has(key)) set(key, state);
      return state;
    },
    note: (item, state) => set(keyOf(item), state),
    swept: () => {
      old = young;
      young = new Map();
    },
  };
};

export interface KnownTrack {
  track: Track;
  /** As the polls since have moved it. */
  cursor: Cursor;
  /** Its position as it is in Redis. */
  stored: number;
  /** Swept since Redis has last had it. */
  isSwept: boolean;
}

export interface KnownStream {
  /** The run id of the Redis that all of it is known from. */
  server: string;
  tracks: readonly KnownTrack[];
  items: ItemMemory;
}

/** How far one poll has read. `sweptAt`: when it began, if it was a sweep. */
export interface ReadEnd extends Progress {
  polledAt: number;
  sweptAt: number | undefined;
}

export interface ReadMemory {
  /** Undefined where the stream has to be read under its lock. */
  recall(stream: Stream): KnownStream | undefined;
  /**
   * A poll under the lock has ended at Redis `server`. `loaded`: the cursors before it, in the order of the tracks. Nothing
   * is kept of a Redis that does not say which it is: its polls all take the lock.
   */
  keep(stream: Stream, read: { server: string; loaded: readonly Cursor[]; items: ItemMemory }, end: ReadEnd): void;
  /** A quiet poll has ended, that went by `known`. Nothing is moved where something else is known by now. */
  move(stream: Stream, known: KnownStream, end: ReadEnd): void;
  forget(stream: Stream): void;
  /** Forgets all streams but these, by their keys. */
  retain(keys: ReadonlySet<string>): void;
  /** Writes what the quiet polls have moved. */
  commit(): Promise<void>;
}

export interface ReadMemoryDependencies {
  commits: QuietCommits;
  /** Called with each cursor that was committed; not past an alert that is still on its way. */
  onCursor(track: Track, cursor: MirroredCursor): void;
  /** Called where a cursor turned out to be another one, as after an operator set it: to be read soon. */
  onChanged(stream: Stream): void;
  /** Milliseconds by a clock that nobody sets. */
  monotonic(): number;
  /** Durations in milliseconds. */
  settings: { overlap: number; lookback: number };
}

/** Tracks in one script: a few milliseconds of Redis. */
const COMMITTED_AT_ONCE = 200;
/** Nothing is judged by memory while Redis has not taken the cursors for so long: it may be another one by now. */
const LONGEST_UNCOMMITTED_MS = 10_000;

const grown = (value: number, to: number | undefined): number => Math.max(value, Math.floor(to ?? value));

/** In place: one that was made anew at each poll would outlive the young generation each time. */
const move = (cursor: Cursor, { position, sweptTo, sweptAt, polledAt }: ReadEnd): void => {
  cursor.position = grown(cursor.position, position);
  cursor.sweptTo = grown(cursor.sweptTo, sweptTo);
  if (sweptAt !== undefined) cursor.sweptAt = grown(cursor.sweptAt ?? 0, sweptAt);
  cursor.polledAt = grown(cursor.polledAt ?? 0, polledAt);
};

const movedBy = (before: Cursor, end: ReadEnd): Cursor => {
  const cursor = { ...before };
  move(cursor, end);
  return cursor;
};

/** Where the cursor is not what was known of it, it is not the one that polls have moved since. */
export const isUnchanged = ({ cursor: { begun }, stored }: KnownTrack, found: Cursor | undefined): boolean =>
  found !== undefined && found.begun === begun && found.position === stored;

interface Entry {
  stream: Stream;
  of: KnownStream;
}

/** A track with its cursor as it is being written. */
interface Writing extends Entry {
  one: KnownTrack;
  cursor: Cursor;
}

export const createReadMemory = (dependencies: ReadMemoryDependencies): ReadMemory => {
  const { commits, onCursor, onChanged, monotonic, settings } = dependencies;
  const floor = settings.overlap + 2 * settings.lookback;
  const known = new Map<string, Entry>();
  /** Those that quiet polls have moved. */
  const moved = new Set<Entry>();
  let server = '';
  let movedSince: number | undefined;

  const forget = (stream: Stream): void => {
    const entry = known.get(streamKey(stream));
    if (entry) moved.delete(entry);
    known.delete(streamKey(stream));
  };

  const forgetAll = (): void => {
    known.clear();
    moved.clear();
  };

  /** What is moved from now on is written next time. */
  const takeMoved = (): Writing[] => {
    const all = [...moved].flatMap((entry) =>
      entry.of.tracks.map((one) => ({ ...entry, one, cursor: { ...one.cursor } })),
    );
    moved.clear();
    return all;
  };

  /** Redis refused them: they are written next time. */
  const putBack = (all: readonly Writing[]): void => {
    for (const { stream, of } of all) {
      const entry = known.get(streamKey(stream));
      if (entry?.of === of) moved.add(entry);
    }
  };

  const settle = ({ stream, of, one, cursor }: Writing, answer: QuietAnswer): void => {
    // Read under its lock, or forgotten, meanwhile.
    if (known.get(streamKey(stream))?.of !== of) return;
    if (answer === 'changed') {
      forget(stream);
      onChanged(stream);
      return;
    }
    one.stored = cursor.position;
    onCursor(one.track, mirroredOf(cursor, answer.oldest));
  };

  const write = async (all: readonly Writing[]): Promise<void> => {
    const asked = server;
    const answers = await commits.commit(
      asked,
      all.map(({ one, cursor }) => ({
        ...{ track: one.track, cursor, stored: one.stored },
        ...(one.isSwept ? { forgetBefore: Math.min(cursor.position, cursor.sweptTo) - floor } : {}),
      })),
    );
    // Another Redis: what it lacks has to be read again.
    if (answers === undefined && server === asked) forgetAll();
    for (const [index, one] of all.entries()) {
      one.one.isSwept = false;
      settle(one, answers?.[index] ?? 'changed');
    }
  };

  return {
    recall: (stream) => {
      if (movedSince !== undefined && monotonic() - movedSince > LONGEST_UNCOMMITTED_MS) return undefined;
      return known.get(streamKey(stream))?.of;
    },
    keep: (stream, { server: from, loaded, items }, end) => {
      // After a failover it would look the same, though it may lack what was queued.
      if (from === '') return;
      if (from !== server) forgetAll();
      server = from;
      const former = known.get(streamKey(stream));
      const tracks = tracksOf(stream).flatMap((track, index): KnownTrack[] => {
        const before = loaded[index];
        if (before === undefined) return [];
        // Quiet polls may have moved the cursor on from what Redis has.
        const stored = grown(former?.of.tracks[index]?.stored ?? before.position, end.position);
        return [{ track, cursor: movedBy(before, end), stored, isSwept: false }];
      });
      if (end.sweptAt !== undefined) items.swept();
      const entry = { stream, of: { server, tracks, items } };
      known.set(streamKey(stream), entry);
      if (former !== undefined && moved.delete(former)) moved.add(entry);
    },
    move: (stream, of, end) => {
      const entry = known.get(streamKey(stream));
      if (entry?.of !== of) return;
      movedSince ??= monotonic();
      moved.add(entry);
      for (const one of entry.of.tracks) {
        move(one.cursor, end);
        one.isSwept ||= end.sweptAt !== undefined;
      }
      if (end.sweptAt !== undefined) entry.of.items.swept();
    },
    forget,
    retain: (keys) => {
      for (const [key, { stream }] of known) if (!keys.has(key)) forget(stream);
    },
    commit: async () => {
      const begun = monotonic();
      const chunks = chunksOf(takeMoved(), COMMITTED_AT_ONCE);
      const failures: unknown[] = [];
      for (const chunk of chunks) {
        await write(chunk).catch((error: unknown) => {
          failures.push(error);
          putBack(chunk);
        });
      }
      if (failures.length > 0) throw failures[0];
      movedSince = moved.size === 0 ? undefined : begun;
    },
  };
};
