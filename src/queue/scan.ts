/** What is found by reading a whole queue: which deliveries have a job, and the old jobs of a queue that nobody works on. */
import { QueueKeys } from 'bullmq';
import type { ChannelKind } from '../alert.ts';
import { chunksOf } from '../chunks.ts';
import type { RedisClient } from '../redis/connect.ts';
import { execute } from '../redis/pipeline.ts';
import { batchKeys } from './batch-store.ts';
import { type ParcelJob, readParcelJob } from './job.ts';
import { queueName } from './settings.ts';

// Which deliveries have a job, found by reading a whole queue: for audits and retries by hand. A delivery that waits in the
// ledger without a job would wait for ever.

/** A delivery by the ids of its alert and destination. */
export interface DeliveryRef {
  alert: string;
  destination: string;
}

export interface JobScan {
  /** Those of `deliveries` that no job of the kind's queue will send. A job that failed for good will not. */
  withoutJob<T extends DeliveryRef>(kind: ChannelKind, deliveries: readonly T[]): Promise<T[]>;
}

const READ_AT_ONCE = 100;

const deliveryKey = ({ alert, destination }: DeliveryRef): string => `${destination} ${alert}`;

/** The fields of a job's data that every version writes under these names; a version may leave some out. */
interface Written {
  destination?: { id?: string };
  alerts?: { id?: string }[];
  batchNumber?: number;
}

const createJobReader = (redis: RedisClient, prefix: string) => {
  const keys = new QueueKeys(prefix);
  const keyOf = (kind: ChannelKind, id: string): string => keys.toKey(queueName(kind), id);

  /** In one transaction, or a job that moves from one list to another meanwhile would be missed. */
  const jobIds = async (kind: ChannelKind): Promise<string[]> => {
    const key = (state: string): string => keyOf(kind, state);
    const batch = redis.multi();
    for (const list of ['wait', 'paused', 'active']) batch.lrange(key(list), 0, -1);
    for (const set of ['delayed', 'prioritized']) batch.zrange(key(set), '0', '-1');
    return ((await execute(batch)) as string[][]).flat();
  };

  const dataOf = async (kind: ChannelKind, ids: readonly string[]): Promise<string[]> => {
    const data = await Promise.all(ids.map((id) => redis.hget(keyOf(kind, id), 'data')));
    return data.flatMap((json) => json ?? []);
  };

  return { jobIds, dataOf, keyOf };
};

/** Gives the deliveries of a job, by their keys. */
const createDeliveriesOf = (redis: RedisClient, prefix: string) => {
  const batches = batchKeys(prefix);

  /** The alerts of a batch: sealed, or still open under its number. In one transaction: it may be sealed meanwhile. */
  const batchedIn = async (destination: string, batch: number): Promise<string[]> => {
    const asked = redis
      .multi()
      .get(batches.count(destination))
      .hkeys(batches.sealed(destination, batch))
      .hkeys(batches.open(destination));
    const [count, sealed, open] = (await execute(asked)) as [string | null, string[], string[]];
    return count === String(batch) ? [...sealed, ...open] : sealed;
  };

  return async (json: string): Promise<string[]> => {
    const { destination: { id = '' } = {}, alerts = [], batchNumber } = JSON.parse(json) as Written;
    const ids = alerts.map((alert) => alert.id ?? '');
    if (batchNumber !== undefined) ids.push(...(await batchedIn(id, batchNumber)));
    return ids.map((alert) => deliveryKey({ alert, destination: id }));
  };
};

export const createJobScan = (redis: RedisClient, prefix: string): JobScan => {
  const { jobIds, dataOf } = createJobReader(redis, prefix);
  const deliveriesOf = createDeliveriesOf(redis, prefix);

  /** Removes from `missing` what has a job. */
  const search = async (kind: ChannelKind, missing: Map<string, unknown>): Promise<void> => {
    const ids = await jobIds(kind);
    for (const chunk of chunksOf(ids, READ_AT_ONCE)) {
      if (missing.size === 0) return;
      const data = await dataOf(kind, chunk);
      for (const key of (await Promise.all(data.map(deliveriesOf))).flat()) missing.delete(key);
    }
  };

  return {
    withoutJob: async (kind, deliveries) => {
      const missing = new Map(deliveries.map((delivery) => [deliveryKey(delivery), delivery]));
      // Twice: an alert may be handed from one job to another while we look.
      for (let pass = 0; pass < 2 && missing.size > 0; pass += 1) await search(kind, missing);
      return [...missing.values()];
    },
  };
};

// Old jobs of a kind's queue, found by reading the whole queue: for queues that nobody works on any more.

export interface LeftJob {
  id: string;
  job: ParcelJob;
}

export interface LeftJobs {
  /** Those queued before a moment, in epoch milliseconds; without those of a version that this daemon does not know. */
  before(kind: ChannelKind, moment: number): AsyncIterable<LeftJob>;
}

const LEFT_AT_ONCE = 100;

const readJob = (id: string, json: string | null): LeftJob[] => {
  const job = readParcelJob(json === null ? null : JSON.parse(json));
  return 'unknownVersion' in job ? [] : [{ id, job }];
};

export const createLeftJobs = (redis: RedisClient, prefix: string): LeftJobs => {
  const { jobIds, keyOf } = createJobReader(redis, prefix);
  return {
    before: async function* (kind, moment) {
      for (const ids of chunksOf(await jobIds(kind), LEFT_AT_ONCE)) {
        const batch = redis.pipeline();
        for (const id of ids) batch.hmget(keyOf(kind, id), 'timestamp', 'data');
        const found = (await execute(batch)) as [string | null, string | null][];
        for (const [index, id] of ids.entries()) {
          const [queuedAt = null, json = null] = found[index] ?? [];
          if (queuedAt !== null && Number(queuedAt) < moment) yield* readJob(id, json);
        }
      }
    },
  };
};
