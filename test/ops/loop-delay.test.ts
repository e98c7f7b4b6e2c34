import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createLoopDelay } from '../../src/ops/loop-delay.ts';

const setUp = async () => {
  const delay = createLoopDelay();
  onTestFinished(delay.stop);
  await sleep(50);
  delay.worstMs();
  return delay;
};

const block = (ms: number): void => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

test('a blocked event loop is noticed', async () => {
  const delay = await setUp();
  block(200);
  await sleep(10);
  expect(delay.worstMs()).toBeGreaterThanOrEqual(195);
});

test('all that runs before others have a turn is one block', async () => {
  const delay = await setUp();
  block(60);
  await Promise.resolve();
  block(60);
  await sleep(10);
  expect(delay.worstMs()).toBeGreaterThanOrEqual(115);
});

test('an event loop that waits is not blocked, and is not woken up', async () => {
  const delay = await setUp();
  delay.rounds.reset();
  await sleep(500);
  expect(delay.worstMs()).toBeLessThan(400);
  expect(delay.rounds.count).toBeLessThan(20);
});
