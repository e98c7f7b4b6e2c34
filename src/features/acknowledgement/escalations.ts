/** Ends deliveries at the fallback whose alert somebody has acknowledged: nothing is sent, and the ledger says why. */
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Destination } from '../../alert.ts';
import { type DeliveryRecord, lastFew, ledgerKeys, targetOf } from '../../ledger/record.ts';
import { createWrites } from '../../ledger/writes.ts';
import { iso } from '../../time.ts';
import type { AcknowledgementStore } from './store.ts';
import { type Acknowledgement, whoText } from './words.ts';

export interface Escalations {
  /** Those of `alerts`, on their way to a destination of the fallback, that nobody has acknowledged; the others end. */
  unacknowledged(destination: Destination, alerts: readonly Alert[]): Promise<Alert[]>;
}

const ended = (
  before: DeliveryRecord | undefined,
  destination: Destination,
  who: Acknowledgement,
  at: string,
): DeliveryRecord | undefined => {
  if (before !== undefined && before.state !== 'waiting') return undefined;
  const act = { at, act: 'muted' as const, by: 'acknowledgement', reason: `acknowledged by ${whoText(who)}` };
  const { attempts = [], acts = [] } = before ?? {};
  return { state: 'muted', destination: targetOf(destination), at, attempts, acts: lastFew([...acts, act]) };
};

/**
 * In the ledger a delivery that ends so is `muted`, by `acknowledgement`; one that has ended before stays as it is. `now`:
 * epoch milliseconds. Rejects where Redis fails: then nothing more is sent until the job runs again.
 */
export const createEscalations = (
  redis: Redis | Cluster,
  prefix: string,
  store: Pick<AcknowledgementStore, 'acknowledged'>,
  now: () => number,
): Escalations => {
  const change = createWrites(redis, ledgerKeys(prefix), now);
  return {
    unacknowledged: async (destination, alerts) => {
      const known = await store.acknowledged(alerts.map(({ id }) => id));
      const at = iso(now());
      await change(
        alerts.flatMap((alert) => {
          const by = known.get(alert.id);
          if (by === undefined) return [];
          return [{ destination, alert, next: (before) => ended(before, destination, by, at) }];
        }),
      );
      return alerts.filter(({ id }) => !known.has(id));
    },
  };
};
