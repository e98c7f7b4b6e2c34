/** What is found by reading a whole queue: which deliveries have a job, and the old jobs of a queue that nobody works on. */
import type { ChannelKind } from '../alert.ts';
import { chunksOf } from '../chunks.ts';
import type { RedisClient } from '../redis/connect.ts';
import { askEach, execute } from '../redis/pipeline.ts';
import { batchKeys } from './batch-store.ts';
import { type ParcelJob, readParcelJob } from './job.ts';
import { queueKey, queueName } from './settings.ts';

const READ_AT_ONCE = 100;

interface WrittenJob {
  id: string;
  /** Epoch milliseconds. */
  queuedAt: number;
  /** Its data. */
  json: string;
}

/** Gives the jobs of a kind's queue that have not ended, some at a time. */
const createJobReader = (redis: RedisClient, prefix: string) =>
  async function* (kind: ChannelKind): AsyncGenerator<WrittenJob[]> {
    const key = (name: string): string => queueKey(prefix, queueName(kind), name);
    // In one transaction, or a job that moves from one list to another meanwhile would be missed.
    const lists = redis.multi();
    for (const list of ['wait', 'paused', 'active']) lists.lrange(key(list), 0, -1);
    for (const set of ['delayed', 'prioritized']) lists.zrange(key(set), '0', '-1');
    const all = ((await execute(lists)) as string[][]).flat();
    for (const ids of chunksOf(all, READ_AT_ONCE)) {
      const found = await askEach(redis, ids, (batch, id) => batch.hmget(key(id), 'timestamp', 'data'));
      yield ids.flatMap((id, index) => {
        const [queuedAt, json] = found[index] as [string | null, string | null];
        return queuedAt === null || json === null ? [] : [{ id, queuedAt: Number(queuedAt), json }];
      });
    }
  };

/** A delivery by the ids of its alert and destination. */
export interface DeliveryRef {
  alert: string;
  destination: string;
}

const deliveryKey = ({ alert, destination }: DeliveryRef): string => `${destination} ${alert}`;

/** The fields of a job's data that every version writes under these names; a version may leave some out. */
interface Written {
  destination?: { id?: string };
  alerts?: { id?: string }[];
  batchNumber?: number;
}

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

  return async ({ json }: WrittenJob): Promise<string[]> => {
    const { destination: { id = '' } = {}, alerts = [], batchNumber } = JSON.parse(json) as Written;
    const ids = alerts.map((alert) => alert.id ?? '');
    if (batchNumber !== undefined) ids.push(...(await batchedIn(id, batchNumber)));
    return ids.map((alert) => deliveryKey({ alert, destination: id }));
  };
};

/** For audits and retries by hand: a delivery that waits in the ledger without a job would wait for ever. */
export const createJobScan = (redis: RedisClient, prefix: string) => {
  const read = createJobReader(redis, prefix);
  const deliveriesOf = createDeliveriesOf(redis, prefix);

  /** Removes from `missing` what has a job. */
  const search = async (kind: ChannelKind, missing: Map<string, unknown>): Promise<void> => {
    for await (const jobs of read(kind)) {
      for (const key of (await Promise.all(jobs.map(deliveriesOf))).flat()) missing.delete(key);
      if (missing.size === 0) return;
    }
  };

  return {
    /** Those of `deliveries` that no job of the kind's queue will send. A job that failed for good will not. */
    withoutJob: async <T extends DeliveryRef>(kind: ChannelKind, deliveries: readonly T[]): Promise<T[]> => {
      const missing = new Map(deliveries.map((delivery) => [deliveryKey(delivery), delivery]));
      // Twice: an alert may be handed from one job to another while we look.
      for (let pass = 0; pass < 2 && missing.size > 0; pass += 1) await search(kind, missing);
      return [...missing.values()];
    },
  };
};

export type JobScan = ReturnType<typeof createJobScan>;

export interface LeftJob {
  id: string;
  job: ParcelJob;
}

/** For queues that nobody works on any more. */
export const createLeftJobs = (redis: RedisClient, prefix: string) => {
  const read = createJobReader(redis, prefix);
  return {
    /** Those queued before a moment, in epoch milliseconds; without those of a version that this daemon does not know. */
    before: async function* (kind: ChannelKind, moment: number): AsyncGenerator<LeftJob> {
      for await (const jobs of read(kind)) {
        for (const { id, json } of jobs.filter(({ queuedAt }) => queuedAt < moment)) {
          const job = readParcelJob(JSON.parse(json));
          if ('v' in job) yield { id, job };
        }
      }
    },
  };
};

export type LeftJobs = ReturnType<typeof createLeftJobs>;
