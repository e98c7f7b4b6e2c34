/** Sends deliveries that had ended again, because an operator asks for it: a retry of dead ones, or a replay. */
import type { Alert, Parcel } from '../../alert.ts';
import type { Corrections } from '../../ledger/corrections.ts';
import { type DeadLetters, deadId } from '../../ledger/dead-letters.ts';
import type { DeliveryState } from '../../ledger/record.ts';

export interface ResendDependencies {
  corrections: Corrections;
  dead: DeadLetters;
  /**
   * Durable when it resolves. `nonce` makes other jobs than those that ended. Gives how many deliveries are held until
   * their destination is approved.
   */
  enqueue(parcels: readonly Parcel[], nonce: string): Promise<number>;
  /** Those of a parcel's alerts that have neither a queued job nor an approval hold. */
  withoutJob(parcel: Parcel): Promise<Alert[]>;
}

/** Counts of deliveries. */
export interface Resent {
  sent: number;
  /** Held: their destination is not approved. */
  held: number;
  /** Not sent again: they are on their way already. */
  waiting: number;
  /** Not sent again: they were delivered meanwhile. */
  delivered: number;
}

type Act = 'retried' | 'replayed';

/** A delivery that is waiting is sent again only where it has no job, see `withoutJob`. */
const isReopened = (found: DeliveryState | undefined, act: Act): boolean =>
  found === undefined || found === 'dead' || (act === 'replayed' && found !== 'waiting');

export const createResend = ({ corrections, dead, enqueue, withoutJob }: ResendDependencies) => {
  const open = async ({ destination, alerts }: Parcel, act: Act) => {
    const found = await corrections.reopen(destination, alerts, act);
    const waiting = alerts.filter((_, index) => found[index] === 'waiting');
    // A crash between ledger and queue leaves deliveries that wait without a job: enqueue those as well.
    const lost = new Set(waiting.length === 0 ? [] : await withoutJob({ destination, alerts: waiting }));
    const taken = alerts.map((alert, index) => lost.has(alert) || isReopened(found[index], act));
    return { parcel: { destination, alerts: alerts.filter((_, index) => taken[index]) }, found, taken };
  };

  /**
   * The ledger first, the queue second, the dead letters last: a crash between any two leaves a dead letter that can be
   * retried, never an alert that nobody sends. A dead letter whose delivery was delivered meanwhile goes as well.
   */
  return async (parcels: readonly Parcel[], act: Act, nonce: string): Promise<Resent> => {
    const ids = parcels.flatMap(({ destination, alerts }) => alerts.map((alert) => deadId(alert, destination)));
    const letters = await dead.get(ids);
    const opened = await Promise.all(parcels.map((parcel) => open(parcel, act)));
    const fresh = opened.map(({ parcel }) => parcel).filter(({ alerts }) => alerts.length > 0);
    const held = await enqueue(fresh, nonce);
    const found = opened.flatMap((one) => one.found);
    const taken = opened.flatMap((one) => one.taken);
    // A delivery that waits and is not sent again keeps its letter: it may be dying now, and the ledger is written last.
    const isDone = new Set(ids.filter((_, index) => taken[index] || found[index] === 'delivered'));
    await dead.remove(letters.filter(({ id }) => isDone.has(id)));
    const again = fresh.reduce((sum, { alerts }) => sum + alerts.length, 0);
    const delivered = act === 'retried' ? found.filter((state) => state === 'delivered').length : 0;
    return { sent: again - held, held, delivered, waiting: found.length - again - delivered };
  };
};
