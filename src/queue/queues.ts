/** The parcels' queues, one for each channel kind: the only place that makes them and their workers. */
import { Queue } from 'bullmq';
import { type Alert, CHANNEL_KINDS, type ChannelKind, type Destination, type Parcel } from '../alert.ts';
import { packed } from '../chunks.ts';
import { itemSize } from '../item.ts';
import { createPriorities, type Priorities, urgencyOfParcel } from './fairness.ts';
import { batchJob, batchJobId, parcelJob, parcelJobId } from './job.ts';
import { CANARY, createWork, type Work } from './parcel-worker.ts';
import { JOB_OPTIONS, type QueueSettings, queueName } from './settings.ts';

export interface QueueCounts {
  name: string;
  waiting: number;
  delayed: number;
  active: number;
  failed: number;
}

/** A queue to look into. */
export type ReadableQueue = Pick<Queue, 'name' | 'getJob' | 'getJobCounts' | 'getRanges' | 'isPaused'>;

export interface ParcelQueues {
  /**
   * Durable when it resolves. A parcel that is queued already is not queued twice. With `unlessCoveredInMs` its job waits
   * this many milliseconds, and sends only the alerts that no other alert covers there by then.
   */
  enqueue(parcels: readonly Parcel[], nonce?: string, unlessCoveredInMs?: number): Promise<void>;
  /**
   * Queues the job that sends a batch, once, in the turn of the alerts that open it; durable when it resolves. It runs
   * after `delayMs`. Default: at once.
   */
  enqueueBatch(destination: Destination, batch: number, alerts: readonly Alert[], delayMs?: number): Promise<void>;
  /**
   * Runs as many jobs at once as their places allow. `onUnknownVersion` is called with the queue's name whenever a job
   * comes up that this daemon cannot read. Such a job stays, and comes up again.
   */
  work: Work;
  counts(): Promise<QueueCounts[]>;
  readable(): readonly ReadableQueue[];
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

/** One call of `addBulk` is one pipeline, made in one go: so many jobs and, about, so many bytes. */
const ADDED_AT_ONCE = { jobs: 100, bytes: 2 * 1024 * 1024 };

const jobBytes = ({ data }: { data: Parcel }): number =>
  Math.max(
    Math.floor(ADDED_AT_ONCE.bytes / ADDED_AT_ONCE.jobs),
    data.alerts.reduce((bytes, { item }) => bytes + itemSize(item), 0),
  );

const byKind = <T>(make: (kind: ChannelKind) => T): Record<ChannelKind, T> =>
  Object.fromEntries(CHANNEL_KINDS.map((kind) => [kind, make(kind)])) as Record<ChannelKind, T>;

type Queues = Record<ChannelKind, Queue>;

const openQueues = ({ redis, prefix, onError, telemetry }: QueueSettings): Queues =>
  byKind((kind) => {
    const queue = new Queue(queueName(kind), {
      ...{ connection: redis, prefix, defaultJobOptions: JOB_OPTIONS },
      ...(telemetry && { telemetry }),
    });
    queue.on('error', (error) => onError(queue.name, error));
    return queue;
  });

const createEnqueue =
  (queues: Queues, priorities: Record<ChannelKind, Priorities>): ParcelQueues['enqueue'] =>
  async (parcels, nonce, delay) => {
    const jobs = parcels.map((parcel) => {
      const data = parcelJob(parcel);
      const priority = priorities[parcel.destination.kind].next(data.fairnessKey, urgencyOfParcel(parcel));
      return {
        name: 'parcel',
        data: { ...data, ...(delay === undefined ? {} : { unlessCovered: true }) },
        opts: { jobId: parcelJobId(parcel, nonce), priority, ...(delay === undefined ? {} : { delay }) },
      };
    });
    for (const kind of CHANNEL_KINDS) {
      const own = jobs.filter(({ data }) => data.destination.kind === kind);
      for (const chunk of packed(own, ADDED_AT_ONCE.bytes, jobBytes)) await queues[kind].addBulk(chunk);
    }
  };

export const createParcelQueues = (settings: QueueSettings): ParcelQueues => {
  const { redis, prefix } = settings;
  const queues = openQueues(settings);
  const priorities = byKind(() => createPriorities(Date.now));
  const canaryKey = (kind: ChannelKind): string => `${prefix}:canary:${kind}`;
  return {
    enqueue: createEnqueue(queues, priorities),
    enqueueBatch: async (destination, batch, alerts, delay = 0) => {
      const data = batchJob(destination, batch, alerts);
      // Something urgent may join it later.
      const priority = priorities[destination.kind].next(data.fairnessKey, 'critical');
      const opts = { jobId: batchJobId(destination, batch), priority, delay };
      await queues[destination.kind].add('batch', data, opts);
    },
    work: createWork(settings, queues, canaryKey),
    counts: () =>
      Promise.all(
        CHANNEL_KINDS.map(async (kind) => {
          const counts = await queues[kind].getJobCounts('waiting', 'prioritized', 'delayed', 'active', 'failed');
          const { waiting = 0, prioritized = 0, delayed = 0, active = 0, failed = 0 } = counts;
          return { name: queueName(kind), waiting: waiting + prioritized, delayed, active, failed };
        }),
      ),
    readable: () => CHANNEL_KINDS.map((kind) => queues[kind]),
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
