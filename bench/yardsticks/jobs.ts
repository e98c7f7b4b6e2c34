/** Bare jobs: each is added alone, run by a worker that does nothing, and removed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import { type Spent, startWatch } from './watch.ts';

const QUEUE = 'jobs';

export interface JobsOrder {
  redisUrl: string;
  perSecond: number;
  seconds: number;
}

export const runSingly = async ({ redisUrl, perSecond, seconds }: JobsOrder): Promise<Spent> => {
  const { hostname: host, port } = new URL(redisUrl);
  const connection = { host, port: Number(port) };
  const queue = new Queue(QUEUE, { connection });
  const done = Promise.withResolvers<void>();
  let left = perSecond * seconds;
  const worker = new Worker(QUEUE, async () => undefined, { connection });
  worker.on('completed', () => {
    left -= 1;
    if (left === 0) done.resolve();
  });
  worker.on('failed', (_, error) => done.reject(error));
  await worker.waitUntilReady();
  const spent = startWatch();
  for (let n = perSecond * seconds; n > 0; n -= 1) {
    await queue.add('alert', {}, { removeOnComplete: true });
    await sleep(1000 / perSecond);
  }
  await done.promise;
  const result = spent();
  await Promise.all([worker.close(), queue.close()]);
  return result;
};
