/** Sends what had ended once more, on an operator's word: dead deliveries, or history. */
import type { Alert, Parcel } from '../../alert.ts';
import type { Corrections } from '../../ledger/corrections.ts';
import { type DeadLetters, deadId } from '../../ledger/dead-letters.ts';
import type { DeliveryState } from '../../ledger/record.ts';

export interface ResendDependencies {
  corrections: Corrections;
  dead: DeadLetters;
  /**
   * Durable when it resolves; `nonce` makes it another job than the one that ended. Gives how many deliveries are held
   * until their destination is approved.
   */
  enqueue(parcels: readonly Parcel[], nonce: string): Promise<number>;
  /** Those of a parcel's alerts that no job of the queue will send there. */
  withoutJob(parcel: Parcel): Promise<Alert[]>;
}

/** Deliveries; those that are not sent are the others'. */
export interface Resent {
  sent: number;
  /** On their way again, but only as far as the gate: their destination is not approved. */
  held: number;
  /** Not sent, as they are on their way anyway. */
  waiting: number;
  /** Not sent, as they have been delivered meanwhile. */
  delivered: number;
}

type Act = 'retried' | 'replayed';

/** What waits is another matter: it is sent only where nothing else would send it. */
const isReopened = (found: DeliveryState | undefined, act: Act): boolean =>
  found === undefined || found === 'dead' || (act === 'replayed' && found !== 'waiting');

export const createResend = ({ corrections, dead, enqueue, withoutJob }: ResendDependencies) => {
  const open = async ({ destination, alerts }: Parcel, act: Act) => {
    const found = await corrections.reopen(destination, alerts, act);
    const waiting = alerts.filter((_, index) => found[index] === 'waiting');
    // What was cut short between the books and the queue waits there for ever, unless it is taken up again here.
    const lost = new Set(waiting.length === 0 ? [] : await withoutJob({ destination, alerts: waiting }));
    const taken = alerts.map((alert, index) => lost.has(alert) || isReopened(found[index], act));
    return { parcel: { destination, alerts: alerts.filter((_, index) => taken[index]) }, found, taken };
  };

  /**
   * The books first, the queue second, the dead letters last: a crash between any two leaves a letter that can be retried,
   * never an alert that nobody sends. A letter whose delivery was delivered meanwhile goes as well.
   */
  return async (parcels: readonly Parcel[], act: Act, nonce: string): Promise<Resent> => {
    const ids = parcels.flatMap(({ destination, alerts }) => alerts.map((alert) => deadId(alert, destination)));
    const letters = await dead.get(ids);
    const opened = await Promise.all(parcels.map((parcel) => open(parcel, act)));
    const fresh = opened.map(({ parcel }) => parcel).filter(({ alerts }) => alerts.length > 0);
    const held = await enqueue(fresh, nonce);
    const found = opened.flatMap((one) => one.found);
    const taken = opened.flatMap((one) => one.taken);
    // What waits and is not taken keeps its letter: it may be dying right now, and the books are the last to know.
    const isDone = new Set(ids.filter((_, index) => taken[index] || found[index] === 'delivered'));
    await dead.remove(letters.filter(({ id }) => isDone.has(id)));
    const again = fresh.reduce((sum, { alerts }) => sum + alerts.length, 0);
    const delivered = act === 'retried' ? found.filter((state) => state === 'delivered').length : 0;
    return { sent: again - held, held, delivered, waiting: found.length - again - delivered };
  };
};
