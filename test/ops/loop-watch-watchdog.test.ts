import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createSilenceWatch, type SilenceWatch, type Stuck } from '../../src/ops/loop-watch.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

let watchdog: SilenceWatch | undefined;

afterEach(() => {
  watchdog?.stop();
  vi.useRealTimers();
});

const watch = (boundMs: number) => {
  const stuck: Stuck[] = [];
  const lags: number[] = [];
  const loop = { beatAt: Date.now() };
  watchdog = createSilenceWatch({
    probes: [{ name: 'canary', boundMs, lastBeat: () => loop.beatAt }],
    onStuck: (found) => stuck.push(found),
    onLag: (lagMs) => lags.push(lagMs),
    now: Date.now,
  });
  return { stuck, lags, loop };
};

test('a loop that beats is left alone', () => {
  const { stuck, loop } = watch(5000);
  for (let second = 0; second < 60; second += 1) {
    vi.advanceTimersByTime(1000);
    loop.beatAt = Date.now();
  }
  expect(stuck).toEqual([]);
});

test('a loop that has stopped is reported once, and again when it stops again', () => {
  const { stuck, loop } = watch(5000);
  vi.advanceTimersByTime(60_000);
  expect(stuck).toEqual([{ name: 'canary', silentMs: 6000 }]);
  loop.beatAt = Date.now();
  vi.advanceTimersByTime(60_000);
  expect(stuck).toHaveLength(2);
});

test('after the machine slept every bound begins again', () => {
  const { stuck, lags } = watch(5000);
  vi.setSystemTime(Date.now() + 3_600_000);
  vi.advanceTimersByTime(1000);
  expect(lags.at(-1)).toBe(3_600_000);
  vi.advanceTimersByTime(5000);
  expect(stuck).toEqual([]);
  vi.advanceTimersByTime(1000);
  expect(stuck).toHaveLength(1);
});

test('sleeping does not end a silence that was reported already', () => {
  const { stuck } = watch(5000);
  vi.advanceTimersByTime(10_000);
  vi.setSystemTime(Date.now() + 3_600_000);
  vi.advanceTimersByTime(60_000);
  expect(stuck).toHaveLength(1);
});

test('stopped, it checks no more', () => {
  const { stuck } = watch(5000);
  watchdog?.stop();
  watchdog?.stop();
  vi.advanceTimersByTime(60_000);
  expect(stuck).toEqual([]);
});
