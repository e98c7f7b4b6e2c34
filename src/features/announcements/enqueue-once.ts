/** Enqueues deliveries that no route asks for, each once over all daemons: announcements, and alerts for the fallback. */
import type { Parcel } from '../../alert.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { ParcelQueues } from '../../queue/queues.ts';

export interface EnqueueOnceDependencies {
  ledger: Pick<Ledger, 'recordWaiting' | 'read'>;
  enqueue: ParcelQueues['enqueue'];
}

/** Gives the parcels that this call has queued; durable when it resolves. `by` names who asks. */
export type EnqueueOnce = (parcels: readonly Parcel[], by: string) => Promise<Parcel[]>;

/**
 * The first writer (`by`) owns a delivery in the ledger, and only the owner enqueues it. The same writer may resume after
 * a crash.
 */
export const createEnqueueOnce = ({ ledger, enqueue }: EnqueueOnceDependencies): EnqueueOnce => {
  const ownedBy = async ({ destination, alerts }: Parcel, by: string): Promise<Parcel> => {
    const records = await Promise.all(alerts.map(({ id }) => ledger.read(id)));
    const own = alerts.filter((_, index) =>
      records[index]?.deliveries.some(
        (one) => one.destination.id === destination.id && one.state === 'waiting' && one.by === by,
      ),
    );
    return { destination, alerts: own };
  };

  return async (parcels, by) => {
    await ledger.recordWaiting(parcels, by);
    const owned = await Promise.all(parcels.map((parcel) => ownedBy(parcel, by)));
    const fresh = owned.filter(({ alerts }) => alerts.length > 0);
    await enqueue(fresh);
    return fresh;
  };
};
