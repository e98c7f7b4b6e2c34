import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadOf } from '../../src/deliver/load.ts';
import { createPace, type Rate } from '../../src/deliver/pace.ts';
import { createSlots } from '../../src/deliver/slots.ts';
import { destinationOf } from '../support/alerts.ts';
import { openTestRedis } from '../support/redis.ts';

const T0 = Date.parse('2026-11-20T10:00:00Z');
const every = (count: number, stepMs: number): number[] => Array.from({ length: count }, (_, n) => T0 + n * stepMs);

describe('the pace', () => {
  const rates: fc.Arbitrary<Rate> = fc.record(
    {
      perSecond: fc.constantFrom(0.5, 1, 3, 30),
      perMinute: fc.constantFrom(1, 20, 100),
      burst: fc.constantFrom(1, 3, 10),
    },
    { requiredKeys: [] },
  );

  test('in numbers is the one that Redis keeps', async () => {
    const { redis, prefix } = openTestRedis();
    let runs = 0;
    const gaps = fc.array(fc.constantFrom(0, 1, 200, 1000, 7000, 61_000), { minLength: 1, maxLength: 25 });
    const prove = async (rate: Rate, waits: readonly number[]): Promise<void> => {
      runs += 1;
      let now = 1_000_000;
      const slots = createSlots(redis, `${prefix}:${runs}`, () => now);
      const pace = createPace(rate);
      for (const wait of waits) {
        now += wait;
        const { at } = await slots.reserve(destinationOf('slack', 'C1'), rate);
        // Redis keeps a few digits fewer.
        expect(Math.abs(at - pace(now))).toBeLessThanOrEqual(1);
      }
    };
    await fc.assert(fc.asyncProperty(rates, gaps, prove), { numRuns: 60 });
  });

  test('without a limit holds nothing up', () => {
    const pace = createPace({ burst: 3 });
    expect([5, 5, 5, 6].map(pace)).toEqual([5, 5, 5, 6]);
  });
});

describe('the load of a destination', () => {
  test('nothing at all is no load', () => {
    expect(loadOf([], { perSecond: 1 })).toMatchObject({ messages: 0, worstMinute: { messages: 0 } });
  });

  test('the worst minute may begin anywhere, and is no longer than a minute', () => {
    const times = [...every(3, 20_000), ...[90, 100, 110, 120, 149.999, 150].map((s) => T0 + s * 1000)];
    expect(loadOf(times.toReversed(), {}).worstMinute).toEqual({ at: T0 + 90_000, messages: 5 });
  });

  test('what is ready slower than the pace waits for nothing', () => {
    expect(loadOf(every(100, 1000), { perSecond: 1 }).worstBacklog).toMatchObject({ waitMs: 0, messages: 0 });
  });

  test('a hundred at once at one a second: the last waits longest, with all the others before it', () => {
    const times = [...every(100, 0), T0 + 500_000];
    expect(loadOf(times, { perSecond: 1 }).worstBacklog).toEqual({ at: T0, waitMs: 99_000, messages: 99 });
    expect(loadOf(times, { perSecond: 1, burst: 10 }).worstBacklog).toMatchObject({ waitMs: 90_000 });
    expect(loadOf(times, {}).worstBacklog).toMatchObject({ waitMs: 0 });
  });

  test('a backlog that is still there when more comes is counted whole', () => {
    const times = [...every(60, 0), ...every(60, 0).map((at) => at + 30_000)];
    expect(loadOf(times, { perSecond: 1 }).worstBacklog).toEqual({ at: T0 + 30_000, waitMs: 89_000, messages: 89 });
  });
});
