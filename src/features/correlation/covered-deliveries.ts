/** Ends deliveries that need no message of their own, because another alert covers them at their destination. */
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Destination } from '../../alert.ts';
import { RECORD_ATTEMPT } from '../../ledger/ledger.ts';
import { type DeliveryRecord, ledgerKeys, parseRecord, recordAlert, targetOf } from '../../ledger/record.ts';
import { execute } from '../../redis/pipeline.ts';
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
  const keys = ledgerKeys(prefix);
  return {
    end: async (alert, destination, other) => {
      const record: DeliveryRecord = {
        state: 'delivered',
        destination: targetOf(destination),
        at: iso(now()),
        attempts: [],
        with: other,
      };
      const json = JSON.stringify(record);
      const before = parseRecord(await redis.hget(keys.alert(alert.id), destination.id));
      if (before && (before.state !== 'waiting' || before.attempts.length > 0)) return false;
      const batch = redis.pipeline();
      recordAlert(batch, keys, alert);
      if (before === undefined) {
        batch.hsetnx(keys.alert(alert.id), destination.id, json);
      } else {
        const own = [keys.alert(alert.id), keys.waiting, keys.open(alert)];
        batch.eval(RECORD_ATTEMPT, own.length, ...own, destination.id, json, record.state, alert.id, 'waiting');
      }
      const found = (await execute(batch)).at(-1);
      return before === undefined ? found === 1 : found === 'waiting';
    },
  };
};
