/** Deadlines of alerts, as delayed jobs: has a person's channel accepted them by then? */
import { type Job, Queue, Worker } from 'bullmq';
import type { Alert } from '../alert.ts';
import { chunksOf } from '../chunks.ts';
import { contentId } from '../item.ts';
import type { QueueCounts } from './queues.ts';
import { JOB_OPTIONS, type QueueSettings, restWhenRefused, stopWorker, WORKER_LOCKS } from './settings.ts';

export interface Deadlines {
  /** `alerts` are checked after `afterMs`, once however often this is called; durable when it resolves. */
  set(alerts: readonly Alert[], afterMs: number): Promise<void>;
  /** `id` stays the same when a check is repeated. A check that throws is repeated. */
  work(
    concurrency: number,
    check: (alerts: readonly Alert[], id: string) => Promise<void>,
  ): { stop(graceMs: number): Promise<void> };
  counts(): Promise<QueueCounts>;
  close(): Promise<void>;
}

/** The data of one job; the version lets a newer daemon read what an older one wrote. */
interface DeadlineJob {
  v: 1;
  alerts: Alert[];
}

export const DEADLINES_QUEUE = 'deadlines';
const ALERTS_IN_JOB = 100;

const readJob = ({ data }: Job<DeadlineJob>): Alert[] => {
  if (data.v !== 1) throw new Error(`a deadline of version ${String(data.v)}: this daemon reads 1`);
  return data.alerts;
};

export const createDeadlines = ({ redis, prefix, onError, rest }: QueueSettings): Deadlines => {
  // No check may be lost. A kept job id would swallow the check of alerts that are dispatched again.
  const queue = new Queue<DeadlineJob>(DEADLINES_QUEUE, { connection: redis, prefix, defaultJobOptions: JOB_OPTIONS });
  queue.on('error', (error) => onError(DEADLINES_QUEUE, error));

  return {
    set: async (alerts, afterMs) => {
      await queue.addBulk(
        chunksOf(alerts, ALERTS_IN_JOB).map((chunk) => ({
          name: 'deadline',
          data: { v: 1, alerts: chunk },
          opts: { jobId: `deadline_${contentId(...chunk.map(({ id }) => id))}`, delay: afterMs },
        })),
      );
    },
    work: (concurrency, check) => {
      const worker = new Worker<DeadlineJob>(DEADLINES_QUEUE, async (job) => check(readJob(job), job.id ?? ''), {
        connection: redis,
        prefix,
        concurrency,
        ...WORKER_LOCKS,
      });
      worker.on('error', (error) => onError(DEADLINES_QUEUE, error));
      restWhenRefused(worker, rest);
      worker.on('failed', (_job, error) => onError(DEADLINES_QUEUE, error));
      return { stop: (graceMs) => stopWorker(worker, redis, graceMs) };
    },
    counts: async () => {
      const { waiting = 0, delayed = 0, active = 0, failed = 0 } = await queue.getJobCounts();
      return { name: DEADLINES_QUEUE, waiting, delayed, active, failed };
    },
    close: () => queue.close(),
  };
};
