/** What one poll asks for of each of its tracks. Pure. */
import type { Cursor, Track } from './cursor.ts';

/** What one poll wants of one track. */
export interface Window {
  track: Track;
  cursor: Cursor;
  /** Items dated at or before this were not asked for, whatever the service gives. Epoch milliseconds. */
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

/** The first read is a sweep: it learns what was there before. `begun` is when this read began, in epoch milliseconds. */
export const isSweepDue = (
  { polledAt, sweptAt, sweptTo }: Cursor,
  begun: number,
  { sweepEvery }: Pick<WindowSettings, 'sweepEvery'>,
): boolean => polledAt === undefined || begun - (sweptAt ?? sweptTo) >= sweepEvery;

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
