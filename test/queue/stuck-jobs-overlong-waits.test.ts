/** A clock that is set back by an hour keeps no delayed job waiting for that hour. */
import { Queue } from 'bullmq';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createPlaces } from '../../src/queue/places.ts';
import { createParcelQueues } from '../../src/queue/queues.ts';
import { queueName } from '../../src/queue/settings.ts';
import { createOverlongWaits } from '../../src/queue/stuck-jobs.ts';
import { destinationOf } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const HOUR_MS = 3_600_000;
const SLACK = destinationOf('slack', 'C1');
const NAME = queueName('slack');

const realNow = Date.now;
const setClockBack = (ms: number): void => {
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() - ms);
};

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const queues = createParcelQueues({ redis, prefix, onError: () => {} });
  const queue = new Queue(NAME, { connection: redis, prefix });
  onTestFinished(async () => {
    vi.restoreAllMocks();
    await Promise.all([queues.close(), queue.close()]);
  });
  const time = { monotonic: 0 };
  const check = createOverlongWaits({
    redis,
    prefix,
    queues: [NAME, 'deadlines'],
    now: () => Date.now(),
    monotonic: () => time.monotonic,
  });
  return {
    queues,
    check,
    time,
    enqueue: (delayMs: number, ...numbers: number[]) =>
      queues.enqueue(
        numbers.map((n) => ({ destination: SLACK, alerts: [makeAlert(n)] })),
        undefined,
        delayMs,
      ),
    /** When each delayed job is due from now, in milliseconds. */
    dueIn: async () => {
      const scores = (await redis.zrange(`${prefix}:${NAME}:delayed`, '0', '-1', 'WITHSCORES')).filter((_, n) => n % 2);
      return scores.map((score) => Math.floor(Number(score) / 4096) - Date.now());
    },
  };
};

test('after the wait that was asked for, and not after an hour, it runs', async () => {
  const { queues, check, time, enqueue } = setUp();
  await enqueue(500, 1);
  setClockBack(HOUR_MS);
  const taken: string[] = [];
  const worker = queues.work(
    'slack',
    createPlaces(1),
    async ({ alerts }) => {
      taken.push(...alerts.map(({ id }) => id));
      return { done: true };
    },
    () => {},
  );
  onTestFinished(() => worker.stop(0));
  expect(await check()).toBe(0);
  time.monotonic += 6000;
  expect(await check()).toBe(1);
  await until('the job runs', () => taken.length === 1);
  expect(await check()).toBe(0);
});

test('a clock that is set back just as a run ends makes its wait no longer', async () => {
  const { queues, enqueue, dueIn } = setUp();
  await enqueue(0, 1);
  const worker = queues.work(
    'slack',
    createPlaces(1),
    async (job) => {
      // After the verdict is taken, and before Redis answers the next command.
      setImmediate(() => setClockBack(HOUR_MS));
      return { done: false, runAt: Date.now() + 60_000, data: job };
    },
    () => {},
  );
  onTestFinished(() => worker.stop(0));
  await until('the job waits', async () => (await dueIn()).length === 1);
  expect((await dueIn())[0]).toBeLessThanOrEqual(60_000);
});

test('all of many are moved, each by its own wait, and those that wait as asked for stay', async () => {
  const { check, time, enqueue, dueIn } = setUp();
  const numbers = Array.from({ length: 1200 }, (_, n) => n);
  await enqueue(60_000, ...numbers);
  await enqueue(600_000, 2000);
  setClockBack(HOUR_MS);
  await enqueue(7_000_000, 2001);
  expect(await check()).toBe(0);
  time.monotonic += 66_000;
  expect(await check()).toBe(1201);
  const due = await dueIn();
  expect(due).toHaveLength(1202);
  expect(due.filter((ms) => ms <= 60_000)).toHaveLength(1200);
  expect(due.filter((ms) => ms > 60_000 && ms <= 600_000)).toHaveLength(1);
  expect(Math.max(...due)).toBeGreaterThan(6_000_000);
});

test('nothing is moved before a daemon whose clock is ahead would have taken it', async () => {
  const { check, time, enqueue, dueIn } = setUp();
  await enqueue(30_000, 1);
  setClockBack(HOUR_MS);
  expect(await check()).toBe(0);
  time.monotonic += 30_000;
  expect(await check()).toBe(0);
  expect(await dueIn()).toEqual([expect.any(Number)]);
  expect((await dueIn())[0]).toBeGreaterThan(HOUR_MS - 60_000);
});
