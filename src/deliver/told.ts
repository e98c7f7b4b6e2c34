/** Deliveries that need no message of their own, as another alert tells the same there. */
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Destination } from '../alert.ts';
import { type DeliveryRecord, execute, ledgerKeys, noteAlert, targetOf } from './record.ts';

export interface Told {
  /** Ends a delivery as told with another alert. False where the books know of it already: then it goes its own way. */
  end(alert: Alert, destination: Destination, other: Alert['id']): Promise<boolean>;
}

export const createTold = (redis: Redis | Cluster, prefix: string, now: () => number): Told => {
  const keys = ledgerKeys(prefix);
  return {
    end: async (alert, destination, other) => {
      const record: DeliveryRecord = {
        state: 'delivered',
        destination: targetOf(destination),
        at: new Date(now()).toISOString(),
        attempts: [],
        with: other,
      };
      const batch = redis.pipeline();
      noteAlert(batch, keys, alert);
      batch.hsetnx(keys.alert(alert.id), destination.id, JSON.stringify(record));
      return (await execute(batch)).at(-1) === 1;
    },
  };
};
