/** Enqueues deliveries that no route asks for, each once over all daemons: announcements, and alerts for the fallback. */
import type { Alert, Destination, Parcel } from '../../alert.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { ParcelQueues } from '../../queue/queues.ts';

export interface EnqueueOnceDependencies {
  ledger: Pick<Ledger, 'recordWaiting' | 'read'>;
  enqueue: ParcelQueues['enqueue'];
}

/**
 * Gives the parcels that this call has queued; durable when it resolves. `by` names who asks. `unlessCoveredInMs`: as in
 * `queue/queues.ts`.
 */
export type EnqueueOnce = (parcels: readonly Parcel[], by: string, unlessCoveredInMs?: number) => Promise<Parcel[]>;

/**
 * The first writer (`by`) owns a delivery in the ledger, and only the owner enqueues it. The same writer may resume after
 * a crash.
 */
export const createEnqueueOnce = ({ ledger, enqueue }: EnqueueOnceDependencies): EnqueueOnce => {
  /** Destinations at which this writer owns the delivery of an alert. */
  const ownedBy = async (id: Alert['id'], by: string): Promise<ReadonlySet<Destination['id']>> => {
    const deliveries = (await ledger.read(id))?.deliveries ?? [];
    const own = deliveries.filter((one) => one.state === 'waiting' && one.by === by);
    return new Set(own.map(({ destination }) => destination.id));
  };

  return async (parcels, by, unlessCoveredInMs) => {
    await ledger.recordWaiting(parcels, by);
    // An alert may have thousands of destinations, each with a parcel, and is read once for all of them.
    const ids = [...new Set(parcels.flatMap(({ alerts }) => alerts.map(({ id }) => id)))];
    const owned = new Map(await Promise.all(ids.map(async (id) => [id, await ownedBy(id, by)] as const)));
    const fresh = parcels
      .map(({ destination, alerts }) => ({
        destination,
        alerts: alerts.filter(({ id }) => owned.get(id)?.has(destination.id)),
      }))
      .filter(({ alerts }) => alerts.length > 0);
    await enqueue(fresh, undefined, unlessCoveredInMs);
    return fresh;
  };
};
