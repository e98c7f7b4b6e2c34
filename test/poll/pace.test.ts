import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type PaceInput, paceOf } from '../../src/poll/pace.ts';

const LIMITS = { leastMs: 1000, longestMs: 15_000 };
const inputs = fc
  .record({
    streams: fc.integer({ min: 1, max: 20_000 }),
    busyShare: fc.double({ min: 0, max: 1, noNaN: true }),
    budget: fc.double({ min: 0.1, max: 1000, noNaN: true }),
    requestsAPoll: fc.double({ min: 1, max: 5, noNaN: true }),
  })
  .map(
    ({ streams, busyShare, ...rest }): PaceInput => ({
      ...rest,
      ...LIMITS,
      streams,
      busy: Math.floor(streams * busyShare),
    }),
  );

/** Requests a second that a pace makes. */
const spent = ({ streams, busy, requestsAPoll }: PaceInput, { busyMs, quietMs }: ReturnType<typeof paceOf>): number =>
  1000 * requestsAPoll * ((streams - busy) / quietMs + busy / busyMs);

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
    [4, 1000],
    [6, 1500],
    [21, 5250],
    [60, 15_000],
    [600, 15_000],
  ])('with 4 requests a second, %i streams are read every %i ms', (streams, ms) => {
    const pace = paceOf({ streams, busy: 0, budget: 4, requestsAPoll: 1, ...LIMITS });
    expect(pace.quietMs).toBeCloseTo(ms, 6);
    expect(pace.neededBudget).toBeCloseTo(streams / 15, 6);
  });

  test('a busy stream among many is read every second or so', () => {
    const pace = paceOf({ streams: 41, busy: 1, budget: 4, requestsAPoll: 1, ...LIMITS });
    expect(pace.busyMs).toBeLessThan(3000);
    expect(pace.quietMs).toBeLessThan(12_000);
  });
});
