/** Sends what had ended once more, on an operator's word: dead deliveries, or history. */
import type { Alert, Parcel } from '../alert.ts';
import type { Amendments } from './amend.ts';
import { type DeadLetters, deadId } from './dead.ts';
import type { DeliveryState } from './record.ts';

export interface ResendDependencies {
  amendments: Amendments;
  dead: DeadLetters;
  /** Durable when it resolves; `nonce` makes it another job than the one that ended. */
  enqueue(parcels: readonly Parcel[], nonce: string): Promise<void>;
}

/** Deliveries; those that are not sent are the others'. */
export interface Resent {
  sent: number;
  /** Not sent, as they are on their way anyway. */
  waiting: number;
  /** Not sent, as they have been delivered meanwhile. */
  delivered: number;
}

/**
 * A retry repeats what may have been begun by one that was cut short; a replay adds to what is on its way already and
 * must not, while it repeats what was delivered.
 */
const isSent = (found: DeliveryState | undefined, act: 'retried' | 'replayed'): boolean =>
  found === undefined || found === 'dead' || (act === 'retried' ? found === 'waiting' : found !== 'waiting');

export const createResend = ({ amendments, dead, enqueue }: ResendDependencies) => {
  const open = async ({ destination, alerts }: Parcel, act: 'retried' | 'replayed') => {
    const found = await amendments.reopen(destination, alerts, act);
    const isTaken = (_: Alert, index: number): boolean => isSent(found[index], act);
    return { parcel: { destination, alerts: alerts.filter(isTaken) }, found };
  };

  /**
   * The books first, the queue second, the dead letters last: a crash between any two leaves a letter that can be retried,
   * never an alert that nobody sends. A letter whose delivery was delivered meanwhile goes as well.
   */
  return async (parcels: readonly Parcel[], act: 'retried' | 'replayed', nonce: string): Promise<Resent> => {
    const ids = parcels.flatMap(({ destination, alerts }) => alerts.map((alert) => deadId(alert, destination)));
    const letters = await dead.get(ids);
    const opened = await Promise.all(parcels.map((parcel) => open(parcel, act)));
    const fresh = opened.map(({ parcel }) => parcel).filter(({ alerts }) => alerts.length > 0);
    await enqueue(fresh, nonce);
    const found = opened.flatMap((one) => one.found);
    const isDone = new Set(ids.filter((_, index) => isSent(found[index], act) || found[index] === 'delivered'));
    await dead.remove(letters.filter(({ id }) => isDone.has(id)));
    const sent = fresh.reduce((sum, { alerts }) => sum + alerts.length, 0);
    const delivered = act === 'retried' ? found.filter((state) => state === 'delivered').length : 0;
    return { sent, delivered, waiting: found.length - sent - delivered };
  };
};
