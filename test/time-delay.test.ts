/** How long a job waits until it runs again, whatever becomes of the clock while it runs. */
import { describe, expect, test } from 'vitest';
import { delayUntil } from '../src/time.ts';

const HOUR_MS = 3_600_000;
const BEGUN = { wall: 1_800_000_000_000, monotonic: 5000 };
/** 70 ms later, by a clock that was set by so many milliseconds meanwhile. */
const later = (setBy: number) => ({ wall: BEGUN.wall + 70 + setBy, monotonic: BEGUN.monotonic + 70 });

describe('a job that is to run in a second', () => {
  test('waits a second', () => {
    expect(delayUntil(BEGUN.wall + 1070, BEGUN, later(0))).toBe(1000);
  });

  test('waits no hour where the clock was set back by one after that was reckoned', () => {
    expect(delayUntil(BEGUN.wall + 1070, BEGUN, later(-HOUR_MS))).toBe(1000);
  });

  test('waits no longer where the clock was set back before that was reckoned', () => {
    expect(delayUntil(BEGUN.wall - HOUR_MS + 1070, BEGUN, later(-HOUR_MS))).toBe(0);
  });

  test('runs at once where the clock was set forward meanwhile', () => {
    expect(delayUntil(BEGUN.wall + 1070, BEGUN, later(HOUR_MS))).toBe(0);
  });

  test('waits for what a provider named, however long', () => {
    expect(delayUntil(BEGUN.wall + 6 * HOUR_MS, BEGUN, later(0))).toBe(6 * HOUR_MS - 70);
  });
});
