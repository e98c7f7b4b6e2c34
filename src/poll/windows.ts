/** What one poll asks for of each of its tracks, and how far the cursors may go during and after it. Pure. */
import type { Item } from '../item.ts';
import type { Advance, Cursor, Track } from './cursor.ts';

export interface Window {
  track: Track;
  cursor: Cursor;
  /** Items dated at or before this were not asked for, though the service may give them. Epoch milliseconds. */
  since: number;
}

/** Durations in milliseconds. */
export interface WindowSettings {
  overlap: number;
  lookback: number;
  sweepEvery: number;
}

/** Just before the second that holds `at`: items whose dates are whole seconds are never cut off from their equals. */
const beforeSecond = (at: number): number => Math.floor(at / 1000) * 1000 - 1;

/**
 * Times ahead of the service's present clock count as that clock: an answer that named a wrong time has moved them. When a
 * sweep that is ahead took place is unknown, except that it came after the position. Nothing is before the start, which
 * may be ahead on purpose.
 */
export const notAhead = (cursor: Cursor, clock: number): Cursor => {
  const position = Math.max(cursor.start, Math.min(cursor.position, clock));
  if (position === cursor.position && cursor.sweptTo <= clock) return cursor;
  return { ...cursor, position, sweptTo: cursor.sweptTo > clock ? position : cursor.sweptTo };
};

/**
 * The first read is a sweep: it learns what was there before. So is each read while the last sweep seems to be ahead.
 * `begun` is when this read began, in epoch milliseconds.
 */
export const isSweepDue = (
  { polledAt, sweptAt, sweptTo }: Cursor,
  begun: number,
  { sweepEvery }: Pick<WindowSettings, 'sweepEvery'>,
): boolean =>
  polledAt === undefined || begun - (sweptAt ?? sweptTo) >= sweepEvery || (sweptAt !== undefined && sweptAt > begun);

export const windowOf = (
  track: Track,
  cursor: Cursor,
  isSweep: boolean,
  { overlap, lookback }: Pick<WindowSettings, 'overlap' | 'lookback'>,
): Window => {
  const { start, position, sweptTo } = cursor;
  const hot = position - overlap;
  const since = isSweep ? Math.min(hot, sweptTo - lookback) : hot;
  return { track, cursor, since: beforeSecond(Math.max(start - lookback, since)) };
};

interface ProgressSettings {
  /** The service's own time in epoch milliseconds, which the answers of this read may correct. */
  clock(): number;
  now(): number;
  /** When the read began: by the service's clock, as it was taken to be then, and by ours. Epoch milliseconds. */
  begun: number;
  ownBegun: number;
  isSweep: boolean;
  lookback: number;
}

/** How far the cursors may go during and after one poll. */
export const createProgress = (settings: ProgressSettings) => {
  const { clock, now, ownBegun, isSweep, lookback } = settings;
  /**
   * Of the items' earliest dates: the one that the service filters by is not before it. An answer without
   * items moves nothing, however far it reaches: it may be a mistake of the service.
   */
  let highest: number | undefined;
  /** When the read began. The answers may have shown that the service's clock is behind what we took it for. */
  const begun = (): number => Math.min(settings.begun, clock() - (now() - ownBegun));
  return {
    begun,
    count: (items: readonly Item[]): void => {
      for (const { dates } of items) {
        const earliest = Math.min(...Object.values(dates));
        if (Number.isFinite(earliest)) highest = Math.max(highest ?? earliest, earliest);
      }
    },
    /**
     * Once all before `settledBefore` was read; left out, when the read has ended. No date ahead of the service's own
     * clock moves a cursor, or one item from the future would hide all that come before it.
     */
    upTo: (settledBefore?: number): Pick<Advance, 'position' | 'sweptTo'> => {
      if (highest === undefined) return {};
      const position = Math.min(highest, settledBefore ?? Number.POSITIVE_INFINITY, begun());
      if (!isSweep) return { position };
      return { position, sweptTo: settledBefore === undefined ? begun() : Math.min(position + lookback, begun()) };
    },
  };
};
