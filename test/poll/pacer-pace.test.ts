import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type PaceInput, paceOf } from '../../src/poll/pacer.ts';

const LIMITS = { leastMs: 1000, longestMs: 15_000 };
const inputs = fc
  .record({
    streams: fc.integer({ min: 1, max: 20_000 }),
    busyShare: fc.double({ min: 0, max: 1, noNaN: true }),
    budget: fc.double({ min: 0.1, max: 1000, noNaN: true }),
    sweepEveryMs: fc.integer({ min: 100, max: 3_600_000 }),
  })
  .map(
    ({ streams, busyShare, ...rest }): PaceInput => ({
      ...rest,
      ...LIMITS,
      streams,
      busy: Math.floor(streams * busyShare),
    }),
  );

/** Requests a second that a pace makes: one more where a poll is a sweep. */
const spent = ({ streams, busy, sweepEveryMs }: PaceInput, { busyMs, quietMs }: ReturnType<typeof paceOf>): number => {
  const each = (everyMs: number): number => 1000 / everyMs + 1000 / Math.max(everyMs, sweepEveryMs, LIMITS.longestMs);
  return (streams - busy) * each(quietMs) + busy * each(busyMs);
};

describe('the pace', () => {
  test('is never under a second, never over 15, and the busy ones never come after the others', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const { busyMs, quietMs } = paceOf(input);
        expect(busyMs).toBeGreaterThanOrEqual(LIMITS.leastMs);
        expect(quietMs).toBeLessThanOrEqual(LIMITS.longestMs);
        expect(busyMs).toBeLessThanOrEqual(quietMs);
      }),
    );
  });

  test('keeps the budget, unless some stream would wait too long', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const pace = paceOf(input);
        if (pace.neededBudget <= input.budget) expect(spent(input, pace)).toBeLessThanOrEqual(input.budget * 1.0001);
        else expect(pace.quietMs).toBe(LIMITS.longestMs);
        if (pace.neededBudget > input.budget && input.busy > 0) expect(pace.busyMs).toBe(LIMITS.longestMs);
      }),
    );
  });

  test('uses the budget, unless all are read every second', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const pace = paceOf(input);
        if (pace.quietMs > LIMITS.leastMs) expect(spent(input, pace)).toBeGreaterThanOrEqual(input.budget * 0.9999);
      }),
    );
  });

  test('is shorter with more budget, and longer with more streams', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const { quietMs } = paceOf(input);
        expect(paceOf({ ...input, budget: 2 * input.budget }).quietMs).toBeLessThanOrEqual(quietMs + 0.001);
        expect(paceOf({ ...input, streams: input.streams + 1 }).quietMs).toBeGreaterThanOrEqual(quietMs - 0.001);
      }),
    );
  });

  test.each([
    [3, 1000],
    [6, 1538],
    [21, 5753],
    [48, 15_000],
    [600, 15_000],
  ])('with 4 requests a second, %i streams are read every %i ms', (streams, ms) => {
    const pace = paceOf({ streams, busy: 0, budget: 4, sweepEveryMs: 60_000, ...LIMITS });
    expect(Math.round(pace.quietMs)).toBe(ms);
    expect(pace.neededBudget).toBeCloseTo(streams / 15 + streams / 60, 6);
  });

  test('a busy stream among many is read much more often', () => {
    const pace = paceOf({ streams: 41, busy: 1, budget: 4, sweepEveryMs: 60_000, ...LIMITS });
    expect(pace.busyMs).toBeLessThan(pace.quietMs / 3);
    expect(pace.quietMs).toBeLessThan(14_000);
  });
});
