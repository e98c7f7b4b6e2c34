/**
 * What the parcels' queues hold now, looked through as a whole: for audits, never on the way of an alert. A delivery that
 * the books call waiting and that no job carries would wait for ever.
 */
import { QueueKeys } from 'bullmq';
import type { ChannelKind } from '../alert.ts';
import { batchKeys } from './batch-store.ts';
import { queueName, type RedisClient } from './queues.ts';

/** One alert on its way to one destination, by their ids. */
export interface DeliveryRef {
  alert: string;
  destination: string;
}

export interface JobScan {
  /** Those of `deliveries` that no job of the kind's queue will send. A job that failed for good will not. */
  withoutJob<T extends DeliveryRef>(kind: ChannelKind, deliveries: readonly T[]): Promise<T[]>;
}

const CHUNK = 100;

const carriedKey = ({ alert, destination }: DeliveryRef): string => `${destination} ${alert}`;

/** Leniently: a job that another version wrote carries what it says. */
interface Written {
  destination?: { id?: string };
  alerts?: { id?: string }[];
  gathering?: number;
}

export const createJobScan = (redis: RedisClient, prefix: string): JobScan => {
  const keys = new QueueKeys(prefix);
  const batches = batchKeys(prefix);

  /** In one transaction: a job that moves from one list to another meanwhile would be missed. */
  const jobIds = async (kind: ChannelKind): Promise<string[]> => {
    const key = (state: string): string => keys.toKey(queueName(kind), state);
    const answers = await redis
      .multi()
      .lrange(key('wait'), 0, -1)
      .lrange(key('paused'), 0, -1)
      .lrange(key('active'), 0, -1)
      .zrange(key('delayed'), '0', '-1')
      .zrange(key('prioritized'), '0', '-1')
      .exec();
    return (answers ?? []).flatMap(([error, ids]) => {
      if (error) throw error;
      return ids as string[];
    });
  };

  const dataOf = async (kind: ChannelKind, ids: readonly string[]): Promise<string[]> => {
    const data = await Promise.all(ids.map((id) => redis.hget(keys.toKey(queueName(kind), id), 'data')));
    return data.flatMap((json) => json ?? []);
  };

  /** What a gathering has taken in: frozen, or still open under its number. */
  const gathered = async (destination: string, gathering: number): Promise<string[]> => {
    const [count, frozen, waiting] = await Promise.all([
      redis.get(batches.count(destination)),
      redis.hkeys(batches.frozen(destination, gathering)),
      redis.hkeys(batches.waiting(destination)),
    ]);
    return count === String(gathering) ? [...frozen, ...waiting] : frozen;
  };

  const carriedBy = async (json: string): Promise<string[]> => {
    const { destination: { id = '' } = {}, alerts = [], gathering } = JSON.parse(json) as Written;
    const ids = alerts.map((alert) => alert.id ?? '');
    if (gathering !== undefined) ids.push(...(await gathered(id, gathering)));
    return ids.map((alert) => carriedKey({ alert, destination: id }));
  };

  /** Takes out of `missing` what a job carries. */
  const search = async (kind: ChannelKind, missing: Map<string, unknown>): Promise<void> => {
    const ids = await jobIds(kind);
    for (let start = 0; start < ids.length && missing.size > 0; start += CHUNK) {
      const data = await dataOf(kind, ids.slice(start, start + CHUNK));
      for (const key of (await Promise.all(data.map(carriedBy))).flat()) missing.delete(key);
    }
  };

  return {
    withoutJob: async (kind, deliveries) => {
      const missing = new Map(deliveries.map((delivery) => [carriedKey(delivery), delivery]));
      // Twice: an alert may be handed from one job to another while we look.
      for (let pass = 0; pass < 2 && missing.size > 0; pass += 1) await search(kind, missing);
      return [...missing.values()];
    },
  };
};
