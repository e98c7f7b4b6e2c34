/** Whether a run still has the lock of its job, by a clock and a Redis of the test's own. */
import { expect, test } from 'vitest';
import { createJobLocks, type HoldsLock, LOCK_MS } from '../../src/queue/job-locks.ts';

const setUp = () => {
  const time = { now: 0 };
  const lost = new Set<string>();
  const asked: string[][] = [];
  const errors: string[] = [];
  const runLocked = createJobLocks({
    extend: async (jobs, tokens) => {
      asked.push(tokens);
      return jobs.filter((job) => lost.has(job));
    },
    onError: ({ message }) => void errors.push(message),
    monotonic: () => time.now,
  });
  /** Begins a run that ends when it is told to. */
  const begin = (token: string, agoMs = 0) => {
    const begun = Promise.withResolvers<HoldsLock>();
    const end = Promise.withResolvers<void>();
    const ended = runLocked({ id: 'job', token, agoMs }, (holdsLock) => {
      begun.resolve(holdsLock);
      return end.promise;
    });
    const finish = (): Promise<void> => {
      end.resolve();
      return ended;
    };
    return { begun: begun.promise, end: finish };
  };
  return { time, lost, asked, errors, begin };
};

test('nobody is asked while the lock was taken or renewed in time', async () => {
  const { time, asked, begin } = setUp();
  const run = begin('a', 1000);
  const holdsLock = await run.begun;
  time.now = LOCK_MS - 1001;
  expect(await holdsLock()).toBe(true);
  expect(asked).toEqual([]);
  time.now += 1;
  expect(await holdsLock()).toBe(true);
  time.now += LOCK_MS - 1;
  expect(await holdsLock()).toBe(true);
  expect(asked).toEqual([['a']]);
  await run.end();
});

test('a lock that is lost stays so, and is told once', async () => {
  const { time, lost, asked, errors, begin } = setUp();
  const run = begin('a');
  const holdsLock = await run.begun;
  lost.add('job');
  time.now = LOCK_MS;
  expect(await holdsLock()).toBe(false);
  lost.clear();
  expect(await holdsLock()).toBe(false);
  expect(asked).toHaveLength(1);
  expect(errors).toEqual(['the lock of job job is lost']);
  await run.end();
});

test('a second run of a job in one process begins when the first has ended, which has lost its lock', async () => {
  const { time, asked, begin } = setUp();
  const first = begin('a');
  const isHeld = await first.begun;
  const second = begin('b');
  let hasBegun = false;
  void second.begun.then(() => {
    hasBegun = true;
  });
  expect(await isHeld()).toBe(false);
  expect(hasBegun).toBe(false);
  await first.end();
  const holdsLock = await second.begun;
  // The end of the first one has not taken the second from those that are renewed.
  time.now = LOCK_MS;
  expect(await holdsLock()).toBe(true);
  expect(asked).toEqual([['b']]);
  await second.end();
});

test('where Redis refuses, the run fails like at any other question', async () => {
  const errors: unknown[] = [];
  const time = { now: 0 };
  const runLocked = createJobLocks({
    extend: () => Promise.reject(new Error('LOADING')),
    onError: (error) => void errors.push(error),
    monotonic: () => time.now,
  });
  const run = runLocked({ id: 'job', token: 'a', agoMs: LOCK_MS }, async (holdsLock) => void (await holdsLock()));
  await expect(run).rejects.toThrow('LOADING');
});

test('a lock that was given back while it was renewed is not lost', async () => {
  const errors: unknown[] = [];
  const time = { now: 0 };
  const answer = Promise.withResolvers<string[]>();
  const runLocked = createJobLocks({
    extend: () => answer.promise,
    onError: (error) => void errors.push(error),
    monotonic: () => time.now,
  });
  let renewed: unknown;
  await runLocked({ id: 'job', token: 'a', agoMs: 0 }, async (holdsLock) => {
    time.now = LOCK_MS;
    renewed = holdsLock();
  });
  answer.resolve(['job']);
  await renewed;
  expect(errors).toEqual([]);
});

test('nor is one of a job that goes back into the queue, where both answers come in the same moment', async () => {
  const errors: unknown[] = [];
  const time = { now: 0 };
  const runLocked = createJobLocks({
    extend: async (jobs) => jobs,
    onError: (error) => void errors.push(error),
    monotonic: () => time.now,
  });
  let renewed: unknown;
  await runLocked({ id: 'job', token: 'a', agoMs: 0 }, async (holdsLock) => {
    time.now = LOCK_MS;
    renewed = holdsLock();
    // As many turns as the way from Redis' answer to here may take.
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  });
  await renewed;
  expect(errors).toEqual([]);
});
