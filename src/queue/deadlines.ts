/** Deadlines of alerts, as delayed jobs: has a person's channel accepted them by then? */
import type { Job } from 'bullmq';
import type { Alert } from '../alert.ts';
import { chunksOf } from '../chunks.ts';
import { contentId } from '../item.ts';
import { countJobs, createQueue, openWorker, type QueueCounts, type QueueSettings, stopWorker } from './settings.ts';

/** The data of one job. */
interface DeadlineJob {
  v: 1;
  alerts: Alert[];
  /** The first look at these alerts is 1. */
  look: number;
}

export const DEADLINES_QUEUE = 'deadlines';
const ALERTS_IN_JOB = 100;

const readJob = ({ data }: Job<DeadlineJob>): DeadlineJob => {
  if (data.v !== 1) throw new Error(`a deadline of version ${String(data.v)}: this daemon reads 1`);
  return data;
};

export const createDeadlines = (settings: QueueSettings) => {
  // No check may be lost. A kept job id would swallow the check of alerts that are dispatched again.
  const queue = createQueue(settings, DEADLINES_QUEUE);
  return {
    /** `alerts` are checked after `afterMs`, once for each `look`, however often this is called; durable when it resolves. */
    set: async (alerts: readonly Alert[], afterMs: number, look = 1): Promise<void> => {
      await queue.opened().addBulk(
        chunksOf(alerts, ALERTS_IN_JOB).map((chunk) => ({
          name: 'deadline',
          data: { v: 1, alerts: chunk, look } satisfies DeadlineJob,
          opts: { jobId: `deadline_${contentId(...chunk.map(({ id }) => id))}_${look}`, delay: afterMs },
        })),
      );
    },
    /** `id` stays the same when a check is repeated. A check that throws is repeated. */
    work: (concurrency: number, check: (alerts: readonly Alert[], id: string, look: number) => Promise<void>) => {
      const { worker } = openWorker(settings, DEADLINES_QUEUE, concurrency, ({ job }) => {
        const { alerts, look } = readJob(job);
        return check(alerts, job.id ?? '', look);
      });
      return { stop: (graceMs: number): Promise<void> => stopWorker(worker, settings.redis, graceMs) };
    },
    counts: (): Promise<QueueCounts> => countJobs(settings, DEADLINES_QUEUE),
    close: queue.close,
  };
};

export type Deadlines = ReturnType<typeof createDeadlines>;
