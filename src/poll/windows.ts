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

/**
 * Times ahead of the service's present clock count as that clock: an answer that named a wrong time has moved them. Of a
 * sweep that is ahead nobody knows when it was, but that it came after the position. Nothing is before the start, which
 * may be meant to be ahead.
 */
export const notAhead = (cursor: Cursor, clock: number): Cursor => {
  const position = Math.max(cursor.start, Math.min(cursor.position, clock));
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
