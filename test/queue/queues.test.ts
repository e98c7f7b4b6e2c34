/** The parcels' queues: each parcel is one job, runs until it is done, and a canary shows that its queue moves. */
import { expect, onTestFinished, test } from 'vitest';
import type { ParcelJob } from '../../src/queue/job.ts';
import type { ProcessParcel } from '../../src/queue/parcel-worker.ts';
import { createPlaces } from '../../src/queue/places.ts';
import { createParcelQueues } from '../../src/queue/queues.ts';
import { destinationOf } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const SLACK = destinationOf('slack', 'C1');
const OTHER = destinationOf('slack', 'C2');
const MAIL = destinationOf('email', 'ops@example.com');
const parcel = (destination = SLACK, ...numbers: number[]) => ({
  destination,
  alerts: numbers.map((n) => makeAlert(n)),
});

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const errors: string[] = [];
  const queues = createParcelQueues({ redis, prefix, onError: (_queue, { message }) => errors.push(message) });
  onTestFinished(() => queues.close());
  const countsOf = async (kind: string) => (await queues.counts()).find(({ name }) => name === `deliver-${kind}`);
  const work = (process: ProcessParcel, onTurn?: () => void) => {
    const worker = queues.work('slack', createPlaces(1), process, () => {}, onTurn);
    onTestFinished(() => worker.stop(0));
    return worker;
  };
  return { redis, prefix, queues, countsOf, work, errors };
};

test('a parcel is one job of its kind, unless a nonce makes a repeat deliberate', async () => {
  const { queues, countsOf } = setUp();
  await queues.enqueue([parcel(SLACK, 1, 2), parcel(MAIL, 1), parcel(SLACK, 1, 2)]);
  await queues.enqueue([parcel(SLACK, 1, 2)]);
  expect(await countsOf('slack')).toMatchObject({ waiting: 1, delayed: 0 });
  expect(await countsOf('email')).toMatchObject({ waiting: 1 });
  await queues.enqueue([parcel(SLACK, 1, 2)], 'retry 1');
  expect(await countsOf('slack')).toMatchObject({ waiting: 2 });
});

test('a job that is not done runs again with new data, and is gone once it is done', async () => {
  const { queues, countsOf, work } = setUp();
  const jobs: ParcelJob[] = [];
  await queues.enqueue([parcel(SLACK, 1)]);
  work(async (job) => {
    jobs.push(job);
    if (jobs.length === 2) return { done: true };
    return { done: false, runAt: Date.now() + 50, data: { ...job, attempt: job.attempt + 1 } };
  });
  await until('two runs', () => jobs.length === 2);
  expect(jobs.map(({ attempt, alerts }) => [attempt, alerts[0]?.id])).toEqual([
    [0, makeAlert(1).id],
    [1, makeAlert(1).id],
  ]);
  await until('the end', async () => (await countsOf('slack'))?.active === 0);
  expect(await countsOf('slack')).toMatchObject({ waiting: 0, delayed: 0, failed: 0 });
  await queues.enqueue([parcel(SLACK, 1)]);
  await until('a third run: a done job is not remembered', () => jobs.length === 3);
});

test('a job that has ended leaves nothing in Redis but events', async () => {
  const { redis, prefix, queues, work } = setUp();
  await queues.enqueue([parcel(SLACK, 1), parcel(SLACK, 2), parcel(OTHER, 1)]);
  let runs = 0;
  work(async () => {
    runs += 1;
    return { done: true };
  });
  const left = async () =>
    (await redis.keys(`${prefix}:deliver-slack:*`)).map((key) => key.split(':').at(-1)).toSorted();
  await until('they have ended', async () => runs === 3 && !(await left()).includes('active'));
  expect((await left()).filter((key) => key !== 'marker' && key !== 'pc')).toEqual(['events', 'id', 'meta']);
});

test('a run whose job another run has taken removes nothing of it', async () => {
  const { redis, prefix, queues, work, errors } = setUp();
  await queues.enqueue([parcel(SLACK, 1)]);
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  work(async () => {
    begun.resolve();
    await goOn.promise;
    return { done: true };
  });
  await begun.promise;
  const [lock = ''] = await redis.keys(`${prefix}:deliver-slack:*:lock`);
  await redis.set(lock, 'another worker', 'PX', 60_000);
  goOn.resolve();
  await until('it says so', () => errors.some((message) => message.includes('lock')));
  expect(await redis.get(lock)).toBe('another worker');
  expect(await redis.llen(`${prefix}:deliver-slack:active`)).toBe(1);
  expect(await redis.exists(lock.replace(/:lock$/, ''))).toBe(1);
});

test('jobs that come while the worker waits, runs or has just been woken are all taken', async () => {
  const { queues } = setUp();
  const taken: string[] = [];
  const worker = queues.work(
    'slack',
    createPlaces(5),
    async ({ alerts }) => {
      taken.push(alerts[0]?.id ?? '');
      return { done: true };
    },
    () => {},
  );
  onTestFinished(() => worker.stop(0));
  const numbers = Array.from({ length: 60 }, (_, n) => n);
  for (const n of numbers) {
    await queues.enqueue([parcel(n % 2 === 0 ? SLACK : OTHER, n)]);
    if (n % 7 === 0) await until('all so far', () => taken.length === n + 1, 3000);
  }
  await until('all', () => taken.length === numbers.length, 3000);
});

test('a parcel that another alert may cover waits and is marked as such', async () => {
  const { queues, countsOf, work } = setUp();
  const enqueuedAt = Date.now();
  await queues.enqueue([parcel(SLACK, 1)], undefined, 300);
  expect(await countsOf('slack')).toMatchObject({ waiting: 0, delayed: 1 });
  const runs: { job: ParcelJob; afterMs: number }[] = [];
  work(async (job) => {
    runs.push({ job, afterMs: Date.now() - enqueuedAt });
    return { done: true };
  });
  await until('its run', () => runs.length === 1);
  expect(runs[0]?.job.unlessCovered).toBe(true);
  expect(runs[0]?.afterMs).toBeGreaterThanOrEqual(250);
});

test('of many jobs of one protocol, another protocol waits for one', async () => {
  const { queues, work } = setUp();
  const flood = Array.from({ length: 300 }, (_, n) => parcel(destinationOf('slack', `C${n}`), n));
  await queues.enqueue(flood);
  await queues.enqueue([{ destination: SLACK, alerts: [makeAlert(1000, { protocol: 'Quiet' })] }]);
  await queues.enqueueBatch(OTHER, 1, [makeAlert(1001, { protocol: 'Quiet batch' })]);
  await queues.enqueue([{ destination: SLACK, alerts: [makeAlert(1002, { type: 'tocsin.mute.ended' })] }]);
  const shares: (string | undefined)[] = [];
  work(async ({ fairnessKey }) => {
    shares.push(fairnessKey);
    return { done: true };
  });
  await until('all of them', () => shares.length === 303);
  // A worker asks for a few jobs at once, and may start them in another order.
  expect(shares.indexOf('main/Quiet')).toBeLessThan(5);
  expect(shares.indexOf('main/Quiet batch')).toBeLessThan(5);
});

test('a batch has one job, however often it is queued', async () => {
  const { queues, countsOf } = setUp();
  await queues.enqueueBatch(SLACK, 3, [makeAlert(1)]);
  await queues.enqueueBatch(SLACK, 3, [makeAlert(1)]);
  expect(await countsOf('slack')).toMatchObject({ waiting: 1 });
  await queues.enqueueBatch(SLACK, 4, [makeAlert(1)]);
  expect(await countsOf('slack')).toMatchObject({ waiting: 2 });
});

test('a batch that waits for more has its job later, from when it was opened', async () => {
  const { queues, countsOf, work } = setUp();
  const openedAt = Date.now();
  await queues.enqueueBatch(SLACK, 3, [makeAlert(1)], 300);
  await queues.enqueueBatch(SLACK, 3, [makeAlert(2)], 60_000);
  expect(await countsOf('slack')).toMatchObject({ waiting: 0, delayed: 1 });
  const runs: { job: ParcelJob; afterMs: number }[] = [];
  work(async (job) => {
    runs.push({ job, afterMs: Date.now() - openedAt });
    return { done: true };
  });
  await until('its run', () => runs.length === 1);
  expect(runs[0]?.job.batchNumber).toBe(3);
  expect(runs[0]?.afterMs).toBeGreaterThanOrEqual(250);
});

test('a canary comes through ahead of waiting parcels, and there is one at a time', async () => {
  const { queues, countsOf, work } = setUp();
  await queues.enqueue([parcel(SLACK, 1)]);
  await queues.sendCanary('slack');
  await queues.sendCanary('slack');
  expect(await queues.canaryAt('slack')).toBe(0);
  expect(await countsOf('slack')).toMatchObject({ waiting: 2 });
  const before = Date.now();
  const seenAtRun: number[] = [];
  work(async () => {
    seenAtRun.push(await queues.canaryAt('slack'));
    return { done: true };
  });
  await until('the parcel', () => seenAtRun.length === 1);
  expect(seenAtRun[0]).toBeGreaterThanOrEqual(before - 1);
  expect(await queues.workers('slack')).toBe(1);
  expect(await queues.workers('email')).toBe(0);
});

test('a worker asks again and again where nothing waits, which says that it lives', async () => {
  const { work } = setUp();
  let turns = 0;
  const worker = work(
    async () => ({ done: true }),
    () => {
      turns += 1;
    },
  );
  await until('the first question', () => turns > 0);
  const before = turns;
  await until('two more', () => turns >= before + 2);
  await worker.stop(0);
});

test('a stop lets a running job end, and aborts it after the grace', async () => {
  const { queues } = setUp();
  await queues.enqueue([parcel(SLACK, 1)]);
  let isAborted = false;
  let isRunning = false;
  const worker = queues.work(
    'slack',
    createPlaces(1),
    async (_job, signal) => {
      isRunning = true;
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      isAborted = true;
      return { done: true };
    },
    () => {},
  );
  await until('it runs', () => isRunning);
  const begun = Date.now();
  await worker.stop(200);
  expect(isAborted).toBe(true);
  expect(Date.now() - begun).toBeGreaterThanOrEqual(150);
});

test('a job that somebody changed in Redis sends nothing, is told, and holds up no other', async () => {
  const { redis, prefix, queues, countsOf, work, errors } = setUp();
  await queues.enqueue([parcel(SLACK, 1), parcel(OTHER, 2)]);
  const changed = async (address: string, data: (job: ParcelJob) => object): Promise<void> => {
    const keys = await redis.keys(`${prefix}:deliver-slack:*_*`);
    for (const key of keys) {
      const job = JSON.parse((await redis.hget(key, 'data')) ?? '{}') as ParcelJob;
      if (job.destination?.address === address) await redis.hset(key, 'data', JSON.stringify(data(job)));
    }
  };
  await changed('C1', (job) => ({ ...job, destination: { ...SLACK, address: 'C0EVIL' } }));
  await queues.enqueue([parcel(SLACK, 3)]);
  const sent: string[] = [];
  work(async ({ destination, alerts }) => {
    sent.push(...alerts.map(({ id }) => `${destination.address} ${id}`));
    return { done: true };
  });
  await until('the others', () => sent.length === 2);
  await until('the refused one', async () => (await countsOf('slack'))?.failed === 1);
  expect(sent.toSorted()).toEqual([`C1 ${makeAlert(3).id}`, `C2 ${makeAlert(2).id}`].toSorted());
  expect(errors).toEqual([expect.stringMatching(/somebody else than Tocsin .* see its destination$/)]);
});
