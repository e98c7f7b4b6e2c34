/** Deliveries that the books call waiting and that no job carries: found, and put on their way again. */
import { type Alert, CHANNEL_KINDS, type ChannelKind, type Destination, type Parcel } from '../../alert.ts';
import type { DeadLetters } from '../../ledger/dead-letters.ts';
import type { AlertRecord, Ledger, Target } from '../../ledger/ledger.ts';
import type { DeliveryRef, JobScan } from '../../queue/scan.ts';
import { iso } from '../../time.ts';

export interface LostDependencies {
  jobScan: JobScan;
  ledger: Ledger;
  dead: DeadLetters;
  enqueue(parcels: readonly Parcel[], nonce: string): Promise<void>;
  /** Where alerts of its protocol go now, triggers aside. */
  destinationsOf(alert: AlertRecord['alert']): Promise<Destination[]>;
  /** The item of an alert as the service lists it now, where it does. */
  itemOf(alert: AlertRecord['alert']): Promise<Alert['item'] | undefined>;
  /** Milliseconds a delivery may wait without a job: one is between its lists for a moment only. */
  lostAfterMs: number;
  now(): number;
}

/** A delivery that may be lost. */
export interface Suspect extends DeliveryRef {
  kind: ChannelKind;
  target: Target;
  record: AlertRecord['alert'];
  /** ISO 8601 of the last change in the books. */
  at: string;
}

const isKind = (kind: string): kind is ChannelKind => CHANNEL_KINDS.some((known) => known === kind);

const LOST = 'lost';
const NO_ROUTE = 'its job was lost, and nothing leads to this destination any more';

export const createLostDeliveries = (dependencies: LostDependencies) => {
  const { jobScan, ledger, dead, lostAfterMs, now } = dependencies;

  const waitsLong = (at: string): boolean => now() - Date.parse(at) > lostAfterMs;

  const suspectsIn = ({ alert, deliveries }: AlertRecord): Suspect[] =>
    deliveries.flatMap(({ state, at, destination: target }) =>
      state === 'waiting' && waitsLong(at) && isKind(target.kind)
        ? [{ alert: alert.id, destination: target.id, kind: target.kind, target, record: alert, at }]
        : [],
    );

  /** Asked twice over: between the books and the queue a job may have ended. */
  const stillWaits = async ({ alert, destination, at }: Suspect): Promise<boolean> => {
    const deliveries = (await ledger.read(alert))?.deliveries ?? [];
    return deliveries.some((one) => one.destination.id === destination && one.state === 'waiting' && one.at === at);
  };

  const lostOf = async (suspects: readonly Suspect[]): Promise<Suspect[]> => {
    const lost: Suspect[] = [];
    for (const [kind, all] of Map.groupBy(suspects, (suspect) => suspect.kind)) {
      for (const suspect of await jobScan.withoutJob(kind, all)) {
        if (await stillWaits(suspect)) lost.push(suspect);
      }
    }
    return lost;
  };

  /** What nothing leads to any more ends: an open alert would hold back the copy of the cursors for ever. */
  const markLost = async ({ target }: Suspect, alert: Alert): Promise<void> => {
    const end = { reason: LOST, message: NO_ROUTE, at: iso(now()) };
    await dead.add({ alert, attempts: 0, ...end });
    await ledger.recordAttempt(target, [alert], { state: 'dead', attempt: { outcome: 'dead', durationMs: 0, ...end } });
  };

  /** With its item as it is now, or with what the books know where that is gone. */
  const restore = async (record: AlertRecord['alert']): Promise<Alert> => {
    const { itemId, txHash } = record;
    const known = { _id: itemId, ...(txHash === undefined ? {} : { txHash }) };
    return { ...record, item: (await dependencies.itemOf(record)) ?? known, replay: false };
  };

  return {
    /** Those of an alert's deliveries that have been waiting for long. */
    suspectsIn,
    /** Those of them that no job will send. */
    lostOf,
    /** Puts one on its way again; durable when it resolves. Throws what `itemOf` throws. */
    heal: async (suspect: Suspect): Promise<void> => {
      const alert = await restore(suspect.record);
      const destination = (await dependencies.destinationsOf(alert)).find(({ id }) => id === suspect.destination);
      if (destination) await dependencies.enqueue([{ destination, alerts: [alert] }], `${LOST} ${now()}`);
      else await markLost(suspect, alert);
    },
  };
};
