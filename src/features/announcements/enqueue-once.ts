/** Deliveries that no route asks for: those to the fallback, and of announcements. */
import type { Parcel } from '../../alert.ts';
import type { Ledger } from '../../ledger/ledger.ts';

export interface EnqueueOnceDependencies {
  ledger: Pick<Ledger, 'recordWaiting' | 'read'>;
  enqueue(parcels: readonly Parcel[]): Promise<void>;
}

/**
 * Puts parcels on their way besides what is on its way already. `by` names what asks for them: whoever comes first has
 * the delivery, and only who has it queues it, so that nothing is written twice. What was cut short goes on when the same
 * is asked for by the same name. Gives what is queued by this call; durable when it resolves.
 */
export const createEnqueueOnce = ({ ledger, enqueue }: EnqueueOnceDependencies) => {
  const ownedBy = async ({ destination, alerts }: Parcel, by: string): Promise<Parcel> => {
    const records = await Promise.all(alerts.map(({ id }) => ledger.read(id)));
    const own = alerts.filter((_, index) =>
      records[index]?.deliveries.some(
        (one) => one.destination.id === destination.id && one.state === 'waiting' && one.by === by,
      ),
    );
    return { destination, alerts: own };
  };

  return async (parcels: readonly Parcel[], by: string): Promise<Parcel[]> => {
    await ledger.recordWaiting(parcels, by);
    const owned = await Promise.all(parcels.map((parcel) => ownedBy(parcel, by)));
    const fresh = owned.filter(({ alerts }) => alerts.length > 0);
    await enqueue(fresh);
    return fresh;
  };
};
