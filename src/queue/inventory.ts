/**
 * What the parcels' queues hold now, looked through as a whole: for audits, never on the way of an alert. A delivery that
 * the books call waiting and that no job carries would wait for ever.
 */
import { QueueKeys } from 'bullmq';
import type { ChannelKind } from '../alert.ts';
import { queueName, type RedisClient } from './queues.ts';

/** One alert on its way to one destination, by their ids. */
export interface Carried {
  alert: string;
  destination: string;
}

export interface Inventory {
  /** Those of `deliveries` that no job of the kind's queue will send. A job that failed for good will not. */
  uncarried<T extends Carried>(kind: ChannelKind, deliveries: readonly T[]): Promise<T[]>;
}

const CHUNK = 100;

const carriedKey = ({ alert, destination }: Carried): string => `${destination} ${alert}`;

/** Leniently: a job that another version wrote carries what it says. */
const carriedBy = (json: string): string[] => {
  const { destination, alerts } = JSON.parse(json) as { destination?: { id?: string }; alerts?: { id?: string }[] };
  return (alerts ?? []).map(({ id = '' }) => carriedKey({ alert: id, destination: destination?.id ?? '' }));
};

export const createInventory = (redis: RedisClient, prefix: string): Inventory => {
  const keys = new QueueKeys(prefix);

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

  return {
    uncarried: async (kind, deliveries) => {
      const missing = new Map(deliveries.map((delivery) => [carriedKey(delivery), delivery]));
      if (missing.size === 0) return [];
      const ids = await jobIds(kind);
      for (let start = 0; start < ids.length && missing.size > 0; start += CHUNK) {
        const data = await dataOf(kind, ids.slice(start, start + CHUNK));
        for (const key of data.flatMap(carriedBy)) missing.delete(key);
      }
      return [...missing.values()];
    },
  };
};
