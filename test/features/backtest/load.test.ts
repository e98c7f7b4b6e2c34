import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPacer, type Rate } from '../../../src/deliver/pace.ts';
import { createRateLimiter, type Slot, type Slots } from '../../../src/deliver/rate-limiter.ts';
import { createMemoryRateLimiter } from '../../../src/features/backtest/in-memory.ts';
import { type LoadMessage, loadOf } from '../../../src/features/backtest/load.ts';
import { destinationOf } from '../../support/alerts.ts';
import { openTestRedis } from '../../support/redis.ts';

const T0 = Date.parse('2026-11-20T10:00:00Z');

type Act = 'reserve' | 'follow' | 'take' | 'rest';

/** What can be asked of slots; each gives a time, 0 for none. */
const playerOf = (slots: Slots, rate: Rate): Record<Act, () => Promise<number>> => {
  const paced = destinationOf('slack', 'C1');
  const held: Slot[] = [];
  const reserve = async (slot?: Slot): Promise<number> => {
    const reserved = await slots.reserve(paced, rate, slot);
    held.push(reserved);
    return reserved.at;
  };
  return {
    reserve: () => reserve(),
    follow: () => reserve(held.shift()),
    take: async () => (await slots.take(paced, rate))?.at ?? 0,
    rest: async () => {
      if (held.length > 0) await slots.rest(paced);
      return 0;
    },
  };
};

describe('the pace', () => {
  const rates: fc.Arbitrary<Rate> = fc.record(
    {
      perSecond: fc.constantFrom(0.5, 1, 3, 30),
      perMinute: fc.constantFrom(1, 20, 100),
      burst: fc.constantFrom(1, 3, 10),
    },
    { requiredKeys: [] },
  );
  const steps = fc.array(
    fc.record({
      wait: fc.constantFrom(0, 1, 200, 1000, 7000, 61_000),
      act: fc.constantFrom<Act>('reserve', 'reserve', 'take', 'rest', 'follow'),
    }),
    { minLength: 1, maxLength: 25 },
  );

  test('in numbers is the one that Redis keeps', async () => {
    const { redis, prefix } = openTestRedis();
    let runs = 0;
    const prove = async (rate: Rate, acts: readonly { wait: number; act: Act }[]): Promise<void> => {
      runs += 1;
      let now = 1_000_000;
      const real = playerOf(
        createRateLimiter(redis, `${prefix}:${runs}`, () => now),
        rate,
      );
      const forecast = playerOf(
        createMemoryRateLimiter(() => now),
        rate,
      );
      for (const { wait, act } of acts) {
        now += wait;
        // Redis keeps a few digits fewer.
        expect(Math.abs((await real[act]()) - (await forecast[act]()))).toBeLessThanOrEqual(1);
      }
    };
    await fc.assert(fc.asyncProperty(rates, steps, prove), { numRuns: 100 });
  });

  test('without a limit holds nothing up', () => {
    const pacer = createPacer({ burst: 3 });
    expect([5, 5, 5, 6].map(pacer.take)).toEqual([5, 5, 5, 6]);
  });

  test('is asked without being taken', () => {
    const pacer = createPacer({ perSecond: 1 });
    expect([pacer.next(0), pacer.next(0), pacer.take(0), pacer.next(0)]).toEqual([0, 0, 0, 1000]);
  });

  test('rests after digests, longer each time, until it was quiet', () => {
    const pacer = createPacer({});
    const rested = [0, 1000, 3000, 7000, 15_000, 25_000, 35_000, 80_000].map((at) => {
      pacer.rest(at);
      return pacer.next(at) - at;
    });
    expect(rested).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000, 10_000, 1000]);
  });
});

/** Single alerts, each sent as long after it was ready as `waitMs` says. */
const singles = (times: readonly number[], waitMs = 0): LoadMessage[] =>
  times.map((at) => ({ at: at + waitMs, ready: [at], isDigest: false, amends: false }));

describe('the load of a destination', () => {
  test('nothing at all is no load', () => {
    expect(loadOf([])).toMatchObject({ alerts: 0, messages: 0, digests: 0, worstMinute: { messages: 0 } });
  });

  test('the worst minute may begin anywhere, and is no longer than a minute', () => {
    const times = [0, 20, 40, 90, 100, 110, 120, 149.999, 150].map((second) => T0 + second * 1000);
    expect(loadOf(singles(times)).worstMinute).toEqual({ at: T0 + 90_000, messages: 5 });
  });

  test('what is sent at once waits for nothing', () => {
    expect(loadOf(singles([T0, T0 + 1000])).worstBacklog).toMatchObject({ waitMs: 0, messages: 0 });
  });

  test('the alert that waits longest is told with the messages before it', () => {
    const digest: LoadMessage = {
      at: T0 + 9000,
      ready: [T0 + 1000, ...Array.from({ length: 9 }, (_, n) => T0 + 2000 + n)],
      isDigest: true,
      amends: false,
    };
    const load = loadOf([...singles([T0 - 3000, T0]), ...singles([T0 + 500], 700), digest]);
    expect(load).toMatchObject({ alerts: 13, messages: 4, digests: 1 });
    expect(load.worstBacklog).toEqual({ at: T0 + 1000, waitMs: 8000, messages: 2 });
  });

  test('a message that takes the place of another calls nobody, but tells its alerts', () => {
    const grown: LoadMessage = { at: T0 + 5000, ready: [T0 + 1000], isDigest: false, amends: true };
    expect(loadOf([...singles([T0]), grown])).toMatchObject({
      alerts: 2,
      messages: 1,
      worstMinute: { messages: 1 },
      worstBacklog: { waitMs: 4000 },
    });
  });
});
