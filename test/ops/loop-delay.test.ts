import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createLoopDelay } from '../../src/ops/loop-delay.ts';

test('a blocked event loop is noticed', async () => {
  const delay = createLoopDelay();
  onTestFinished(delay.stop);
  // The first look is when it starts.
  await sleep(100);
  const end = performance.now() + 200;
  while (performance.now() < end);
  await sleep(100);
  expect(delay.worstMs()).toBeGreaterThanOrEqual(150);
});
