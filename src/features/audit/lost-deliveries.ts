/** A lost delivery waits in the ledger, but no job and no approval hold has it. It is found here, and queued again. */
import { type Alert, CHANNEL_KINDS, type ChannelKind, type Destination, type Parcel } from '../../alert.ts';
import type { DeadLetters } from '../../ledger/dead-letters.ts';
import type { AlertRecord, Ledger, Target } from '../../ledger/ledger.ts';
import type { DeliveryRef, JobScan } from '../../queue/scan.ts';
import { iso } from '../../time.ts';

export interface LostDependencies {
  jobScan: JobScan;
  ledger: Pick<Ledger, 'read' | 'recordAttempt'>;
  dead: Pick<DeadLetters, 'add'>;
  enqueue(parcels: readonly Parcel[], nonce: string): Promise<void>;
  /** Where alerts of its protocol go now, triggers aside. */
  destinationsOf(alert: AlertRecord['alert']): Promise<Destination[]>;
  /** The item of an alert as the service lists it now, where it does. */
  itemOf(alert: AlertRecord['alert']): Promise<Alert['item'] | undefined>;
  /** Milliseconds that a delivery may wait without a job: it is in the ledger a little before it is in the queue. */
  lostAfterMs: number;
  now(): number;
}

export interface WaitingDelivery extends DeliveryRef {
  kind: ChannelKind;
  target: Target;
  record: AlertRecord['alert'];
  /** ISO 8601 of the last change in the ledger. */
  at: string;
}

const isKind = (kind: string): kind is ChannelKind => CHANNEL_KINDS.some((known) => known === kind);

const LOST = 'lost';
const NO_ROUTE = 'its job was lost, and no route leads to this destination any more';

export const createLostDeliveries = (dependencies: LostDependencies) => {
  const { jobScan, ledger, dead, lostAfterMs, now } = dependencies;

  const isOverdue = (at: string): boolean => now() - Date.parse(at) > lostAfterMs;

  /** Asked again after the queue was looked through: the job may have ended meanwhile. */
  const isStillWaiting = async ({ alert, destination, at }: WaitingDelivery): Promise<boolean> => {
    const deliveries = (await ledger.read(alert))?.deliveries ?? [];
    return deliveries.some((one) => one.destination.id === destination && one.state === 'waiting' && one.at === at);
  };

  /** A waiting alert would hold back the cursor backup for ever, so the delivery ends as dead. */
  const markDead = async (delivery: WaitingDelivery, alert: Alert): Promise<void> => {
    // The service was asked meanwhile, and a job that was stuck may have ended.
    if (!(await isStillWaiting(delivery))) return;
    const { target } = delivery;
    const end = { reason: LOST, message: NO_ROUTE, at: iso(now()) };
    await dead.add({ alert, attempts: 0, ...end });
    await ledger.recordAttempt(target, [alert], { state: 'dead', attempt: { outcome: 'dead', durationMs: 0, ...end } });
  };

  /** With its item as it is now, or with what the ledger knows of an item that is gone. */
  const restore = async (record: AlertRecord['alert']): Promise<Alert> => {
    const { itemId, txHash } = record;
    const known = { _id: itemId, ...(txHash === undefined ? {} : { txHash }) };
    return { ...record, item: (await dependencies.itemOf(record)) ?? known, replay: false };
  };

  return {
    /** Those of an alert's deliveries that have waited for long. */
    overdueOf: ({ alert, deliveries }: AlertRecord): WaitingDelivery[] =>
      deliveries.flatMap(({ state, at, destination: target }) =>
        state === 'waiting' && isOverdue(at) && isKind(target.kind)
          ? [{ alert: alert.id, destination: target.id, kind: target.kind, target, record: alert, at }]
          : [],
      ),
    /** Those of them that no job will send. */
    lostOf: async (overdue: readonly WaitingDelivery[]): Promise<WaitingDelivery[]> => {
      const lost: WaitingDelivery[] = [];
      for (const [kind, all] of Map.groupBy(overdue, (one) => one.kind)) {
        for (const one of await jobScan.withoutJob(kind, all)) if (await isStillWaiting(one)) lost.push(one);
      }
      return lost;
    },
    /** Queues one again; durable when it resolves. Throws what `itemOf` throws. */
    heal: async (delivery: WaitingDelivery): Promise<void> => {
      const alert = await restore(delivery.record);
      const destination = (await dependencies.destinationsOf(alert)).find(({ id }) => id === delivery.destination);
      if (destination) await dependencies.enqueue([{ destination, alerts: [alert] }], `${LOST} ${now()}`);
      else await markDead(delivery, alert);
    },
  };
};
