/** Loads and moves the cursors of one poll, and keeps their copy and the memory of seen items in step. */
import type { HeldLock } from '../redis/lock.ts';
import type { Advance, CommitStore } from './commit-store.ts';
import type { Cursor, Cursors, Track } from './cursor.ts';
import { type MirroredCursor, mirroredOf } from './mirror.ts';
import type { Progress } from './progress.ts';
import type { Window } from './windows.ts';

export interface CommitDependencies {
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
