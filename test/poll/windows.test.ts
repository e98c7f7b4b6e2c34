import { describe, expect, test } from 'vitest';
import type { Cursor, Track } from '../../src/poll/cursor.ts';
import { isSweepDue, notAhead, windowOf } from '../../src/poll/windows.ts';
import { T0 } from '../support/items.ts';

const TRACK: Track = { service: 'main', source: 'inspections', protocol: 'Vault' };
const MINUTE = 60_000;
const settings = { overlap: 5000, lookback: 15 * MINUTE, sweepEvery: MINUTE };
const HOUR_AGO = T0 - 60 * MINUTE;
const cursor: Cursor = { start: HOUR_AGO, position: T0, sweptTo: T0 - MINUTE };

describe('a sweep is due', () => {
  test.each([
    ['at the very first read', { ...cursor, sweptAt: T0 }, true],
    ['not before its time', { ...cursor, polledAt: T0, sweptAt: T0 - MINUTE + 1 }, false],
    ['when the last one is as old', { ...cursor, polledAt: T0, sweptAt: T0 - MINUTE }, true],
    ['where the last one is ahead of the clock', { ...cursor, polledAt: T0, sweptAt: T0 + 1 }, true],
    ['by the last one that found something, where no end is known', { ...cursor, polledAt: T0 }, true],
  ])('%s', (_, one, isDue) => {
    expect(isSweepDue(one, T0, settings)).toBe(isDue);
  });
});

describe('a cursor ahead of the clock', () => {
  test('counts as the clock; its last sweep as its position, which dates of items made', () => {
    const ahead = { ...cursor, position: T0 - 2 * MINUTE, sweptTo: T0 + 60 * MINUTE };
    expect(notAhead(ahead, T0)).toEqual({ ...ahead, sweptTo: T0 - 2 * MINUTE });
    expect(notAhead({ ...ahead, position: T0 + MINUTE }, T0)).toEqual({ ...ahead, position: T0, sweptTo: T0 });
    expect(notAhead(cursor, T0)).toEqual(cursor);
  });

  test('begins no earlier than somebody wants it to begin', () => {
    const future = { start: T0 + MINUTE, position: T0 + MINUTE, sweptTo: T0 + MINUTE };
    expect(notAhead(future, T0)).toEqual(future);
  });
});

describe('a window begins', () => {
  test('an overlap before the position, and just before a full second', () => {
    expect(windowOf(TRACK, cursor, false, settings).since).toBe(T0 - 5000 - 1);
    expect(windowOf(TRACK, { ...cursor, position: T0 + 999 }, false, settings).since).toBe(T0 - 5000 - 1);
  });

  test('a lookback before the last sweep, for a sweep', () => {
    expect(windowOf(TRACK, cursor, true, settings).since).toBe(T0 - 16 * MINUTE - 1);
  });

  test('never later for a sweep than without one', () => {
    const ahead = { ...cursor, sweptTo: T0 + 60 * MINUTE };
    expect(windowOf(TRACK, ahead, true, settings).since).toBe(T0 - 5000 - 1);
  });

  test('never more than a lookback before the start', () => {
    const young = { start: T0, position: T0, sweptTo: T0 - 60 * MINUTE };
    expect(windowOf(TRACK, young, true, settings).since).toBe(T0 - 15 * MINUTE - 1);
  });
});
