/** Ends deliveries that need no message of their own, because another alert covers them at their destination. */
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Destination } from '../../alert.ts';
import { type DeliveryRecord, ledgerKeys, targetOf } from '../../ledger/record.ts';
import { createWrites } from '../../ledger/writes.ts';
import { iso } from '../../time.ts';

export interface CoveredDeliveries {
  /** Records a delivery as delivered with `other`. False where it was tried or has ended already: nothing changes. */
  end(alert: Alert, destination: Destination, other: Alert['id']): Promise<boolean>;
}

export const createCoveredDeliveries = (
  redis: Redis | Cluster,
  prefix: string,
  now: () => number,
): CoveredDeliveries => {
  const change = createWrites(redis, ledgerKeys(prefix), now);
  return {
    end: async (alert, destination, other) => {
      let isEnded = false;
      const next = (before: DeliveryRecord | undefined): DeliveryRecord | undefined => {
        isEnded = before === undefined || (before.state === 'waiting' && before.attempts.length === 0);
        if (!isEnded) return undefined;
        const end = { state: 'delivered', destination: targetOf(destination), at: iso(now()) } as const;
        return { ...end, attempts: [], with: other };
      };
      await change([{ destination, alert, next }]);
      return isEnded;
    },
  };
};
