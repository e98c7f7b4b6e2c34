import { expect, test } from 'vitest';
import { createLifecycle } from '../../src/app/lifecycle.ts';

const setUp = (stepMs = 1000) => {
  const lines: { step?: string; message: string }[] = [];
  const log = { warn: ({ step }: { step: string }, message: string) => void lines.push({ step, message }) };
  return { lines, ...createLifecycle(log as never, stepMs) };
};

test('stops in reverse order, once however often it is asked', async () => {
  const { onStop, stop } = setUp();
  const stopped: string[] = [];
  for (const name of ['redis', 'queues', 'poll']) onStop(name, () => void stopped.push(name));
  expect(await Promise.all([stop(), stop()])).toEqual([true, true]);
  expect(stopped).toEqual(['poll', 'queues', 'redis']);
});

test('a step that fails or hangs is logged by name, and the others still stop', async () => {
  const { onStop, stop, lines } = setUp(20);
  const stopped: string[] = [];
  onStop('redis', () => void stopped.push('redis'));
  onStop('queues', () => new Promise<void>(() => {}));
  onStop('poll', () => Promise.reject(new Error('it broke')));
  expect(await stop()).toBe(false);
  expect(stopped).toEqual(['redis']);
  expect(lines.map(({ step }) => step)).toEqual(['poll', 'queues']);
});

test('there may be nothing to stop', async () => {
  expect(await setUp().stop()).toBe(true);
});
