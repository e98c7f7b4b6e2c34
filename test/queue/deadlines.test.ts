/** Deadlines: each comes once, after its time, and again where its check failed. */
import { Queue } from 'bullmq';
import { expect, onTestFinished, test } from 'vitest';
import type { Alert } from '../../src/alert.ts';
import { createDeadlines } from '../../src/queue/deadlines.ts';
import { makeAlert } from '../support/numbered.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const errors: string[] = [];
  const deadlines = createDeadlines({ redis, prefix, onError: (_queue, error) => void errors.push(error.message) });
  const queue = new Queue('deadlines', { connection: redis, prefix });
  onTestFinished(async () => {
    await Promise.all([deadlines.close(), queue.close()]);
  });
  const work = (check: (alerts: readonly Alert[], id: string) => Promise<void>): void => {
    const worker = deadlines.work(2, check);
    onTestFinished(() => worker.stop(0));
  };
  return { deadlines, queue, errors, work };
};

test('alerts are checked after their time, in jobs of a hundred, and once', async () => {
  const { deadlines, work } = setUp();
  const alerts = Array.from({ length: 150 }, (_, n) => makeAlert(n));
  const setAt = Date.now();
  await deadlines.set(alerts, 300);
  await deadlines.set(alerts, 300);
  expect(await deadlines.counts()).toEqual({ name: 'deadlines', waiting: 0, delayed: 2, active: 0, failed: 0 });
  const checked: { ids: string[]; afterMs: number }[] = [];
  work(async (some) => {
    checked.push({ ids: some.map(({ id }) => id), afterMs: Date.now() - setAt });
  });
  await until('both jobs', () => checked.length === 2);
  expect(checked.map(({ ids }) => ids.length).sort()).toEqual([100, 50]);
  expect(new Set(checked.flatMap(({ ids }) => ids)).size).toBe(150);
  for (const { afterMs } of checked) expect(afterMs).toBeGreaterThanOrEqual(250);
  await until('nothing is left', async () => {
    const { waiting, delayed, active } = await deadlines.counts();
    return waiting + delayed + active === 0;
  });
});

test('a check that throws is repeated under the same id', async () => {
  const { deadlines, errors, work } = setUp();
  const ids: string[] = [];
  await deadlines.set([makeAlert(1)], 0);
  work(async (_alerts, id) => {
    ids.push(id);
    if (ids.length === 1) throw new Error('Redis was away');
  });
  await until('the second check', () => ids.length === 2, 15_000);
  expect(ids[1]).toBe(ids[0]);
  expect(errors).toContain('Redis was away');
});

test('a deadline that a newer daemon wrote is not judged', async () => {
  const { queue, errors, work } = setUp();
  let checks = 0;
  await queue.add('deadline', { v: 2, alerts: [] });
  work(async () => {
    checks += 1;
  });
  await until('the refusal', () => errors.includes('a deadline of version 2: this daemon reads 1'));
  expect(checks).toBe(0);
});
