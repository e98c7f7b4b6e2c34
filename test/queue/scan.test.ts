import { Queue } from 'bullmq';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createBatchStore } from '../../src/queue/batch-store.ts';
import { batchJobId, parcelJob } from '../../src/queue/job.ts';
import type { ProcessParcel } from '../../src/queue/parcel-worker.ts';
import { createPlaces } from '../../src/queue/places.ts';
import { createParcelQueues } from '../../src/queue/queues.ts';
import { createJobScan } from '../../src/queue/scan.ts';
import { queueName } from '../../src/queue/settings.ts';
import { destinationOf } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const DESTINATION = destinationOf('slack', 'C1');
const carried = (n: number) => ({ alert: makeAlert(n).id, destination: DESTINATION.id });
const parcel = (...numbers: number[]) => ({ destination: DESTINATION, alerts: numbers.map((n) => makeAlert(n)) });

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const queues = createParcelQueues({ redis, prefix, onError: () => {} });
  const queue = new Queue(queueName('slack'), { connection: redis, prefix });
  onTestFinished(async () => {
    await Promise.all([queues.close(), queue.close()]);
  });
  const { withoutJob } = createJobScan(redis, prefix);
  const missing = async (...numbers: number[]): Promise<number[]> => {
    const found = await withoutJob('slack', numbers.map(carried));
    return numbers.filter((n) => found.some(({ alert }) => alert === carried(n).alert));
  };
  const work = (process: ProcessParcel): void => {
    const worker = queues.work('slack', createPlaces(1), process, () => {});
    onTestFinished(() => worker.stop(0));
  };
  return { queues, queue, missing, withoutJob, work, batches: createBatchStore(redis, prefix) };
};

describe('the inventory', () => {
  test('finds what waits, whichever parcel carries it, and only at its destination', async () => {
    const { queues, missing, withoutJob } = setUp();
    await queues.enqueue([parcel(1, 2), parcel(3)]);
    expect(await missing(1, 2, 3, 4)).toEqual([4]);
    const elsewhere = { ...carried(1), destination: destinationOf('slack', 'C2').id };
    expect(await withoutJob('slack', [elsewhere])).toEqual([elsewhere]);
    expect(await withoutJob('email', [carried(1)])).toEqual([carried(1)]);
    expect(await withoutJob('slack', [])).toEqual([]);
  });

  test('finds what is being sent and what was put off', async () => {
    const { queues, missing, work } = setUp();
    const held = Promise.withResolvers<void>();
    const begun: string[] = [];
    work(async (job) => {
      begun.push(job.alerts[0]?.itemId ?? '');
      if (begun.length === 1) return { done: false, runAt: Date.now() + 3_600_000, data: job };
      await held.promise;
      return { done: true };
    });
    await queues.enqueue([parcel(1)]);
    await until('the first is put off', async () => (await queues.counts()).some(({ delayed }) => delayed === 1));
    await queues.enqueue([parcel(2)]);
    await until('the second is being sent', () => begun.length === 2);
    await queues.enqueue([parcel(3)]);
    const found = await missing(1, 2, 3, 4);
    held.resolve();
    expect(found).toEqual([4]);
  });

  test('finds what waits in a batch, open or sealed, but not without the job that will send it', async () => {
    const { queues, queue, missing, batches } = setUp();
    const [first = 0] = await batches.add(DESTINATION, parcel(1).alerts);
    expect(await missing(1)).toEqual([1]);
    await queues.enqueueBatch(DESTINATION, first, []);
    expect(await missing(1, 2)).toEqual([2]);
    await batches.seal(DESTINATION, first);
    const [second = 0] = await batches.add(DESTINATION, parcel(2).alerts);
    expect(await missing(1, 2)).toEqual([2]);
    await queues.enqueueBatch(DESTINATION, second, []);
    expect(await missing(1, 2)).toEqual([]);
    await queue.remove(batchJobId(DESTINATION, first));
    expect(await missing(1, 2)).toEqual([1]);
  });

  test('a job that is done, removed or failed for good carries nothing any more', async () => {
    const { queues, queue, missing, work } = setUp();
    await queue.add('parcel', parcelJob(parcel(2)), { attempts: 1, jobId: 'fails' });
    await queues.enqueue([parcel(1)]);
    const process: ProcessParcel = async (job) => {
      if (job.alerts[0]?.itemId === 'item-2') throw new Error('stalled, say');
      return { done: true };
    };
    work(process);
    await until('one has failed', async () => (await queues.counts()).some(({ failed }) => failed === 1));
    await until('the other is done', async () => (await missing(1)).length === 1);
    expect(await missing(1, 2)).toEqual([1, 2]);
  });
});
