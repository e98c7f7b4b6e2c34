/** The rule itself, without a store. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  EMPTY_STATE,
  hold,
  LATE_MS,
  NEAR_MS,
  type Rate,
  type RateState,
  reserve,
  rest,
  take,
} from '../../src/deliver/rate-limit-rule.ts';

/** Moments of slots that are reserved one after the other, each at its time. */
const slotsOf = (rate: Rate, times: readonly number[], begin: RateState = EMPTY_STATE) => {
  const slots: number[] = [];
  const state = times.reduce((before, at) => {
    const reserved = reserve(before, at, rate);
    slots.push(reserved.slot.at);
    return reserved.state;
  }, begin);
  return { slots, state };
};

const times = (count: number, at = 0): number[] => Array.from({ length: count }, () => at);

describe('a slot', () => {
  test('without a limit is at once', () => {
    expect(slotsOf({ burst: 3 }, [5, 5, 5, 6]).slots).toEqual([5, 5, 5, 6]);
  });

  test('is an interval after the one before it, but for a burst', () => {
    expect(slotsOf({ perSecond: 2, burst: 3 }, times(5, 1000)).slots).toEqual([1000, 1000, 1000, 1500, 2000]);
  });

  test('is a whole millisecond, and none is lost by that', () => {
    expect(slotsOf({ perSecond: 3 }, times(4, 1000)).slots).toEqual([1000, 1334, 1667, 2000]);
  });

  test('of a fraction of a message a minute comes in a longer time', () => {
    expect(slotsOf({ perMinute: 0.5 }, times(3)).slots).toEqual([0, 120_500, 241_000]);
  });

  test('that is reserved changes nothing of the state before it', () => {
    const { state } = slotsOf({ perMinute: 3 }, [1, 2]);
    const copy = structuredClone(state);
    reserve(state, 3, { perMinute: 3, perSecond: 1 });
    hold(state, 3, 9000);
    rest(state, 3);
    expect(state).toEqual(copy);
  });

  test('that limits nothing any more is forgotten, the newest excepted', () => {
    const rate = { perMinute: 600 };
    const { slots, state } = slotsOf(
      rate,
      times(1000).map((_, n) => n * 1000),
    );
    expect(slots.slice(-2)).toEqual([998_000, 999_000]);
    expect(state.latest).toHaveLength(121);
    expect(reserve(state, 9_000_000, rate).state.latest).toEqual([9_000_000, 999_000]);
  });

  test('is not forgotten while it limits: a burst, and a rate that becomes slower', () => {
    const rate = { perMinute: 100 };
    const { state } = slotsOf(rate, [...times(100), 60_499, 60_500]);
    expect(state.latest.slice(0, 3)).toEqual([60_500, 60_500, 0]);
    const { slots } = slotsOf({ perMinute: 0.1 }, [200_000, 300_000], slotsOf(rate, [0, 150_000]).state);
    expect(slots).toEqual([750_500, 1_351_000]);
  });

  test('is taken only where it is near', () => {
    const rate = { perSecond: 1 };
    const { state } = slotsOf(rate, [0]);
    expect(take(state, 1000 - NEAR_MS - 1, rate)).toEqual({ state, slot: undefined });
    expect(take(state, 1000 - NEAR_MS, rate).slot).toEqual({ at: 1000, shift: 0 });
  });

  test('that is held is the same one, until it was missed', () => {
    const rate = { perSecond: 1 };
    const { state } = slotsOf(rate, times(3));
    const held = { at: 1000, shift: 0 };
    expect(reserve(state, 1000 + LATE_MS, rate, held)).toEqual({ state, slot: held });
    expect(reserve(state, 3001, rate, held).slot.at).toBe(3001);
  });

  test('that was missed, as all stood still, is the next free one: no time has more slots than the rate says', () => {
    const rate = { perSecond: 1, perMinute: 10 };
    const { slots, state } = slotsOf(rate, times(5, 1000));
    const late = 60_000;
    let now = state;
    const found = slots.slice(1).map((at) => {
      const { state: after, slot } = reserve(now, late, rate, { at, shift: 0 });
      now = after;
      return slot.at;
    });
    expect(found).toEqual([60_000, 61_000, 62_000, 63_000]);
    expect(reserve(now, late, rate).slot.at).toBe(64_000);
  });
});

describe('a stated wait', () => {
  test('moves each slot that is still to come, in whatever order they were reserved', () => {
    const held = hold({ ...EMPTY_STATE, latest: [10, 20, 5] }, 15, 100);
    expect(held.state.latest).toEqual([10, 105, 5]);
  });

  test('moves what is to come, and not what was', () => {
    const rate = { perSecond: 1, perMinute: 3 };
    const { state } = slotsOf(rate, times(3));
    const held = hold(state, 500, 10_000);
    expect(held.slot).toEqual({ at: 10_000, shift: 9500 });
    expect(held.state.latest).toEqual([11_500, 10_500, 0]);
    expect(reserve(held.state, 500, rate, { at: 1000, shift: 0 }).slot).toEqual({ at: 10_500, shift: 9500 });
    expect(reserve(held.state, 500, rate).slot.at).toBe(60_500);
  });

  test('that comes several times from messages that were in flight together is one', () => {
    const once = hold(EMPTY_STATE, 1000, 6000);
    const twice = hold(once.state, 1000, 6000);
    expect(twice).toEqual(once);
    expect(hold(once.state, 1200, 7000).state).toMatchObject({ hold: 7000, shift: 6000 });
  });
});

test('the rest after digests grows, until it was quiet', () => {
  let state = EMPTY_STATE;
  const rested = [0, 1000, 3000, 7000, 15_000, 25_000, 35_000, 80_000].map((at) => {
    state = rest(state, at);
    return reserve(state, at, {}).slot.at - at;
  });
  expect(rested).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000, 10_000, 1000]);
});

test('no time, wherever it begins, has more slots than the rate says', () => {
  const rates = fc.record({
    perSecond: fc.constantFrom(0.5, 1, 3, 30),
    perMinute: fc.constantFrom(1, 7, 20, 100),
    burst: fc.constantFrom(1, 3, 10),
  });
  const waits = fc.array(fc.constantFrom(0, 0, 1, 200, 1000, 7000, 61_000), { minLength: 1, maxLength: 150 });
  fc.assert(
    fc.property(rates, waits, (rate, between) => {
      let now = 0;
      const { slots } = slotsOf(
        rate,
        between.map((ms) => (now += ms)),
      );
      const mostWithin = (ms: number): number =>
        Math.max(...slots.map((from) => slots.filter((at) => at >= from && at < from + ms).length));
      expect(slots).toEqual(slots.toSorted((a, b) => a - b));
      expect(mostWithin(60_000)).toBeLessThanOrEqual(rate.perMinute);
      // A burst, and one for each interval that begins within the time.
      expect(mostWithin(10_000)).toBeLessThanOrEqual(rate.burst + Math.ceil(10 * rate.perSecond));
    }),
  );
});
