import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { createLoopDelay } from '../../src/ops/loop-delay.ts';

const run = promisify(execFile);

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

/** In a process of its own: in this one, what other tests leave behind for a moment turns the loop as well. */
const IDLE = `
  const { createLoopDelay } = await import(process.argv[1]);
  const delay = createLoopDelay();
  await new Promise((done) => setTimeout(done, 50));
  delay.worstMs();
  delay.rounds.reset();
  await new Promise((done) => setTimeout(done, 500));
  console.log(JSON.stringify({ worstMs: delay.worstMs(), rounds: delay.rounds.count }));
`;

test('an event loop that waits is not blocked, and is not woken up', async () => {
  const module = new URL('../../src/ops/loop-delay.ts', import.meta.url).href;
  const options = { env: { PATH: process.env.PATH, NODE_NO_WARNINGS: '1' } };
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', IDLE, module], options);
  const { worstMs, rounds } = JSON.parse(stdout) as { worstMs: number; rounds: number };
  expect(worstMs).toBeLessThan(400);
  expect(rounds).toBeLessThan(20);
});
