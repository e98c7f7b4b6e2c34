/** The jobs of a worker that is gone start again at once; those of others go on undisturbed. */
import { expect, onTestFinished, test } from 'vitest';
import { createPlaces } from '../../src/queue/places.ts';
import { createParcelQueues } from '../../src/queue/queues.ts';
import { queueKey } from '../../src/queue/settings.ts';
import { createAbandonedJobs } from '../../src/queue/stuck-jobs.ts';
import { destinationOf } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const parcel = (n: number) => ({ destination: destinationOf('slack', 'C1'), alerts: [makeAlert(n)] });

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const queues = createParcelQueues({ redis, prefix, onError: () => {} });
  const { promise: end, resolve: endAll } = Promise.withResolvers<{ done: true }>();
  const runs: string[] = [];
  const startWorker = (name: string, concurrency: number) => {
    const worker = queues.work(
      'slack',
      // It takes no more from the queue than it runs.
      { ...createPlaces(20), jobs: concurrency },
      ({ alerts }) => {
        runs.push(`${name} ${alerts[0]?.itemId}`);
        return end;
      },
      () => {},
    );
    onTestFinished(() => worker.stop(0));
    return worker;
  };
  onTestFinished(() => queues.close());
  return { redis, prefix, queues, runs, startWorker, endAll };
};

test('only the jobs of the named workers are freed, and the next check starts them', async () => {
  const { redis, prefix, queues, runs, startWorker, endAll } = setUp();
  const { free } = createAbandonedJobs(redis, prefix);
  const gone = startWorker('gone', 2);
  await queues.enqueue([parcel(1), parcel(2)]);
  await until('two run', () => runs.length === 2);
  const alive = startWorker('alive', 3);
  onTestFinished(() => endAll({ done: true }));
  await queues.enqueue([parcel(3)]);
  await until('three run', () => runs.length === 3);

  expect(await free('deliver-slack', [])).toBe(0);
  expect(await free('deliver-slack', ['nobody'])).toBe(0);
  expect(await free('deliver-email', [gone.id])).toBe(0);
  // Somebody has to look when the next delayed job is due, in the place of the one that is gone.
  expect(await redis.zscore(queueKey(prefix, 'deliver-email', 'marker'), '0')).toBe('0');
  expect(await free('deliver-slack', [gone.id])).toBe(2);
  await alive.checkStalled();
  await until('they run again', () => runs.length === 5);
  expect(runs.slice(3).map((run) => run.split(' ')[0])).toEqual(['alive', 'alive']);
  expect(await free('deliver-slack', [gone.id])).toBe(0);
});

test('a job that has lost its lock starts again, although nobody knows that its worker is gone', async () => {
  const { redis, prefix, queues, runs, startWorker, endAll } = setUp();
  startWorker('gone', 1);
  await queues.enqueue([parcel(1)]);
  await until('it runs', () => runs.length === 1);
  startWorker('alive', 1);
  onTestFinished(() => endAll({ done: true }));
  const [id = ''] = await redis.lrange(queueKey(prefix, 'deliver-slack', 'active'), 0, -1);
  await redis.del(queueKey(prefix, 'deliver-slack', `${id}:lock`));
  await until('it runs again', () => runs.length === 2);
});
