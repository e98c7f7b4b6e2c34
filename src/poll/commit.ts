/** Loads and moves the cursors of one poll, and keeps their copy and the memory of seen items in step. */
import type { Cursor, Cursors, Track } from './cursor.ts';
import type { MirroredCursor } from './mirror.ts';
import type { Progress } from './progress.ts';
import type { Seen } from './seen.ts';
import type { Window } from './windows.ts';

export interface CommitDependencies {
  cursors: Pick<Cursors, 'get' | 'begin' | 'advance'>;
  seen: Pick<Seen, 'forget'>;
  /** Where a track begins that Redis knows nothing of: never polled, or lost. */
  beginningOf(track: Track): MirroredCursor | Promise<MirroredCursor>;
  /** Called with each cursor after a read; not past an alert that is still on its way. */
  onCursor(track: Track, cursor: MirroredCursor): void;
  /** The date of a track's oldest alert that is still on its way, in epoch milliseconds. */
  oldestOpen(track: Track): Promise<number | undefined>;
  now(): number;
  /** Durations in milliseconds. */
  settings: { overlap: number; lookback: number };
}

export const createCommit = ({ cursors, seen, oldestOpen, onCursor, now, ...dependencies }: CommitDependencies) => {
  const { overlap, lookback } = dependencies.settings;

  const begin = async (track: Track): Promise<Cursor> => {
    const beginning = await dependencies.beginningOf(track);
    await cursors.begin(track, beginning);
    return beginning;
  };

  const advance = async (
    windows: readonly Window[],
    to: Progress & { polledAt?: number; sweptAt?: number },
  ): Promise<void> => {
    await Promise.all(windows.map(({ track }) => cursors.advance(track, to)));
  };

  /** The copy outside Redis stays behind what is not delivered: with Redis its job would be lost, too. */
  const mirror = async ({ track, cursor }: Window, { position = 0, sweptTo = 0 }: Progress): Promise<void> => {
    const oldest = (await oldestOpen(track)) ?? Number.POSITIVE_INFINITY;
    onCursor(track, {
      start: cursor.start,
      position: Math.min(Math.max(cursor.position, position), oldest),
      sweptTo: Math.min(Math.max(cursor.sweptTo, sweptTo), oldest),
    });
  };

  return {
    /** The tracks' cursors in their order; a track that has none begins. */
    load: async (tracks: readonly Track[]): Promise<{ track: Track; cursor: Cursor }[]> => {
      const found = await cursors.get(tracks);
      return Promise.all(tracks.map(async (track, index) => ({ track, cursor: found[index] ?? (await begin(track)) })));
    },
    /** While the read goes on. */
    advance,
    /** When it has ended. `sweptAt`: when it began, if it was a sweep. */
    finish: async (windows: readonly Window[], progress: Progress, sweptAt: number | undefined): Promise<void> => {
      await advance(windows, { ...progress, polledAt: now(), ...(sweptAt === undefined ? {} : { sweptAt }) });
      await Promise.all(windows.map((window) => mirror(window, progress)));
      const floor = overlap + 2 * lookback;
      await Promise.all(
        windows.map(({ track, cursor }) => seen.forget(track, Math.min(cursor.position, cursor.sweptTo) - floor)),
      );
    },
  };
};
