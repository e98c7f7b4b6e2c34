/** Workers of a Redis that has no memory left: they rest between two tries, and go on when it has. */
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { createDeadlines } from '../../src/queue/deadlines.ts';
import { createPlaces } from '../../src/queue/places.ts';
import { createParcelQueues } from '../../src/queue/queues.ts';
import { destinationOf } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';
import { ownRedis } from '../support/redis-server.ts';
import { until } from '../support/until.ts';

const setUp = async () => {
  const server = await ownRedis();
  const redis = new Redis(server.port, { maxRetriesPerRequest: null });
  const errors: string[] = [];
  const rests: (() => void)[] = [];
  const settings = {
    redis,
    prefix: '{rest}',
    onError: (_queue: string, { message }: Error) => void errors.push(message),
    rest: () => new Promise<void>((resolve) => rests.push(resolve)),
  };
  const queues = createParcelQueues(settings);
  const deadlines = createDeadlines(settings);
  onTestFinished(async () => {
    for (const end of rests) end();
    await Promise.all([queues.close(), deadlines.close()]);
    redis.disconnect();
    await server.remove();
  });
  return { redis, errors, rests, queues, deadlines };
};

test.each(['parcels', 'deadlines'] as const)('%s: one try, one rest', async (kind) => {
  const { redis, errors, rests, queues, deadlines } = await setUp();
  const taken: unknown[] = [];
  const parcel = { destination: destinationOf('slack', 'C1'), alerts: [makeAlert(1)] };
  await queues.enqueue([parcel]);
  await deadlines.set(parcel.alerts, 0);
  await redis.config('SET', 'maxmemory', '1');
  const workers = {
    parcels: () =>
      queues.work(
        'slack',
        createPlaces(2),
        async (job) => {
          taken.push(job);
          return { done: true };
        },
        () => {},
      ),
    deadlines: () => deadlines.work(2, async (alerts) => void taken.push(alerts)),
  };
  const worker = workers[kind]();
  onTestFinished(() => worker.stop(0));
  for (let count = 1; count <= 5; count += 1) {
    await until(`rest ${count}`, () => rests.length === count);
    if (count < 5) rests.at(-1)?.();
  }
  expect(errors[0]).toMatch(/OOM/);
  // The check for stalled jobs may fail beside the try.
  expect(errors.length).toBeLessThanOrEqual(2 * rests.length);
  expect(taken).toEqual([]);
  await redis.config('SET', 'maxmemory', '0');
  rests.at(-1)?.();
  await until('it is taken', () => taken.length === 1);
});
