/** The rate limiter over its store: alone, and shared in Redis by several daemons. */
import fc from 'fast-check';
import type { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { EMPTY_STATE, type Rate } from '../../src/deliver/rate-limit-rule.ts';
import {
  createRateLimiter,
  createRateStateStore,
  type RateLimiter,
  type RateStateStore,
} from '../../src/deliver/rate-limiter.ts';
import { createMemoryRateStateStore } from '../../src/features/backtest/in-memory.ts';
import type { Slot } from '../../src/queue/job.ts';
import { DESTINATION, range, setUpDeliveries } from '../support/deliveries.ts';
import { openTestRedis } from '../support/redis.ts';

const NOW = Date.parse('2026-11-20T10:00:00Z');
const PACED = { id: 'slack:C1' };

/** Never twice within the time in which a destination without a rate is not asked after again. */
let steps = 0;
const monotonic = (): number => {
  steps += 1_000_000;
  return steps;
};

const daemonOn = (redis: Redis, prefix: string, now = () => NOW): RateLimiter =>
  createRateLimiter({ store: createRateStateStore(redis, prefix), now, monotonic });

/** Counts what a store is asked. */
const counted = (store: RateStateStore) => {
  const counts = { commands: 0 };
  const compareAndSet: RateStateStore['compareAndSet'] = (...request) => {
    counts.commands += 1;
    return store.compareAndSet(...request);
  };
  return { store: { compareAndSet }, counts };
};

const ats = (slots: readonly Slot[]): number[] => slots.map(({ at }) => at - NOW);
const every = (ms: number, count: number): number[] => Array.from({ length: count }, (_, n) => n * ms);

test('a state that somebody else has changed, or that is gone, stays as it is', async () => {
  const { redis, prefix } = openTestRedis();
  const store = createRateStateStore(redis, prefix);
  const key = `${prefix}:rate:${PACED.id}`;
  const stateAt = (tat: number) => ({ ...EMPTY_STATE, tat });
  const { kept } = await store.compareAndSet(PACED.id, undefined, stateAt(1), 60_000);
  expect(await store.compareAndSet(PACED.id, undefined, stateAt(2), 60_000)).toEqual({ isMatch: false, kept });
  expect(JSON.parse((await redis.get(key)) ?? '')).toMatchObject({ tat: 1 });
  expect(await redis.pttl(key)).toBeGreaterThan(0);
  await redis.del(key);
  expect(await store.compareAndSet(PACED.id, kept, stateAt(3), 60_000)).toMatchObject({ isMatch: false });
  expect(await redis.exists(key)).toBe(0);
});

describe('requests of one daemon', () => {
  test('that come together are answered in order, by two commands', async () => {
    const { redis, prefix } = openTestRedis();
    const { store, counts } = counted(createRateStateStore(redis, prefix));
    const rateLimiter = createRateLimiter({ store, now: () => NOW });
    const reserved = await Promise.all(every(1, 50).map(() => rateLimiter.reserve(PACED, { perSecond: 1 })));
    expect(ats(reserved)).toEqual(every(1000, 50));
    expect(counts.commands).toBe(2);
  });

  test('that come one by one take one command each', async () => {
    const { redis, prefix } = openTestRedis();
    const { store, counts } = counted(createRateStateStore(redis, prefix));
    const rateLimiter = createRateLimiter({ store, now: () => NOW });
    const reserved: Slot[] = [];
    for (const _ of every(1, 10)) reserved.push(await rateLimiter.reserve(PACED, { perMinute: 100, perSecond: 2 }));
    expect(ats(reserved)).toEqual(every(500, 10));
    expect(counts.commands).toBe(10);
  });

  test('of a destination without a rate ask once a second, and know at once what held it up here', async () => {
    const { redis, prefix } = openTestRedis();
    const { store, counts } = counted(createRateStateStore(redis, prefix));
    const clock = { monotonic: 0 };
    const rateLimiter = createRateLimiter({ store, now: () => NOW, monotonic: () => clock.monotonic });
    const reserve = async () => (await rateLimiter.reserve(PACED, {})).at - NOW;
    for (const _ of every(1, 10)) expect(await reserve()).toBe(0);
    expect(await rateLimiter.take(PACED, {})).toEqual({ at: NOW, shift: 0 });
    expect(counts.commands).toBe(1);
    await daemonOn(redis, prefix).hold(PACED, NOW + 5000);
    expect(await reserve()).toBe(0);
    clock.monotonic += 1000;
    expect(await reserve()).toBe(5000);
    await rateLimiter.hold(PACED, NOW + 8000);
    expect([await reserve(), await rateLimiter.take(PACED, {})]).toEqual([8000, undefined]);
  });

  test('of which one destination does not hold up another', async () => {
    const { redis, prefix } = openTestRedis();
    const rateLimiter = daemonOn(redis, prefix);
    const ids = range(1, 20).map((n) => ({ id: `webhook:${n}` }));
    const reserved = await Promise.all([...ids, ...ids].map((paced) => rateLimiter.reserve(paced, { perSecond: 1 })));
    expect(ats(reserved)).toEqual([...ids.map(() => 0), ...ids.map(() => 1000)]);
  });

  test('fail together where Redis does, and those that come later do not', async () => {
    const { redis, prefix } = openTestRedis();
    const store = createRateStateStore(redis, prefix);
    let isDown = true;
    const rateLimiter = createRateLimiter({
      store: {
        compareAndSet: async (...request) => {
          if (isDown) throw new Error('no Redis');
          return store.compareAndSet(...request);
        },
      },
      now: () => NOW,
    });
    const outcomes = await Promise.allSettled(every(1, 3).map(() => rateLimiter.reserve(PACED, { perSecond: 1 })));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    isDown = false;
    expect((await rateLimiter.reserve(PACED, { perSecond: 1 })).at).toBe(NOW);
  });

  test('give up after a hundred conflicts in a row, with a word why', async () => {
    const memory = createMemoryRateStateStore();
    let version = 0;
    const rateLimiter = createRateLimiter({
      store: {
        compareAndSet: async (id, _expected, _next, keepMs) => {
          const { kept } = await memory.compareAndSet(id, undefined, undefined, keepMs);
          version += 1;
          return { isMatch: false, kept: { ...kept, version: String(version) } };
        },
      },
      now: () => NOW,
    });
    await expect(rateLimiter.reserve(PACED, {})).rejects.toThrow(
      'other daemons changed the rate limit of slack:C1 100 times in a row',
    );
    expect(version).toBe(100);
  });
});

describe('two daemons', () => {
  test('that reserve at once give each slot once, each in its own order', async () => {
    const { redis, prefix } = openTestRedis();
    const other = openTestRedis();
    const rate: Rate = { perSecond: 10, perMinute: 300, burst: 2 };
    const daemons = [daemonOn(redis, prefix), daemonOn(other.redis, prefix)];
    const reserved = await Promise.all(
      daemons.map(async (rateLimiter) => {
        const found: Slot[] = [];
        for (let round = 0; round < 20; round += 1) {
          found.push(...(await Promise.all(every(1, 10).map(() => rateLimiter.reserve(PACED, rate)))));
        }
        return ats(found);
      }),
    );
    const alone = createRateLimiter({ store: createMemoryRateStateStore(), now: () => NOW });
    const expected = await Promise.all(every(1, 400).map(() => alone.reserve(PACED, rate)));
    for (const found of reserved) expect(found).toEqual(found.toSorted((a, b) => a - b));
    expect(reserved.flat().toSorted((a, b) => a - b)).toEqual(ats(expected));
  });

  test('a wait that one learned of moves what the other holds', async () => {
    const { redis, prefix } = openTestRedis();
    const [one, other] = [daemonOn(redis, prefix), daemonOn(redis, prefix)];
    const rate = { perSecond: 1 };
    const held = [await one.reserve(PACED, rate), await one.reserve(PACED, rate), await one.reserve(PACED, rate)];
    await other.hold(PACED, NOW + 30_000);
    const moved = await Promise.all(held.slice(1).map((slot) => one.reserve(PACED, rate, slot)));
    expect(ats(moved)).toEqual([31_000, 32_000]);
    expect(await one.take(PACED, rate)).toBeUndefined();
    expect(ats([await one.reserve(PACED, rate)])).toEqual([33_000]);
  });

  test('rounds are of both: a message has one place, and a ticket of one holds at the other', async () => {
    const { redis, prefix } = openTestRedis();
    const time = { now: NOW };
    const [one, other] = [daemonOn(redis, prefix, () => time.now), daemonOn(redis, prefix, () => time.now)];
    const rate = { perSecond: 1 };
    const all = [
      await one.queue(PACED, rate, 'a', {}),
      await one.queue(PACED, rate, 'a', {}),
      await one.queue(PACED, rate, 'a', {}),
      await other.queue(PACED, rate, 'b', {}),
    ];
    const asked = all.map(({ slot, ticket }) => (slot ?? ticket).at - NOW);
    expect(asked).toEqual([0, 1000, 2000, 1000]);
    const [, first, second, quiet] = all.map(({ ticket }) => ticket);
    time.now += 1000;
    expect((await other.queue(PACED, rate, 'a', { ticket: first })).ticket?.at).toBe(NOW + 2000);
    expect(await one.take(PACED, rate)).toBeUndefined();
    expect((await one.queue(PACED, rate, 'b', { ticket: quiet })).slot?.at).toBe(NOW + 1000);
    time.now += 1000;
    expect((await other.queue(PACED, rate, 'a', { ticket: second })).ticket?.at).toBe(NOW + 3000);
    expect((await other.queue(PACED, rate, 'a', { ticket: first })).slot?.at).toBe(NOW + 2000);
  });

  test('a daemon that does not know what waits of a line gives it a turn in the present round, and no more', async () => {
    const { redis, prefix } = openTestRedis();
    const [one, other] = [daemonOn(redis, prefix), daemonOn(redis, prefix)];
    const rate = { perSecond: 1 };
    for (const _ of range(1, 20)) await one.queue(PACED, rate, 'a', {});
    for (const _ of range(1, 3)) await other.queue(PACED, rate, 'a', {});
    const { ticket } = await one.queue(PACED, rate, 'b', {});
    expect((ticket?.at ?? 0) - NOW).toBeLessThanOrEqual(2000);
  });

  test('what Redis forgot is not remembered', async () => {
    const { redis, prefix } = openTestRedis();
    const rateLimiter = daemonOn(redis, prefix);
    for (const _ of every(1, 3)) await rateLimiter.reserve(PACED, { perMinute: 1 });
    await redis.del(`${prefix}:rate:${PACED.id}`);
    expect((await rateLimiter.reserve(PACED, { perMinute: 1 })).at).toBe(NOW);
  });

  test('one digest takes a slot of a burst, and the destination rests: the next at the same moment has none', async () => {
    const { redis, prefix } = openTestRedis();
    const daemons = [daemonOn(redis, prefix), daemonOn(redis, prefix)];
    const takes = daemons.flatMap(({ take }) => [take, take, take]);
    for (const rate of [{ perSecond: 1, burst: 5 }, {}]) {
      const paced = { id: `${PACED.id} ${JSON.stringify(rate)}` };
      const slots = await Promise.all(takes.map((take) => take(paced, rate, true)));
      expect(slots.filter((slot) => slot !== undefined)).toHaveLength(1);
    }
    const [first] = daemons;
    await first?.reserve(PACED, { perSecond: 1, burst: 5 });
    expect(await first?.take(PACED, { perSecond: 1, burst: 5 }, true)).toBeUndefined();
    expect(await first?.take(PACED, { perSecond: 1, burst: 5 })).toBeDefined();
  });

  test('the state ends a day after its last slot', async () => {
    const { redis, prefix } = openTestRedis();
    const rateLimiter = daemonOn(redis, prefix);
    for (const _ of every(1, 3)) await rateLimiter.reserve(PACED, { perMinute: 1 });
    await rateLimiter.rest(PACED);
    const ms = await redis.pttl(`${prefix}:rate:${PACED.id}`);
    expect(ms).toBeGreaterThan(86_400_000 + 120_000);
    expect(ms).toBeLessThanOrEqual(86_400_000 + 121_000);
  });
});

describe('the state in Redis', () => {
  test('a window of thousands is kept whole', async () => {
    const { redis, prefix } = openTestRedis();
    const rate = { perMinute: 2500 };
    const rateLimiter = daemonOn(redis, prefix);
    await Promise.all(every(1, 2500).map(() => rateLimiter.reserve(PACED, rate)));
    expect(ats([await daemonOn(redis, prefix).reserve(PACED, rate)])).toEqual([60_500]);
    expect(JSON.parse((await redis.get(`${prefix}:rate:${PACED.id}`)) ?? '{}').latest).toHaveLength(2500);
  });

  const rates: fc.Arbitrary<Rate> = fc.record(
    {
      perSecond: fc.constantFrom(0.5, 1, 3, 30),
      perMinute: fc.constantFrom(1, 20, 100),
      burst: fc.constantFrom(1, 3, 10),
    },
    { requiredKeys: [] },
  );

  type Act = 'reserve' | 'follow' | 'take' | 'rest' | 'hold';
  const steps = fc.array(
    fc.record({
      wait: fc.constantFrom(0, 1, 200, 1000, 7000, 61_000),
      act: fc.constantFrom<Act>('reserve', 'reserve', 'take', 'rest', 'follow', 'hold'),
      daemon: fc.constantFrom(0, 1),
    }),
    { minLength: 1, maxLength: 25 },
  );

  /**
   * Performs an act and gives the time of its slot, 0 for none. A reserved slot is kept in the job, so any daemon may
   * follow it up.
   */
  const playerOf = (daemons: readonly Omit<RateLimiter, 'queue'>[], rate: Rate, now: () => number) => {
    const held: Slot[] = [];
    const note = (slot: Slot): number => {
      held.push(slot);
      return slot.at;
    };
    return async (act: Act, daemon: number): Promise<number> => {
      const rateLimiter = daemons[daemon % daemons.length];
      if (!rateLimiter) throw new Error('no daemon');
      switch (act) {
        case 'reserve':
          return note(await rateLimiter.reserve(PACED, rate));
        case 'follow':
          return note(await rateLimiter.reserve(PACED, rate, held.shift()));
        case 'take':
          return (await rateLimiter.take(PACED, rate))?.at ?? 0;
        case 'hold':
          return note(await rateLimiter.hold(PACED, now() + 3000));
        case 'rest':
          await rateLimiter.rest(PACED);
          return 0;
      }
    };
  };

  test('two daemons answer as one daemon alone, and as a forecast, also for slots that were missed', async () => {
    const { redis, prefix } = openTestRedis();
    let runs = 0;
    const prove = async (rate: Rate, acts: readonly { wait: number; act: Act; daemon: number }[]): Promise<void> => {
      runs += 1;
      let time = NOW;
      const now = () => time;
      const own = `${prefix}:${runs}`;
      const shared = playerOf([daemonOn(redis, own, now), daemonOn(redis, own, now)], rate, now);
      const alone = playerOf([daemonOn(redis, `${own}:alone`, now)], rate, now);
      const forecast = playerOf([createRateLimiter({ store: createMemoryRateStateStore(), now })], rate, now);
      for (const { wait, act, daemon } of acts) {
        time += wait;
        const at = await forecast(act, daemon);
        expect(await alone(act, daemon)).toBe(at);
        expect(await shared(act, daemon)).toBe(at);
      }
    };
    await fc.assert(fc.asyncProperty(rates, steps, prove), { numRuns: 100 });
  });
});

describe('the slots of a destination', () => {
  test('answers of messages that were in flight together add up to one wait', async () => {
    const { redis, prefix } = openTestRedis();
    const rateLimiter = createRateLimiter({ store: createRateStateStore(redis, prefix), now: () => 1000 });
    await rateLimiter.hold(PACED, 6000);
    await rateLimiter.hold(PACED, 6000);
    expect((await rateLimiter.reserve(PACED, {})).at).toBe(6000);
    expect((await rateLimiter.reserve(PACED, {}, { at: 2000, shift: 0 })).at).toBe(7000);
  });

  test('no minute, wherever it begins, has more messages than the rate says, and none is slower than it must be', async () => {
    const { redis, prefix } = openTestRedis();
    const rateLimiter = createRateLimiter({ store: createRateStateStore(redis, prefix), now: () => 0 });
    const at: number[] = [];
    for (let n = 0; n < 80; n += 1) {
      at.push((await rateLimiter.reserve(PACED, { perSecond: 1, perMinute: 20, burst: 3 })).at);
    }
    const inMinuteFrom = (begin: number) => at.filter((each) => each >= begin && each < begin + 60_000).length;
    expect(Math.max(...at.map(inMinuteFrom))).toBe(20);
    expect(at.slice(0, 5)).toEqual([0, 0, 0, 1000, 2000]);
    expect(at[20]).toBe(60_500);
  });

  test('a stated wait moves the slots of the minute, too', async () => {
    const { redis, prefix } = openTestRedis();
    const rateLimiter = createRateLimiter({ store: createRateStateStore(redis, prefix), now: () => 0 });
    const rate: Rate = { perMinute: 2 };
    for (const at of [0, 0, 60_500]) expect((await rateLimiter.reserve(PACED, rate)).at).toBe(at);
    await rateLimiter.hold(PACED, 10_000);
    for (const at of [60_500, 131_000]) expect((await rateLimiter.reserve(PACED, rate)).at).toBe(at);
  });

  test('who comes late does not hold up those that have gone on meanwhile', async () => {
    const { rateLimiter, time } = setUpDeliveries();
    const rate = { perSecond: 1 };
    await rateLimiter.reserve(DESTINATION, rate);
    const missed = await rateLimiter.reserve(DESTINATION, rate);
    for (const _ of range(1, 60)) {
      time.now += 1000;
      await rateLimiter.take(DESTINATION, rate);
    }
    const late = await rateLimiter.reserve(DESTINATION, rate, missed);
    const next = await rateLimiter.reserve(DESTINATION, rate);
    expect([late.at, next.at].map((at) => at - time.now)).toEqual([1000, 2000]);
  });
});

describe('a clock that is set back by an hour', () => {
  const HOUR_MS = 3_600_000;

  test('keeps the distance between slots, and nobody waits for the hour', async () => {
    const { redis, prefix } = openTestRedis();
    const time = { now: NOW };
    const rateLimiter = daemonOn(redis, prefix, () => time.now);
    const rate = { perSecond: 1, perMinute: 30 };
    const held: Slot[] = [];
    for (const _ of range(1, 5)) held.push(await rateLimiter.reserve(PACED, rate));
    expect(ats(held)).toEqual(every(1000, 5));
    time.now -= HOUR_MS;
    const moved = await Promise.all(held.map((slot) => rateLimiter.reserve(PACED, rate, slot)));
    expect(moved.map(({ at }) => at - time.now)).toEqual(every(1000, 5));
    expect((await rateLimiter.reserve(PACED, rate)).at).toBe(time.now + 5000);
    // The same for what was moved, and for a daemon that has not seen any of it.
    const other = daemonOn(redis, prefix, () => time.now);
    expect((await other.reserve(PACED, rate, moved[4])).at).toBe(time.now + 4000);
    expect((await other.reserve(PACED, rate)).at).toBe(time.now + 6000);
  });

  test('ends a wait that the provider named no later than it named it', async () => {
    const { redis, prefix } = openTestRedis();
    const time = { now: NOW };
    const rateLimiter = daemonOn(redis, prefix, () => time.now);
    await rateLimiter.hold(PACED, NOW + 30_000);
    time.now -= HOUR_MS;
    expect((await rateLimiter.reserve(PACED, { perSecond: 1 })).at).toBe(time.now + 30_000);
  });

  test('makes no job wait for its slot where the destination has no rate, so that nothing of it is kept', async () => {
    const { redis, prefix } = openTestRedis();
    const time = { now: NOW };
    const rateLimiter = daemonOn(redis, prefix, () => time.now);
    const slot = await rateLimiter.reserve(PACED, {});
    time.now -= HOUR_MS;
    expect((await rateLimiter.reserve(PACED, {}, slot)).at).toBe(time.now);
  });

  test('is no clock that differs a little from another daemon: then slots stay as they are', async () => {
    const { redis, prefix } = openTestRedis();
    const behind = daemonOn(redis, prefix, () => NOW - 2000);
    await daemonOn(redis, prefix).reserve(PACED, { perSecond: 1 });
    expect((await behind.reserve(PACED, { perSecond: 1 })).at).toBe(NOW + 1000);
  });
});
