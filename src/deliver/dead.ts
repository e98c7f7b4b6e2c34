/** Deliveries that failed for good: kept whole until somebody retries or drops them. */
import type { Cluster, Redis } from 'ioredis';
import { type Alert, type Destination, deliveryId } from '../alert.ts';

export interface DeadDelivery {
  /** The delivery's id. */
  id: string;
  alert: Alert;
  /** Absent where the alert had no destination at all. */
  destination?: Destination;
  reason: string;
  /** A sentence without secrets. */
  message: string;
  attempts: number;
  /** ISO 8601. */
  at: string;
}

export interface DeadLetters {
  bury(dead: Omit<DeadDelivery, 'id'>): Promise<void>;
  list(): Promise<DeadDelivery[]>;
  count(): Promise<number>;
}

export const createDeadLetters = (redis: Redis | Cluster, prefix: string): DeadLetters => {
  const key = `${prefix}:dead`;
  return {
    bury: async (dead) => {
      const id = deliveryId(dead.alert.id, dead.destination?.id ?? 'none');
      await redis.hset(key, id, JSON.stringify({ id, ...dead }));
    },
    list: async () =>
      Object.values(await redis.hgetall(key))
        .map((json) => JSON.parse(json) as DeadDelivery)
        .sort((a, b) => a.at.localeCompare(b.at)),
    count: () => redis.hlen(key),
  };
};
