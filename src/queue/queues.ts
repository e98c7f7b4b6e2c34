/** The parcels' queues, one a channel kind: the only place where they and their workers are made. */
import { DelayedError, type Job, Queue, Worker } from 'bullmq';
import type { Cluster, Redis } from 'ioredis';
import { CHANNEL_KINDS, type ChannelKind, type Destination, type Parcel } from '../alert.ts';
import { batchJob, batchJobId, type ParcelJob, parcelJob, parcelJobId, readParcelJob } from './job.ts';

export type RedisClient = Redis | Cluster;

export interface QueueSettings {
  redis: RedisClient;
  /** Key prefix with a hash tag, so that every key of a script is on one Cluster slot. */
  prefix: string;
  onError(queue: string, error: Error): void;
}

/** What a processor decides about a job: it is done, or it runs again at a given time with new data. */
export type Verdict = { done: true } | { done: false; runAt: number; data: ParcelJob };
export type ProcessParcel = (job: ParcelJob, signal: AbortSignal) => Promise<Verdict>;

export interface QueueCounts {
  name: string;
  waiting: number;
  delayed: number;
  active: number;
  failed: number;
}

export interface ParcelQueues {
  /**
   * Durable when it resolves. A parcel that is queued already is not queued twice. With `unlessToldInMs` it waits so many
   * milliseconds, and tells only what no other alert has told there by then.
   */
  enqueue(parcels: readonly Parcel[], nonce?: string, unlessToldInMs?: number): Promise<void>;
  /** Queues the job that will tell what is gathered under this number; durable when it resolves, and once. */
  enqueueBatch(destination: Destination, gathering: number): Promise<void>;
  work(kind: ChannelKind, concurrency: number, process: ProcessParcel): ParcelWorker;
  counts(): Promise<QueueCounts[]>;
  /**
   * Sends a canary through this kind's queue, ahead of what waits, and gives when one last came through, in any daemon:
   * epoch milliseconds, 0 for never. At most one is on its way.
   */
  sendCanary(kind: ChannelKind): Promise<number>;
  /** How many workers, in all daemons, take from this kind's queue. */
  workers(kind: ChannelKind): Promise<number>;
  close(): Promise<void>;
}

export interface ParcelWorker {
  /** Takes no new job, lets the running ones end, and aborts those that have not after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/**
 * BullMQ's own attempts are spent only by exceptions that are ours (a bug, a Redis error): the receiver's failures are
 * decided by `retry.ts` and cost none. A job is therefore practically never "failed" by count. Done jobs are removed at
 * once: the ledger remembers what was delivered, and a kept id would swallow a deliberate repeat.
 */
export const JOB_OPTIONS = {
  attempts: 1_000_000,
  backoff: { type: 'fixed', delay: 5000 },
  removeOnComplete: true,
  removeOnFail: { count: 1000 },
  stackTraceLimit: 3,
} as const;

/**
 * The lock is renewed every 5 s and checked every 3 s, so that what a killed daemon was sending starts again within 13 s.
 * A crash of ours is never the parcel's fault, so stalling has no limit that could end it.
 */
export const WORKER_LOCKS = { lockDuration: 10_000, stalledInterval: 3000, maxStalledCount: 1_000_000 } as const;

/** One call of `addBulk` is one pipeline; beyond this it is cut. */
const BULK = 500;

export const queueName = (kind: ChannelKind): string => `deliver-${kind}`;

const CANARY = 'canary';

const runJob = async (job: Job<unknown>, token: string | undefined, signal: AbortSignal, process: ProcessParcel) => {
  const verdict = await process(readParcelJob(job.data), signal);
  if (verdict.done) return;
  await job.updateData(verdict.data);
  await job.moveToDelayed(verdict.runAt, token);
  throw new DelayedError();
};

/**
 * Ends a worker in two gears. Without Redis its jobs cannot end, and a first call that waits for them would wait for
 * ever: they are left, and start again when their locks have run out. The caller bounds the whole.
 */
export const stopWorker = async (worker: Worker, redis: RedisClient, graceMs: number): Promise<void> => {
  const timer = setTimeout(() => worker.cancelAllJobs('the daemon is stopping'), graceMs);
  await worker.close(redis.status !== 'ready').finally(() => clearTimeout(timer));
};

const byKind = <T>(make: (kind: ChannelKind) => T): Record<ChannelKind, T> =>
  Object.fromEntries(CHANNEL_KINDS.map((kind) => [kind, make(kind)])) as Record<ChannelKind, T>;

export const createParcelQueues = ({ redis, prefix, onError }: QueueSettings): ParcelQueues => {
  const queues = byKind((kind) => {
    const queue = new Queue(queueName(kind), { connection: redis, prefix, defaultJobOptions: JOB_OPTIONS });
    queue.on('error', (error) => onError(queue.name, error));
    return queue;
  });

  const canaryKey = (kind: ChannelKind): string => `${prefix}:canary:${kind}`;

  const enqueueKind = async (kind: ChannelKind, parcels: readonly Parcel[], nonce?: string, inMs?: number) => {
    for (let start = 0; start < parcels.length; start += BULK) {
      const jobs = parcels.slice(start, start + BULK).map((parcel) => ({
        name: 'parcel',
        data: { ...parcelJob(parcel), ...(inMs === undefined ? {} : { unlessTold: true }) },
        opts: { jobId: parcelJobId(parcel, nonce), ...(inMs === undefined ? {} : { delay: inMs }) },
      }));
      await queues[kind].addBulk(jobs);
    }
  };

  return {
    enqueue: async (parcels, nonce, unlessToldInMs) => {
      for (const kind of CHANNEL_KINDS) {
        await enqueueKind(
          kind,
          parcels.filter(({ destination }) => destination.kind === kind),
          nonce,
          unlessToldInMs,
        );
      }
    },
    enqueueBatch: async (destination, gathering) => {
      const jobId = batchJobId(destination, gathering);
      await queues[destination.kind].add('gathering', batchJob(destination, gathering), { jobId });
    },
    work: (kind, concurrency, process) => {
      const worker = new Worker(
        queueName(kind),
        // Three parameters declared: only then does BullMQ pass the signal.
        async (job, token, signal) => {
          if (job.name === CANARY) await redis.set(canaryKey(kind), Date.now());
          else await runJob(job, token, signal ?? new AbortController().signal, process);
        },
        { connection: redis, prefix, concurrency, ...WORKER_LOCKS },
      );
      worker.on('error', (error) => onError(worker.name, error));
      worker.on('failed', (_job, error) => onError(worker.name, error));
      return { stop: (graceMs) => stopWorker(worker, redis, graceMs) };
    },
    counts: () =>
      Promise.all(
        CHANNEL_KINDS.map(async (kind) => {
          const counts = await queues[kind].getJobCounts('waiting', 'prioritized', 'delayed', 'active', 'failed');
          const { waiting = 0, prioritized = 0, delayed = 0, active = 0, failed = 0 } = counts;
          return { name: queueName(kind), waiting: waiting + prioritized, delayed, active, failed };
        }),
      ),
    sendCanary: async (kind) => {
      await queues[kind].add(CANARY, {}, { jobId: CANARY, lifo: true });
      return Number(await redis.get(canaryKey(kind)));
    },
    workers: (kind) => queues[kind].getWorkersCount(),
    close: async () => {
      await Promise.all(CHANNEL_KINDS.map((kind) => queues[kind].close()));
    },
  };
};
