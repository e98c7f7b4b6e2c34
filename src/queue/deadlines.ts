/** Looks that are due later, as delayed jobs: has somebody accepted these alerts by then? */
import { type Job, Queue, Worker } from 'bullmq';
import { type Alert, contentId } from '../alert.ts';
import { JOB_OPTIONS, type QueueCounts, type QueueSettings, stopWorker, WORKER_LOCKS } from './queues.ts';

export interface Deadlines {
  /** Durable when it resolves: `alerts` are looked at after `afterMs`, once however often that is asked for. */
  set(alerts: readonly Alert[], afterMs: number): Promise<void>;
  /** `id` is the same each time a look is repeated. What it throws is tried again. */
  work(
    concurrency: number,
    look: (alerts: readonly Alert[], id: string) => Promise<void>,
  ): { stop(graceMs: number): Promise<void> };
  counts(): Promise<QueueCounts>;
  close(): Promise<void>;
}

/** The data of one job; the version lets a newer daemon read what an older one wrote. */
interface DeadlineJob {
  v: 1;
  alerts: Alert[];
}

const QUEUE = 'deadlines';
/** Alerts a job. */
const CHUNK = 100;

const readJob = ({ data }: Job<DeadlineJob>): Alert[] => {
  if (data.v !== 1) throw new Error(`a deadline of version ${String(data.v)}: this daemon reads 1`);
  return data.alerts;
};

export const createDeadlines = ({ redis, prefix, onError }: QueueSettings): Deadlines => {
  // A look is cheap to repeat, and none may be lost; a kept id would swallow the look at alerts that are dispatched again.
  const queue = new Queue<DeadlineJob>(QUEUE, { connection: redis, prefix, defaultJobOptions: JOB_OPTIONS });
  queue.on('error', (error) => onError(QUEUE, error));

  return {
    set: async (alerts, afterMs) => {
      const chunks = Array.from({ length: Math.ceil(alerts.length / CHUNK) }, (_, index) =>
        alerts.slice(index * CHUNK, (index + 1) * CHUNK),
      );
      await queue.addBulk(
        chunks.map((chunk) => ({
          name: 'deadline',
          data: { v: 1, alerts: chunk },
          opts: { jobId: `deadline_${contentId(...chunk.map(({ id }) => id))}`, delay: afterMs },
        })),
      );
    },
    work: (concurrency, look) => {
      const worker = new Worker<DeadlineJob>(QUEUE, async (job) => look(readJob(job), job.id ?? ''), {
        connection: redis,
        prefix,
        concurrency,
        ...WORKER_LOCKS,
      });
      worker.on('error', (error) => onError(QUEUE, error));
      worker.on('failed', (_job, error) => onError(QUEUE, error));
      return { stop: (graceMs) => stopWorker(worker, redis, graceMs) };
    },
    counts: async () => {
      const { waiting = 0, delayed = 0, active = 0, failed = 0 } = await queue.getJobCounts();
      return { name: QUEUE, waiting, delayed, active, failed };
    },
    close: () => queue.close(),
  };
};
