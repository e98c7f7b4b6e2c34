/** How queues and their workers are opened, how a worker rests while Redis refuses its commands, and how it ends. */
import { createRequire } from 'node:module';
import type { Job, Queue, Telemetry, Worker } from 'bullmq';
import type { ChannelKind } from '../alert.ts';
import type { RedisClient } from '../redis/connect.ts';
import { execute } from '../redis/pipeline.ts';
import { oneAtATime, pause } from '../waiting.ts';
import { createJobLocks, type HoldsLock, LOCK_MS } from './job-locks.ts';

export interface QueueSettings {
  redis: RedisClient;
  /** Key prefix with a hash tag, so that every key of a script is on one Cluster slot. */
  prefix: string;
  onError(queue: string, error: Error): void;
  /** Hears of each job. Default: nobody does. */
  telemetry?: Telemetry;
  /** How a worker rests while Redis refuses its commands. Default: it waits. */
  rest?(ms: number, signal: AbortSignal): Promise<void>;
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
 * Locks of running jobs are checked every 3 s, so that a killed daemon's jobs start again within 13 s even where nobody
 * noticed that it is gone, see `stuck-jobs.ts`. A crash of ours is never the parcel's fault, so no number of stalls ends a
 * job.
 */
const STALLED_MS = 3000;
const WORKER_LOCKS = {
  ...{ lockDuration: LOCK_MS, skipLockRenewal: true, skipStalledCheck: true },
  ...{ stalledInterval: STALLED_MS, maxStalledCount: 1_000_000 },
} as const;

export const queueName = (kind: ChannelKind): string => `deliver-${kind}`;

const require = createRequire(import.meta.url);

/** Loaded when a queue is used: commands that only look do without, and it is a sixth of what they take. */
export const loadBullmq = () => require('bullmq') as typeof import('bullmq');

/** Where BullMQ keeps a list or a job of a queue. */
export const queueKey = (prefix: string, queue: string, name: string): string => `${prefix}:${queue}:${name}`;

export interface QueueCounts {
  name: string;
  waiting: number;
  delayed: number;
  active: number;
  failed: number;
}

/** How many jobs a queue has. */
export const countJobs = async (
  { redis, prefix }: Pick<QueueSettings, 'redis' | 'prefix'>,
  name: string,
): Promise<QueueCounts> => {
  const batch = redis.pipeline();
  for (const list of ['wait', 'active']) batch.llen(queueKey(prefix, name, list));
  for (const set of ['prioritized', 'delayed', 'failed']) batch.zcard(queueKey(prefix, name, set));
  const [waiting = 0, active = 0, prioritized = 0, delayed = 0, failed = 0] = (await execute(batch)).map(Number);
  return { name, waiting: waiting + prioritized, delayed, active, failed };
};

/** A queue that is opened when it is first asked for. */
export const createQueue = ({ redis, prefix, onError, telemetry }: QueueSettings, name: string) => {
  let queue: Queue | undefined;
  const open = (): Queue => {
    const own = { connection: redis, prefix, defaultJobOptions: JOB_OPTIONS };
    const opened = new (loadBullmq().Queue)(name, { ...own, ...(telemetry && { telemetry }) });
    opened.on('error', (error) => onError(name, error));
    return opened;
  };
  return {
    opened: (): Queue => {
      queue ??= open();
      return queue;
    },
    close: async (): Promise<void> => queue?.close(),
  };
};

/** Short: alerts wait as long when Redis is well again. */
const REST_MS = 1000;

/** An answer of Redis itself (no memory, read-only, still loading); a lost connection is waited for by BullMQ. */
const isRefusal = ({ name }: Error): boolean => name === 'ReplyError';

/**
 * BullMQ asks again at once, so a worker rests while Redis refuses its commands. Jobs that run may end meanwhile; none is
 * taken.
 */
const restWhenRefused = (worker: Worker, rest = pause): void => {
  const closing = new AbortController();
  worker.on('closing', () => closing.abort());
  let isResting = false;
  worker.on('error', async (error) => {
    if (isResting || closing.signal.aborted || !isRefusal(error)) return;
    isResting = true;
    await worker.pause(true);
    await rest(REST_MS, closing.signal);
    isResting = false;
    if (!closing.signal.aborted) await worker.resume();
  });
};

/**
 * KEYS: a job's lock, the active jobs, the job; ARGV: its token and its id. What BullMQ does besides is for events, parents and
 * counts, which nobody asks for: three times as many commands (decision 076).
 */
const COMPLETE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('LREM', KEYS[2], -1, ARGV[2])
return redis.call('DEL', KEYS[1], KEYS[3])`;

/**
 * KEYS: the marker, the lists of jobs. Removes the marker, and gives how many of the lists have jobs: where one has, who asks
 * next takes one, which sets the marker again.
 */
const LOOK = `
redis.call('ZREM', KEYS[1], '0')
return redis.call('EXISTS', unpack(KEYS, 2))`;

/** One run of a job. */
export interface JobRun {
  job: Job;
  /** Of its lock. */
  token: string;
  /** Aborts where the worker stops. */
  signal: AbortSignal;
  holdsLock: HoldsLock;
}

/** `onAsk`: called whenever it asks for a job; every few seconds where none waits, never where it has fallen silent. */
export const openWorker = (
  { redis, prefix, onError, telemetry, rest }: QueueSettings,
  name: string,
  concurrency: number,
  process: (run: JobRun) => Promise<void>,
  onAsk = () => {},
) => {
  const own = { connection: redis, prefix, concurrency, ...WORKER_LOCKS };
  const runLocked = createJobLocks({
    extend: (jobs, tokens) => worker.extendJobLocks(jobs, tokens, LOCK_MS),
    onError: (error) => onError(name, error),
  });
  // BullMQ gives its signal only to what declares it.
  const run = (job: Job, token: string | undefined, signal: AbortSignal | undefined) => {
    const lock = { id: job.id ?? '', token: token ?? '', agoMs: Math.max(0, Date.now() - (job.processedOn ?? 0)) };
    const stopping = signal ?? new AbortController().signal;
    return runLocked(lock, (holdsLock) => process({ job, token: lock.token, signal: stopping, holdsLock }));
  };
  const keyOf = (key: string): string => queueKey(prefix, name, key);
  /** It has waited for a job since it last asked for one. */
  let hasWaited = false;
  /** The one job that it was woken for has set the marker again, which wakes workers. */
  let isMarkerStale = false;
  /** No job was there when it last asked. So it waits until it is woken, and jobs that end need not ask for the next one. */
  let isEmpty = false;
  class FrugalWorker extends loadBullmq().Worker {
    protected override getBlockTimeout(until: number): number {
      hasWaited = true;
      return super.getBlockTimeout(until);
    }
    protected override async moveToActive(token: string, by?: string): Promise<Job> {
      onAsk();
      const isWoken = hasWaited;
      hasWaited = false;
      const keys = ['marker', 'wait', 'prioritized', 'delayed'].map(keyOf);
      const isNothingLeft = isMarkerStale && (await redis.eval(LOOK, keys.length, ...keys)) === 0;
      isMarkerStale = false;
      const job: Job | undefined = await (isNothingLeft ? super.nextJobFromJobData() : super.moveToActive(token, by));
      isMarkerStale = isWoken && job !== undefined;
      isEmpty = job === undefined;
      return job as Job;
    }
    override processJob(job: Job, token: string, mayAsk = () => true) {
      return super.processJob(job, token, () => !isEmpty && mayAsk());
    }
    protected override async handleCompleted(_: unknown, job: Job, token: string, mayAsk = () => true): Promise<Job> {
      const keys = [`${job.id}:lock`, 'active', `${job.id}`].map(keyOf);
      const isOurs = await redis.eval(COMPLETE, keys.length, ...keys, token, `${job.id}`);
      if (isOurs === 0) throw new Error(`the lock of job ${job.id} was lost before it ended`);
      const next =
        mayAsk() && !this.closing && !this.paused ? await this.moveToActive(token, this.opts.name) : undefined;
      return next as Job;
    }
  }
  const worker: Worker = new FrugalWorker(name, run, { ...own, ...(telemetry && { telemetry }) });
  worker.on('error', (error) => onError(name, error));
  restWhenRefused(worker, rest);
  worker.on('failed', (_job, error) => onError(name, error));
  // BullMQ's own check costs seven commands, whether jobs run or not.
  const look = async (): Promise<void> => {
    if ((await redis.exists(keyOf('active'))) > 0) await worker.getBackend().moveStalledJobsToWait();
  };
  const checkStalled = () => look().catch((error: Error) => onError(name, error));
  const timer = setInterval(oneAtATime(checkStalled), STALLED_MS);
  worker.on('closing', () => clearInterval(timer));
  return { worker, checkStalled };
};

/**
 * Ends a worker: its jobs may end by themselves for `graceMs` and are aborted then. Without Redis they cannot end and
 * BullMQ would wait for ever: they are left, and start again when their locks have expired. The caller bounds the time.
 */
export const stopWorker = async (worker: Worker, redis: RedisClient, graceMs: number): Promise<void> => {
  const timer = setTimeout(() => worker.cancelAllJobs('the daemon is stopping'), graceMs);
  await worker.close(redis.status !== 'ready').finally(() => clearTimeout(timer));
};
