/**
 * What this daemon knows of the tracks that it polls: their cursors, and the items that need nothing more. With it a poll
 * that finds nothing new asks Redis nothing. It is only ever a copy of what was done under a track's lock. Where it is
 * lost, or wrong, a poll asks Redis again.
 */
import { chunksOf } from '../chunks.ts';
import { type Item, type ItemPage, latestDate } from '../item.ts';
import type { CommitStore, UnlockedAnswer } from './commit-store.ts';
import { type Advance, type Cursor, TRACKS_AT_ONCE, type Track } from './cursor.ts';
import { type IngestSettings, standingOf } from './ingest.ts';
import { type MirroredCursor, mirroredOf } from './mirror.ts';
import { type Stream, streamKey, tracksOf } from './stream.ts';
import type { Window } from './windows.ts';

/** Items of one track; any more are looked up in Redis at each read. About 100 bytes each, in two generations. */
const MOST_REMEMBERED = 100;

/** `reported`: it was counted and reported. `done`: besides, it is queued, or not wanted. */
type ItemState = 'reported' | 'done';

/** An item whose transaction, assessment or date has changed is another one. */
const keyOf = ({ itemId, txHash = '', assessment = '', dates }: Item): string =>
  `${itemId} ${txHash} ${assessment} ${latestDate(dates)}`;

/** Which items on a stream's pages are new: those that this daemon has not seen done. */
export const createItemMemory = (tracks: number, settings: IngestSettings) => {
  const most = MOST_REMEMBERED * tracks;
  let young = new Map<string, ItemState>();
  let old = young;
  const set = (key: string, state: ItemState): void => {
    if (young.size < most || young.has(key)) young.set(key, state);
  };
  const stateOf = (key: string): ItemState | undefined => {
    const state = young.get(key) ?? old.get(key);
    if (state !== undefined && !young.has(key)) set(key, state);
    return state;
  };
  return {
    /** What is known of a page, of which `windows` say what is wanted. */
    look: ({ items }: ItemPage, windows: readonly Window[]) => {
      const all = items.map((item) => {
        const key = keyOf(item);
        return { item, key, state: stateOf(key) };
      });
      return {
        /** Those that are not done. */
        undone: all.flatMap(({ item, state }) => (state === 'done' ? [] : item)),
        /** Those that were not reported before. */
        unreported: all.flatMap(({ item, state }) => (state === undefined ? item : [])),
        /** Nothing on the page is to be queued, as far as is known. */
        needsNothing: (): boolean =>
          all.every(
            ({ item, state }) =>
              state === 'done' || ['unwanted', 'outside'].includes(standingOf(item, windows, settings)),
          ),
        /** The page was read, reported and, where that was to be done, queued. */
        note: (): void => {
          for (const { item, key, state } of all) {
            if (state === 'done') continue;
            const standing = standingOf(item, windows, settings);
            set(key, standing === 'unwanted' || standing === 'settled' ? 'done' : 'reported');
          }
        },
      };
    },
    /** A sweep has ended, which reads everything that can still come: what it did not bring is forgotten with the next. */
    swept: (): void => {
      old = young;
      young = new Map();
    },
  };
};

export type ItemMemory = ReturnType<typeof createItemMemory>;

interface KnownTrack {
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

export interface ReadMemorySettings {
  commits: Pick<CommitStore, 'finishUnlocked'>;
  /** Called with each cursor that was committed; not past an alert that is still on its way. */
  onCursor(track: Track, cursor: MirroredCursor): void;
  /** Called where a cursor turned out to be another one, as after an operator set it: to be read soon. */
  onChanged(stream: Stream): void;
  monotonic(): number;
  settings: { overlap: number; lookback: number };
}

/** If Redis has not taken the cursors for this long, no poll goes by memory: it may be another Redis by now. */
const LONGEST_UNCOMMITTED_MS = 10_000;

const GROWING = ['position', 'sweptTo'] as const;
const LATEST = ['sweptAt', 'polledAt'] as const;

/** In place: a new one at each poll would outlive the young generation each time. */
export const moveCursor = (cursor: Cursor, to: Advance): Cursor => {
  for (const field of GROWING) cursor[field] = Math.max(cursor[field], Math.floor(to[field] ?? 0));
  for (const field of LATEST) if (to[field] !== undefined) cursor[field] = Math.floor(to[field]);
  return cursor;
};

/** Whether Redis still has the cursor that is known; another one is not what polls have moved since. */
export const isUnchanged = ({ cursor: { begun }, stored }: KnownTrack, found: Cursor | undefined): boolean =>
  found !== undefined && found.begun === begun && found.position === stored;

interface Entry {
  stream: Stream;
  of: KnownStream;
}

interface Writing extends Entry {
  one: KnownTrack;
  cursor: Cursor;
}

export const createReadMemory = ({ commits, onCursor, onChanged, monotonic, settings }: ReadMemorySettings) => {
  const floor = settings.overlap + 2 * settings.lookback;
  const known = new Map<string, Entry>();
  /** Those that polls without the lock have moved. */
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
      entry.of.tracks.map((one) => ({ stream: entry.stream, of: entry.of, one, cursor: { ...one.cursor } })),
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

  const settle = ({ stream, of, one, cursor }: Writing, answer: UnlockedAnswer): void => {
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
    const tracks = all.map(({ one: { track, stored, isSwept }, cursor }) => {
      const forgetBefore = isSwept ? Math.min(cursor.position, cursor.sweptTo) - floor : undefined;
      return { track, cursor, stored, forgetBefore };
    });
    const answers = await commits.finishUnlocked(asked, tracks);
    // Another Redis: what it lacks has to be read again.
    if (answers === undefined && server === asked) forgetAll();
    for (const [index, one] of all.entries()) {
      one.one.isSwept = false;
      settle(one, answers?.[index] ?? 'changed');
    }
  };

  return {
    /** Undefined where the stream has to be read under its lock. */
    recall: (stream: Stream): KnownStream | undefined => {
      if (movedSince !== undefined && monotonic() - movedSince > LONGEST_UNCOMMITTED_MS) return undefined;
      return known.get(streamKey(stream))?.of;
    },
    /**
     * A poll under the lock has ended at Redis `server`. `loaded`: the cursors before it, in the order of the tracks. Nothing
     * is kept of a Redis that does not say which it is: its polls all take the lock.
     */
    keep: (
      stream: Stream,
      { server: from, loaded, items }: { server: string; loaded: readonly Cursor[]; items: ItemMemory },
      end: Advance,
    ): void => {
      // After a failover it would look the same, though it may lack what was queued.
      if (from === '') return;
      if (from !== server) forgetAll();
      server = from;
      const tracks = tracksOf(stream).flatMap((track, index): KnownTrack[] => {
        const before = loaded[index];
        if (before === undefined) return [];
        const cursor = moveCursor({ ...before }, end);
        return [{ track, cursor, stored: cursor.position, isSwept: false }];
      });
      if (end.sweptAt !== undefined) items.swept();
      known.set(streamKey(stream), { stream, of: { server, tracks, items } });
    },
    /** A poll without the lock, which went by `of`, has ended. Nothing is moved if something else is known by now. */
    move: (stream: Stream, of: KnownStream, end: Advance): void => {
      const entry = known.get(streamKey(stream));
      if (entry?.of !== of) return;
      movedSince ??= monotonic();
      moved.add(entry);
      for (const one of entry.of.tracks) {
        moveCursor(one.cursor, end);
        one.isSwept ||= end.sweptAt !== undefined;
      }
      if (end.sweptAt !== undefined) entry.of.items.swept();
    },
    forget,
    /** Forgets all streams but these, by their keys. */
    retain: (keys: ReadonlySet<string>): void => {
      for (const [key, { stream }] of known) if (!keys.has(key)) forget(stream);
    },
    /** Writes what polls without the lock have moved. */
    commit: async (): Promise<void> => {
      const begun = monotonic();
      const failures: unknown[] = [];
      for (const chunk of chunksOf(takeMoved(), TRACKS_AT_ONCE)) {
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

export type ReadMemory = ReturnType<typeof createReadMemory>;
