/**
 * The floor: what a durable queue costs when it does nothing else. Ten alerts are a job, `addBulk` puts a hundred jobs
 * into Redis at once, one worker sends each alert as a signed POST. No reading, no ledger, no limits, no retries.
 */
import { Queue, Worker } from 'bullmq';
import { Pool } from 'undici';
import { chunksOf } from '../../src/chunks.ts';
import { bodyOf, post } from './post.ts';
import { type Spent, startWatch } from './watch.ts';

interface Posting {
  id: string;
  body: string;
}

const A_JOB = 10;
const A_CALL = 100;
/** Jobs at once; each sends its ten at once. */
const CONCURRENCY = 10;
const CONNECTIONS = 50;
const QUEUE = 'floor';

export interface FloorOrder {
  redisUrl: string;
  url: string;
  /** The number of the first alert. */
  from: number;
  count: number;
  /** Of the text that makes an alert large. Default: none. */
  bytes?: number | undefined;
}

const jobsOf = ({ from, count, bytes }: FloorOrder) => {
  const postings = Array.from({ length: count }, (_, index): Posting => {
    const n = from + index;
    return { id: `floor-${n}`, body: bodyOf(n, bytes) };
  });
  const opts = { removeOnComplete: true };
  return chunksOf(postings, A_JOB).map((data) => ({ name: 'alerts', data, opts }));
};

/** Gives what it took from the first job that was added, without making the alerts. */
export const forwardInTens = async (order: FloorOrder): Promise<Spent> => {
  const { hostname: host, port } = new URL(order.redisUrl);
  const connection = { host, port: Number(port) };
  const queue = new Queue<Posting[]>(QUEUE, { connection });
  const pool = new Pool(order.url, { connections: CONNECTIONS });
  const jobs = jobsOf(order);
  const done = Promise.withResolvers<void>();
  let left = jobs.length;
  const send = async ({ data }: { data: Posting[] }): Promise<void> => {
    await Promise.all(data.map(({ id, body }) => post(pool, id, body)));
  };
  const worker = new Worker<Posting[]>(QUEUE, send, { connection, concurrency: CONCURRENCY });
  worker.on('completed', () => {
    left -= 1;
    if (left === 0) done.resolve();
  });
  worker.on('failed', (_, error) => done.reject(error));
  await worker.waitUntilReady();
  const spent = startWatch();
  for (const chunk of chunksOf(jobs, A_CALL)) await queue.addBulk(chunk);
  await done.promise;
  const result = spent();
  await Promise.all([worker.close(), queue.close(), pool.close()]);
  return result;
};
