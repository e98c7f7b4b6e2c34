import { expect, test } from 'vitest';
import { pause } from '../../src/deliver/job-stages.ts';
import { handed, jobOf, jobRun, NOW, now } from '../support/delivery-runs.ts';
import { makeAlert } from '../support/numbered.ts';

const UNTIL = NOW + 30_000;
const HOUR = 3_600_000;

const setUp = () => {
  const done: string[] = [];
  const batching = {
    batches: {
      add: async (_destination: unknown, alerts: readonly unknown[]) => {
        done.push(`add ${alerts.length}`);
        return [4];
      },
      seal: async (_destination: unknown, number: number) => {
        done.push(`seal ${number}`);
        return [];
      },
    },
    enqueueBatch: async (_destination: unknown, number: number) => void done.push(`enqueue ${number}`),
  };
  return { done, batching };
};

test('a destination that takes messages pauses nothing', async () => {
  const { done, batching } = setUp();
  expect(await pause(jobRun(jobOf([1]), { alerts: [makeAlert(1)] }), handed({ batching, now }))).toBeUndefined();
  expect(done).toEqual([]);
});

test('a fresh job for people joins the batch and is done', async () => {
  const { done, batching } = setUp();
  const run = jobRun(jobOf([1, 2]), { alerts: [makeAlert(2)], pausedUntil: UNTIL });
  expect(await pause(run, handed({ batching, now }))).toEqual({ done: true });
  expect(done).toEqual(['add 1', 'enqueue 4']);
});

test('what was tried, and what a program reads, waits by itself and ages meanwhile', async () => {
  const { done, batching } = setUp();
  const tried = jobOf([1], { attempt: 1, firstTriedAt: NOW - 10 });
  const fresh = jobOf([1]);
  expect(await pause(jobRun(tried, { pausedUntil: UNTIL }), handed({ batching, now }))).toEqual({
    done: false,
    runAt: UNTIL,
    data: tried,
  });
  expect(await pause(jobRun(fresh, { pausedUntil: UNTIL }), handed({ now }))).toEqual({
    done: false,
    runAt: UNTIL,
    data: { ...fresh, firstTriedAt: NOW },
  });
  expect(done).toEqual([]);
});

test('a batch that waits for more than an hour is sealed: its age cannot kill newer alerts', async () => {
  const { done, batching } = setUp();
  const batchOf = (firstTriedAt: number) => jobRun(jobOf([], { batchNumber: 7, firstTriedAt }), { pausedUntil: UNTIL });
  await pause(batchOf(NOW - HOUR), handed({ batching, now }));
  expect(done).toEqual([]);
  await pause(batchOf(NOW - HOUR - 1), handed({ batching, now }));
  expect(done).toEqual(['seal 7']);
});
