/** Repeated work, as BullMQ job schedulers: of several daemons, one takes each turn. */
import { type Job, type JobSchedulerJson, Queue, Worker } from 'bullmq';
import { mapInChunks } from '../chunks.ts';
import { type QueueSettings, restWhenRefused, stopWorker, WORKER_LOCKS } from './settings.ts';
import { createStoppedTurns, type ScheduleState } from './stopped-turns.ts';

/** Work that is due every `everyMs`. `data` is all that the processor gets, so it must name the work completely. */
export interface Turn<Data = unknown> {
  /** Unique among the turns; free of `:`. */
  id: string;
  everyMs: number;
  data: Data;
}

export interface Schedule<Data> {
  /**
   * Makes the schedulers in Redis equal to `turns`: adds, changes and removes, and makes the `stopped` ones anew. Cheap when
   * nothing changed.
   */
  sync(turns: readonly Turn<Data>[], stopped?: readonly string[]): Promise<void>;
  /** Adds a turn that comes once, in `delayMs`; the same id is the same turn until it has come. */
  once(turn: Pick<Turn<Data>, 'id' | 'data'> & { delayMs: number }): Promise<void>;
  /** One command. */
  check(): Promise<ScheduleState>;
  work(
    concurrency: number,
    run: (data: Data, signal: AbortSignal) => Promise<void>,
  ): { stop(graceMs: number): Promise<void> };
  close(): Promise<void>;
}

const QUEUE = 'poll';
/** Another turn follows in any case, so one that a killed daemon had taken is looked for less often. */
const STALLED_EVERY_MS = 10_000;
/** A turn that failed is not repeated: the next one comes. */
const TURN_OPTIONS = { attempts: 1, removeOnComplete: true, removeOnFail: true, stackTraceLimit: 1 } as const;
const CHANGED_AT_ONCE = 200;

const isSame = (turn: Turn, scheduler: JobSchedulerJson | undefined): boolean =>
  scheduler !== undefined &&
  Number(scheduler.every) === turn.everyMs &&
  JSON.stringify(scheduler.template?.data) === JSON.stringify(turn.data);

export interface ScheduleSettings extends QueueSettings {
  /** Milliseconds by a clock that nobody sets. Default `performance.now`. */
  elapsed?(): number;
}

export const createSchedule = <Data>(settings: ScheduleSettings): Schedule<Data> => {
  const { redis, prefix, onError, rest, elapsed = () => performance.now() } = settings;
  const queue = new Queue(QUEUE, { connection: redis, prefix, defaultJobOptions: TURN_OPTIONS });
  queue.on('error', (error) => onError(QUEUE, error));

  const upsert = ({ id, everyMs, data }: Turn<Data>) =>
    queue.upsertJobScheduler(id, { every: everyMs }, { name: 'turn', data, opts: TURN_OPTIONS });

  return {
    sync: async (turns, stopped = []) => {
      // An upsert does not revive a scheduler that has stopped.
      await mapInChunks(stopped, CHANGED_AT_ONCE, (id) => queue.removeJobScheduler(id));
      const existing = new Map((await queue.getJobSchedulers(0, -1)).map((scheduler) => [scheduler.key, scheduler]));
      const wanted = new Set(turns.map(({ id }) => id));
      const changed = turns.filter((turn) => !isSame(turn, existing.get(turn.id)));
      const removed = [...existing.keys()].filter((id) => !wanted.has(id));
      await mapInChunks(changed, CHANGED_AT_ONCE, upsert);
      await mapInChunks(removed, CHANGED_AT_ONCE, (id) => queue.removeJobScheduler(id));
    },
    once: async ({ id, delayMs, data }) => {
      await queue.add('turn', data, { jobId: id, delay: delayMs });
    },
    check: createStoppedTurns({ redis, schedulers: queue.toKey('repeat'), now: () => Date.now(), elapsed }),
    work: (concurrency, run) => {
      const worker = new Worker(
        QUEUE,
        // Three parameters declared: only then does BullMQ pass the signal.
        (job: Job<Data>, _token, signal) => run(job.data, signal ?? new AbortController().signal),
        { connection: redis, prefix, concurrency, ...WORKER_LOCKS, stalledInterval: STALLED_EVERY_MS },
      );
      worker.on('error', (error) => onError(QUEUE, error));
      restWhenRefused(worker, rest);
      return { stop: (graceMs) => stopWorker(worker, redis, graceMs) };
    },
    close: () => queue.close(),
  };
};
