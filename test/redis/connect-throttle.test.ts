import { expect, test } from 'vitest';
import { throttleErrors } from '../../src/redis/connect.ts';

const throttle = () => {
  const clock = { now: 0 };
  const told: [string, number][] = [];
  const report = throttleErrors({
    now: () => clock.now,
    onError: ({ message }, times) => told.push([message, times]),
  });
  return { clock, told, report };
};

test('equal errors come once in ten seconds, with their number', () => {
  const { clock, told, report } = throttle();
  for (let count = 0; count < 500; count += 1) report(new Error('OOM'));
  clock.now = 9_999;
  report(new Error('OOM'));
  expect(told).toEqual([['OOM', 1]]);
  clock.now = 10_000;
  report(new Error('OOM'));
  expect(told).toEqual([
    ['OOM', 1],
    ['OOM', 501],
  ]);
});

test('another error is logged at once', () => {
  const { told, report } = throttle();
  for (const message of ['reset', 'refused', 'reset']) report(new Error(message));
  expect(told).toEqual([
    ['reset', 1],
    ['refused', 1],
  ]);
});

test('texts that all differ do not pile up: the oldest is forgotten', () => {
  const { told, report } = throttle();
  for (let id = 0; id <= 100; id += 1) report(new Error(`job ${id}`));
  report(new Error('job 100'));
  expect(told).toHaveLength(101);
  report(new Error('job 0'));
  expect(told).toHaveLength(102);
});
