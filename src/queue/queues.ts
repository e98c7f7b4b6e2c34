/** The parcels' queues, one for each channel kind. */
import type { Queue } from 'bullmq';
import { type Alert, CHANNEL_KINDS, type ChannelKind, type Destination, type Parcel } from '../alert.ts';
import { packed } from '../chunks.ts';
import { itemSize } from '../item.ts';
import { createPriorities, shareOf, urgencyOfParcel } from './fairness.ts';
import { batchJob, batchJobId, type ParcelJob, parcelJob, parcelJobId } from './job.ts';
import { CANARY, createWork } from './parcel-worker.ts';
import { countJobs, createQueue, type QueueCounts, type QueueSettings, queueKey, queueName } from './settings.ts';

/** A queue to look into. */
export type ReadableQueue = Pick<Queue, 'name' | 'getJob' | 'getJobCounts' | 'getRanges' | 'isPaused'>;

/** One call of `addBulk` is one pipeline, made in one go: so many jobs and, about, so many bytes. */
const ADDED_AT_ONCE = { jobs: 100, bytes: 2 * 1024 * 1024 };

const jobBytes = ({ data }: { data: Parcel }): number =>
  Math.max(
    Math.floor(ADDED_AT_ONCE.bytes / ADDED_AT_ONCE.jobs),
    data.alerts.reduce((bytes, { item }) => bytes + itemSize(item), 0),
  );

const byKind = <T>(make: (kind: ChannelKind) => T): Record<ChannelKind, T> =>
  Object.fromEntries(CHANNEL_KINDS.map((kind) => [kind, make(kind)])) as Record<ChannelKind, T>;

export const createParcelQueues = (settings: QueueSettings) => {
  const { redis, prefix } = settings;
  const queues = byKind((kind) => createQueue(settings, queueName(kind)));
  const priorities = byKind(() => createPriorities(Date.now));
  const canaryKey = (kind: ChannelKind): string => `${prefix}:canary:${kind}`;
  return {
    /**
     * Durable when it resolves. A parcel that is queued already is not queued twice. With `unlessCoveredInMs` its job waits
     * this many milliseconds, and sends only the alerts that no other alert covers there by then.
     */
    enqueue: async (parcels: readonly Parcel[], nonce?: string, unlessCoveredInMs?: number): Promise<void> => {
      const waits = unlessCoveredInMs !== undefined;
      const jobs = parcels.map((parcel) => {
        const data: ParcelJob = { ...parcelJob(parcel), ...(waits ? { unlessCovered: true } : {}) };
        const priority = priorities[parcel.destination.kind].next(shareOf(parcel), urgencyOfParcel(parcel));
        const opts = { jobId: parcelJobId(parcel, nonce), priority, ...(waits ? { delay: unlessCoveredInMs } : {}) };
        return { name: 'parcel', data, opts };
      });
      for (const kind of CHANNEL_KINDS) {
        const own = jobs.filter(({ data }) => data.destination.kind === kind);
        for (const chunk of packed(own, ADDED_AT_ONCE.bytes, jobBytes)) await queues[kind].opened().addBulk(chunk);
      }
    },
    /**
     * Queues the job that sends a batch, once, in the turn of the alerts that open it; durable when it resolves. It runs
     * after `delayMs`. Default: at once.
     */
    enqueueBatch: async (
      destination: Destination,
      batch: number,
      alerts: readonly Alert[],
      delayMs = 0,
    ): Promise<void> => {
      const data = batchJob(destination, batch, alerts);
      // Something urgent may join it later.
      const priority = priorities[destination.kind].next(shareOf({ destination, alerts: [...alerts] }), 'critical');
      const opts = { jobId: batchJobId(destination, batch), priority, delay: delayMs };
      await queues[destination.kind].opened().add('batch', data, opts);
    },
    /**
     * Runs as many jobs at once as their places allow. `onUnknownVersion` is called with the queue's name whenever a job
     * comes up that this daemon cannot read. Such a job stays, and comes up again. `onTurn`: called whenever the worker asks
     * for a job or begins one.
     */
    work: createWork(settings, queues, canaryKey),
    counts: (): Promise<QueueCounts[]> =>
      Promise.all(CHANNEL_KINDS.map((kind) => countJobs(settings, queueName(kind)))),
    readable: (): readonly ReadableQueue[] => CHANNEL_KINDS.map((kind) => queues[kind].opened()),
    /** Sends a canary through this kind's queue, ahead of waiting jobs. There is at most one at a time. */
    sendCanary: async (kind: ChannelKind): Promise<void> => {
      await queues[kind].opened().add(CANARY, {}, { jobId: CANARY, lifo: true });
    },
    /** When any daemon last took one: epoch milliseconds, 0 for never. */
    canaryAt: async (kind: ChannelKind): Promise<number> => Number(await redis.get(canaryKey(kind))),
    /** How many parcels' jobs of this kind wait or run; a canary is none. */
    waitingFor: async (kind: ChannelKind): Promise<number> => {
      const [{ waiting, delayed, active }, canary] = await Promise.all([
        countJobs(settings, queueName(kind)),
        redis.exists(queueKey(prefix, queueName(kind), CANARY)),
      ]);
      return Math.max(0, waiting + delayed + active - canary);
    },
    /** Removes a job. False where it runs, or is gone. */
    remove: async (kind: ChannelKind, id: string): Promise<boolean> => (await queues[kind].opened().remove(id)) === 1,
    /** How many workers, in all daemons, take from this kind's queue. */
    workers: (kind: ChannelKind): Promise<number> => queues[kind].opened().getWorkersCount(),
    close: async (): Promise<void> => {
      await Promise.all(CHANNEL_KINDS.map((kind) => queues[kind].close()));
    },
  };
};

export type ParcelQueues = ReturnType<typeof createParcelQueues>;
