/** The parcels' queues, one for each channel kind: the only place that makes them and their workers. */
import { DelayedError, type Job, Queue, Worker } from 'bullmq';
import { type Alert, CHANNEL_KINDS, type ChannelKind, type Destination, type Parcel } from '../alert.ts';
import { chunksOf } from '../chunks.ts';
import type { RedisClient } from '../redis/connect.ts';
import { batchJob, batchJobId, type ParcelJob, parcelJob, parcelJobId, readParcelJob } from './job.ts';
import { createPriorities, type Priorities, shareOf, urgencyOfParcel } from './priority.ts';
import { type Rest, restWhenRefused } from './rest.ts';

export interface QueueSettings {
  redis: RedisClient;
  /** Key prefix with a hash tag, so that every key of a script is on one Cluster slot. */
  prefix: string;
  onError(queue: string, error: Error): void;
  /** How a worker rests while Redis refuses its commands. Default: it waits. */
  rest?: Rest;
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
   * Durable when it resolves. A parcel that is queued already is not queued twice. With `unlessCoveredInMs` its job waits
   * this many milliseconds, and sends only the alerts that no other alert covers there by then.
   */
  enqueue(parcels: readonly Parcel[], nonce?: string, unlessCoveredInMs?: number): Promise<void>;
  /** Queues the job that sends a batch, once, in the share of the alerts that open it; durable when it resolves. */
  enqueueBatch(destination: Destination, batch: number, alerts: readonly Alert[]): Promise<void>;
  /**
   * `onUnknownVersion` is called with the queue's name whenever a job comes up that this daemon cannot read. Such a job
   * stays, and comes up again.
   */
  work(
    kind: ChannelKind,
    concurrency: number,
    process: ProcessParcel,
    onUnknownVersion: (queue: string, version: string) => void,
  ): ParcelWorker;
  counts(): Promise<QueueCounts[]>;
  /**
   * Sends a canary through this kind's queue, ahead of waiting jobs, and gives when any daemon last took one: epoch
   * milliseconds, 0 for never. There is at most one at a time.
   */
  sendCanary(kind: ChannelKind): Promise<number>;
  /** How many parcels' jobs of this kind wait or run; a canary is none. */
  waitingFor(kind: ChannelKind): Promise<number>;
  /** Removes a job. False where it runs, or is gone. */
  remove(kind: ChannelKind, id: string): Promise<boolean>;
  /** How many workers, in all daemons, take from this kind's queue. */
  workers(kind: ChannelKind): Promise<number>;
  close(): Promise<void>;
}

export interface ParcelWorker {
  /** The locks of its jobs name it. */
  id: string;
  /** Looks at once for jobs that lost their lock. */
  checkStalled(): Promise<void>;
  /** Takes no new job, lets the running ones end, and aborts those that have not after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/**
 * Only exceptions of our own (a bug, a Redis error) cost a BullMQ attempt; `retry.ts` decides on a receiver's failures,
 * which cost none. So practically no job fails by count. Completed jobs are removed at once: the ledger knows what was
 * delivered, and a kept job id would swallow a deliberate repeat.
 */
export const JOB_OPTIONS = {
  attempts: 1_000_000,
  backoff: { type: 'fixed', delay: 5000 },
  removeOnComplete: true,
  removeOnFail: { count: 1000 },
  stackTraceLimit: 3,
} as const;

/**
 * Locks are renewed every 5 s and checked every 3 s, so that a killed daemon's jobs start again within 13 s even where
 * nobody noticed that it is gone, see `abandoned-jobs.ts`. A crash of ours is never the parcel's fault, so no number of
 * stalls ends a job.
 */
export const WORKER_LOCKS = { lockDuration: 10_000, stalledInterval: 3000, maxStalledCount: 1_000_000 } as const;

/** One call of `addBulk` is one pipeline. */
const ADDED_AT_ONCE = 500;

export const queueName = (kind: ChannelKind): string => `deliver-${kind}`;

const CANARY = 'canary';

/** Long enough to cost little, short enough for a newer daemon beside this one: it can take the job when it is due. */
const UNKNOWN_AGAIN_MS = 5000;

interface JobTaken {
  job: Job<unknown>;
  token: string | undefined;
  signal: AbortSignal;
}

/** What waits costs no attempt: attempts are for our own exceptions. */
const runJob = async (
  { job, token, signal }: JobTaken,
  process: ProcessParcel,
  onUnknownVersion: (version: string) => void,
): Promise<void> => {
  const data = readParcelJob(job.data);
  if ('unknownVersion' in data) {
    onUnknownVersion(data.unknownVersion);
    await job.moveToDelayed(Date.now() + UNKNOWN_AGAIN_MS, token);
    throw new DelayedError();
  }
  const verdict = await process(data, signal);
  if (verdict.done) return;
  // At once: a clock that is set back during the next command must not make the wait longer by as much.
  const delayMs = Math.max(0, verdict.runAt - Date.now());
  await job.updateData(verdict.data);
  await job.moveToDelayed(Date.now() + delayMs, token);
  throw new DelayedError();
};

/**
 * Ends a worker: its jobs may end by themselves for `graceMs` and are aborted then. Without Redis they cannot end and
 * BullMQ would wait for ever: they are left, and start again when their locks have expired. The caller bounds the time.
 */
export const stopWorker = async (worker: Worker, redis: RedisClient, graceMs: number): Promise<void> => {
  const timer = setTimeout(() => worker.cancelAllJobs('the daemon is stopping'), graceMs);
  await worker.close(redis.status !== 'ready').finally(() => clearTimeout(timer));
};

const byKind = <T>(make: (kind: ChannelKind) => T): Record<ChannelKind, T> =>
  Object.fromEntries(CHANNEL_KINDS.map((kind) => [kind, make(kind)])) as Record<ChannelKind, T>;

type Queues = Record<ChannelKind, Queue>;

const openQueues = ({ redis, prefix, onError }: QueueSettings): Queues =>
  byKind((kind) => {
    const queue = new Queue(queueName(kind), { connection: redis, prefix, defaultJobOptions: JOB_OPTIONS });
    queue.on('error', (error) => onError(queue.name, error));
    return queue;
  });

const createEnqueue =
  (queues: Queues, priorities: Record<ChannelKind, Priorities>): ParcelQueues['enqueue'] =>
  async (parcels, nonce, delay) => {
    const jobs = parcels.map((parcel) => {
      const share = shareOf(parcel.alerts);
      const priority = priorities[parcel.destination.kind].next(share, urgencyOfParcel(parcel));
      return {
        name: 'parcel',
        data: { ...parcelJob(parcel), share, ...(delay === undefined ? {} : { unlessTold: true }) },
        opts: { jobId: parcelJobId(parcel, nonce), priority, ...(delay === undefined ? {} : { delay }) },
      };
    });
    for (const kind of CHANNEL_KINDS) {
      const own = jobs.filter(({ data }) => data.destination.kind === kind);
      for (const chunk of chunksOf(own, ADDED_AT_ONCE)) await queues[kind].addBulk(chunk);
    }
  };

const createWork =
  ({ redis, prefix, onError, rest }: QueueSettings, canaryKey: (kind: ChannelKind) => string): ParcelQueues['work'] =>
  (kind, concurrency, process, onUnknownVersion) => {
    const onUnknown = (version: string): void => onUnknownVersion(queueName(kind), version);
    const worker = new Worker(
      queueName(kind),
      // Three parameters declared: only then does BullMQ pass the signal.
      async (job, token, signal) => {
        if (job.name === CANARY) await redis.set(canaryKey(kind), Date.now());
        else await runJob({ job, token, signal: signal ?? new AbortController().signal }, process, onUnknown);
      },
      { connection: redis, prefix, concurrency, ...WORKER_LOCKS },
    );
    worker.on('error', (error) => onError(worker.name, error));
    restWhenRefused(worker, rest);
    worker.on('failed', (_job, error) => onError(worker.name, error));
    return {
      id: worker.id,
      checkStalled: () => worker.startStalledCheckTimer(),
      stop: (graceMs) => stopWorker(worker, redis, graceMs),
    };
  };

export const createParcelQueues = (settings: QueueSettings): ParcelQueues => {
  const { redis, prefix } = settings;
  const queues = openQueues(settings);
  const priorities = byKind(() => createPriorities(Date.now));
  const canaryKey = (kind: ChannelKind): string => `${prefix}:canary:${kind}`;
  return {
    enqueue: createEnqueue(queues, priorities),
    enqueueBatch: async (destination, batch, alerts) => {
      const share = shareOf(alerts);
      // Whatever opens it: something urgent may join it later.
      const priority = priorities[destination.kind].next(share, 'critical');
      const opts = { jobId: batchJobId(destination, batch), priority };
      await queues[destination.kind].add('gathering', { ...batchJob(destination, batch), share }, opts);
    },
    work: createWork(settings, canaryKey),
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
    waitingFor: async (kind) => {
      const [count, canary] = await Promise.all([
        queues[kind].getJobCountByTypes('waiting', 'prioritized', 'delayed', 'active'),
        redis.exists(queues[kind].toKey(CANARY)),
      ]);
      return Math.max(0, count - canary);
    },
    remove: async (kind, id) => (await queues[kind].remove(id)) === 1,
    workers: (kind) => queues[kind].getWorkersCount(),
    close: async () => {
      await Promise.all(CHANNEL_KINDS.map((kind) => queues[kind].close()));
    },
  };
};
