/**
 * Forgets destinations that are gone: nothing leads there any more, nothing waits for them, and nothing was sent there for
 * as long as the ledger keeps alerts. What operators decided about them stays: approvals, and that a 410 is obeyed.
 */
import type { Logger } from 'pino';
import type { Destination } from '../../alert.ts';
import type { AddressCleanup } from '../../deliver/address-changes.ts';
import type { DestinationStats } from '../../ledger/destination-stats.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { RETENTION_SECONDS } from '../../ledger/record.ts';
import type { BatchCleanup } from '../../queue/batch-store.ts';
import { iso } from '../../time.ts';

export interface GoneDependencies {
  destinationStats: Pick<DestinationStats, 'list' | 'forget'>;
  batches: BatchCleanup;
  addressChanges: AddressCleanup;
  ledger: Pick<Ledger, 'waitingByDestination'>;
  /** All that the services' protocols and the fallback lead to; undefined while that is not known. */
  routed(): Promise<readonly Pick<Destination, 'id'>[] | undefined>;
  /** Called with the destinations that remain. All others lose their metrics. */
  keepSeries(left: ReadonlySet<Destination['id']>): Promise<void>;
  log: Pick<Logger, 'info'>;
  now(): number;
}

const LOOK_EVERY_MS = 3_600_000;

/** The returned function may be called often: it acts once an hour. */
export const createGoneDestinations = (dependencies: GoneDependencies): (() => Promise<void>) => {
  const { destinationStats, batches, addressChanges, ledger, routed, keepSeries, log, now } = dependencies;
  let lookedAt = Number.NEGATIVE_INFINITY;

  const look = async (left: Set<string>): Promise<void> => {
    const waiting = await ledger.waitingByDestination();
    const before = iso(now() - RETENTION_SECONDS * 1000);
    for (const { id, label } of await destinationStats.list()) {
      const isNeeded = left.has(id) || (waiting[id] ?? 0) > 0;
      if (isNeeded || !(await destinationStats.forget(id, before))) {
        left.add(id);
        continue;
      }
      await batches.forget(id);
      await addressChanges.forget(id);
      log.info({ destination: id, to: [label] }, 'forgot a destination that is gone');
    }
    await keepSeries(left);
  };

  return async () => {
    if (Math.abs(now() - lookedAt) < LOOK_EVERY_MS) return;
    const destinations = await routed();
    if (destinations === undefined) return;
    await look(new Set(destinations.map(({ id }) => id)));
    lookedAt = now();
  };
};
