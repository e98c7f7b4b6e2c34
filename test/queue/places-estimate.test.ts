import { expect, test } from 'vitest';
import { createEstimate, createOccupancy } from '../../src/queue/places.ts';

const setUp = (waitingOfKey: number) => {
  const time = { now: 0 };
  const waiting = createOccupancy();
  for (let n = 0; n < waitingOfKey; n += 1) waiting.add({ key: 'a', destination: `d${n}` }, 1);
  const estimate = createEstimate(() => time.now);
  const ends = (count: number, everyMs: number): void => {
    for (let n = 0; n < count; n += 1) {
      time.now += everyMs;
      estimate.ended({ key: 'a', destination: 'd0' });
    }
  };
  const waitsOf = (count: number): number[] =>
    Array.from({ length: count }, (_, n) => estimate.waitMsOf({ key: 'a', destination: `d${n}` }, waiting));
  return { ends, waitsOf };
};

test('jobs come back one after the other, as fast as jobs of their protocol end', () => {
  const { ends, waitsOf } = setUp(100);
  ends(100, 10);
  const [first = 0, second = 0, third = 0] = waitsOf(3);
  expect(first).toBeGreaterThanOrEqual(1000);
  expect(first).toBeLessThan(1100);
  expect([second - first, third - second]).toEqual([10, 10]);
});

test('nobody waits for longer than a minute, nor for so short that it is asked again and again', () => {
  const slow = setUp(100);
  slow.ends(3, 60_000);
  expect(Math.max(...slow.waitsOf(100))).toBe(60_000);
  const fast = setUp(1);
  fast.ends(1000, 0.01);
  expect(Math.min(...fast.waitsOf(1))).toBe(100);
});
