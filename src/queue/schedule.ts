/** What has to happen again and again, as BullMQ job schedulers: one daemon of many takes each turn. */
import { DelayedError, type Job, type JobSchedulerJson, Queue, Worker } from 'bullmq';
import { type QueueSettings, stopWorker, WORKER_LOCKS } from './queues.ts';

/** One thing to do every so often. `data` is all the processor gets, so it must name the work completely. */
export interface Turn<Data = unknown> {
  /** Unique among the turns; free of `:`. */
  id: string;
  everyMs: number;
  /** Milliseconds from 1 to `everyMs` after each full `everyMs` of the clock, at which it comes. Default: as of its start. */
  offsetMs?: number;
  data: Data;
}

export interface Schedule<Data> {
  /** Makes the schedulers in Redis equal to `turns`: adds, changes and removes. Cheap when nothing changed. */
  sync(turns: readonly Turn<Data>[]): Promise<void>;
  /** Schedulers that Redis holds now; fewer than expected after its data was lost. */
  count(): Promise<number>;
  /** `run` may give a number of milliseconds: then it is called again after that, besides the turns to come. */
  work(
    concurrency: number,
    run: (data: Data, signal: AbortSignal) => Promise<number | undefined>,
  ): { stop(graceMs: number): Promise<void> };
  close(): Promise<void>;
}

const QUEUE = 'poll';
/** A turn is worth nothing after it was taken, done or not: the next one comes. */
const TURN_OPTIONS = { attempts: 1, removeOnComplete: true, removeOnFail: true, stackTraceLimit: 1 } as const;
const CHUNK = 200;

const inChunks = async <T>(all: readonly T[], each: (one: T) => Promise<unknown>): Promise<void> => {
  for (let start = 0; start < all.length; start += CHUNK) await Promise.all(all.slice(start, start + CHUNK).map(each));
};

const isSame = (turn: Turn, scheduler: JobSchedulerJson | undefined): boolean =>
  scheduler !== undefined &&
  Number(scheduler.every) === turn.everyMs &&
  (turn.offsetMs === undefined || Number(scheduler.offset) === turn.offsetMs) &&
  JSON.stringify(scheduler.template?.data) === JSON.stringify(turn.data);

export const createSchedule = <Data>({ redis, prefix, onError }: QueueSettings): Schedule<Data> => {
  const queue = new Queue(QUEUE, { connection: redis, prefix, defaultJobOptions: TURN_OPTIONS });
  queue.on('error', (error) => onError(QUEUE, error));

  const upsert = ({ id, everyMs, offsetMs, data }: Turn<Data>) => {
    const repeat = offsetMs === undefined ? { every: everyMs } : { every: everyMs, offset: offsetMs };
    return queue.upsertJobScheduler(id, repeat, { name: 'turn', data, opts: TURN_OPTIONS });
  };

  /** One with an offset would begin up to `everyMs` later. */
  const beginAtOnce = async ({ offsetMs, data }: Turn<Data>): Promise<void> => {
    if (offsetMs !== undefined) await queue.add('turn', data, { delay: offsetMs });
  };

  return {
    sync: async (turns) => {
      const existing = new Map((await queue.getJobSchedulers(0, -1)).map((scheduler) => [scheduler.key, scheduler]));
      const wanted = new Set(turns.map(({ id }) => id));
      await inChunks(
        turns.filter((turn) => !isSame(turn, existing.get(turn.id))),
        upsert,
      );
      await inChunks(
        turns.filter(({ id }) => !existing.has(id)),
        beginAtOnce,
      );
      await inChunks(
        [...existing.keys()].filter((id) => !wanted.has(id)),
        (id) => queue.removeJobScheduler(id),
      );
    },
    count: () => queue.getJobSchedulersCount(),
    work: (concurrency, run) => {
      const worker = new Worker(
        QUEUE,
        async (job: Job<Data>, token, signal) => {
          const againInMs = await run(job.data, signal ?? new AbortController().signal);
          if (againInMs === undefined) return;
          await job.moveToDelayed(Date.now() + againInMs, token);
          throw new DelayedError();
        },
        { connection: redis, prefix, concurrency, ...WORKER_LOCKS },
      );
      worker.on('error', (error) => onError(QUEUE, error));
      return { stop: (graceMs) => stopWorker(worker, redis, graceMs) };
    },
    close: () => queue.close(),
  };
};
