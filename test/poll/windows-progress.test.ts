import { describe, expect, test } from 'vitest';
import { createProgress } from '../../src/poll/windows.ts';
import { makeItem, T0 } from '../support/items.ts';

const LOOKBACK = 60_000;

const setUp = (isSweep: boolean) => {
  const time = { now: T0 + 30_000, skew: 0 };
  const clock = () => time.now + time.skew;
  const now = () => time.now;
  const progress = createProgress({ clock, now, begun: clock(), ownBegun: now(), isSweep, lookback: LOOKBACK });
  const count = (...seconds: number[]) =>
    progress.count(seconds.map((n) => makeItem(n, { dates: { createdAt: T0 + n * 1000 } })));
  return { time, progress, count };
};

describe('a read moves the cursor', () => {
  test('not at all where no item came, or none with a date', () => {
    const { progress } = setUp(true);
    progress.count([]);
    progress.count([makeItem(1, { dates: {} })]);
    expect([progress.upTo(), progress.upTo(T0)]).toEqual([{}, {}]);
  });

  test('as far as the latest item, each by the earliest of its dates', () => {
    const { progress } = setUp(false);
    progress.count([makeItem(1, { dates: { createdAt: T0 + 5000, updatedAt: T0 + 90_000, txTimestamp: T0 + 3000 } })]);
    progress.count([
      makeItem(2, { dates: { createdAt: T0 + 4000 } }),
      makeItem(3, { dates: { createdAt: T0 + 1000 } }),
    ]);
    expect(progress.upTo()).toEqual({ position: T0 + 4000 });
    expect(progress.upTo(T0 + 1000)).toEqual({ position: T0 + 1000 });
    expect(progress.upTo(T0 + 9000)).toEqual({ position: T0 + 4000 });
  });

  test('to its latest item, and in the middle only to what is settled', () => {
    const { progress, count } = setUp(false);
    count(1, 7, 3);
    expect(progress.upTo(T0 + 5000)).toEqual({ position: T0 + 5000 });
    expect(progress.upTo()).toEqual({ position: T0 + 7000 });
  });

  test('never past the time at which it began: an item may be dated ahead', () => {
    const { time, progress, count } = setUp(false);
    count(3600);
    time.now += 10_000;
    expect(progress.upTo()).toEqual({ position: T0 + 30_000 });
  });

  test('by the clock of the service as the answers correct it', () => {
    const { time, progress, count } = setUp(false);
    count(3600);
    time.now += 10_000;
    time.skew = -5000;
    expect(progress.begun()).toBe(T0 + 25_000);
    expect(progress.upTo()).toEqual({ position: T0 + 25_000 });
    time.skew = 60_000;
    expect(progress.begun()).toBe(T0 + 30_000);
  });
});

test('a sweep that ended reached the time at which it began, and until then a lookback ahead of the position', () => {
  const { progress, count } = setUp(true);
  count(-50);
  expect(progress.upTo(T0 - 55_000)).toEqual({ position: T0 - 55_000, sweptTo: T0 + 5000 });
  count(20);
  expect(progress.upTo(T0 + 10_000)).toEqual({ position: T0 + 10_000, sweptTo: T0 + 30_000 });
  expect(progress.upTo()).toEqual({ position: T0 + 20_000, sweptTo: T0 + 30_000 });
});
