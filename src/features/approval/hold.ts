/** Alerts for a destination that is not approved: kept whole until it is approved, and then sent. */

import type { Alert, Destination, Parcel } from '../../alert.ts';
import { toParcels } from '../../dispatch/parcels.ts';
import type { DeadLetters } from '../../ledger/dead-letters.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { oneByOne } from '../../one-by-one.ts';
import type { ParcelQueues } from '../../queue/queues.ts';
import type { Locks } from '../../redis/lock.ts';
import { iso } from '../../time.ts';
import type { IsOpen } from './policy.ts';
import type { ApprovalStore } from './store.ts';

export interface ApprovalHoldDependencies {
  /** `destinations.gate`: off, every destination is open. */
  isGateOn: boolean;
  /** Which destinations are open, given the ids of the approved ones: see `createApprovalPolicy`. */
  policy(approved: ReadonlySet<string>): IsOpen;
  held: Pick<ApprovalStore, 'approved' | 'hold' | 'list' | 'some' | 'remove'>;
  ledger: Pick<Ledger, 'recordWaiting' | 'pending' | 'recordAttempt'>;
  deadLetters: Pick<DeadLetters, 'add'>;
  enqueue: ParcelQueues['enqueue'];
  locks: Pick<Locks, 'take'>;
  /** Called with alerts that were to be held, also those that died as too many are; after a crash with the same ones again. Default: nothing. */
  onHeld?(destination: Destination, alerts: readonly Alert[]): Promise<void>;
  /** Called with alerts that died because too many are held already. Default: nothing. */
  onFull?(destination: Destination, alerts: readonly Alert[]): void;
  now(): number;
}

export type ApprovalHold = ReturnType<typeof createApprovalHold>;

/** One daemon at a time sends or drops the alerts that are held for a destination. */
const lockName = ({ id }: Destination): string => `approval:${id}`;
const FULL = 'too many alerts wait for approval of destinations: approve it, then tocsin dead retry';
const NOT_APPROVED = 'its destination was not approved, and the alerts held for it were dropped';

/** Takes held alerts out of the hold, some at a time, under a lock: one daemon at a time for each destination. */
const createDrain =
  ({ held, locks }: Pick<ApprovalHoldDependencies, 'held' | 'locks'>) =>
  /** An alert leaves the hold once `each` has resolved. Gives how many left. */
  async (destination: Destination, each: (alerts: readonly Alert[]) => Promise<void>): Promise<number> => {
    const { id } = destination;
    const lock = await locks.take([lockName(destination)]);
    if (!lock) return 0;
    try {
      let drained = 0;
      for (let some = await held.some(id); some.length > 0; some = await held.some(id)) {
        await each(some);
        await held.remove(
          id,
          some.map((alert) => alert.id),
        );
        drained += some.length;
      }
      return drained;
    } finally {
      await lock.release();
    }
  };

/** Ends deliveries as dead that were never tried. They are kept as dead letters. */
const createEnd =
  ({ ledger, deadLetters, now }: Pick<ApprovalHoldDependencies, 'ledger' | 'deadLetters' | 'now'>) =>
  async (
    destination: Destination,
    alerts: readonly Alert[],
    why: { reason: string; message: string },
  ): Promise<void> => {
    const end = { ...why, at: iso(now()) };
    for (const alert of await ledger.pending(destination, alerts)) {
      await deadLetters.add({ alert, destination, attempts: 0, ...end });
    }
    const attempt = { outcome: 'dead', durationMs: 0, ...end } as const;
    await ledger.recordAttempt(destination, alerts, { state: 'dead', attempt });
  };

export const createApprovalHold = (dependencies: ApprovalHoldDependencies) => {
  const { isGateOn, policy, held, ledger, enqueue, onHeld, onFull } = dependencies;
  const drain = createDrain(dependencies);
  const end = createEnd(dependencies);

  const isOpen = async (): Promise<IsOpen> => policy(isGateOn ? await held.approved() : new Set());

  /** A notification that was held before its inspection may be covered by now: its job looks. */
  const send = async (parcels: readonly Parcel[]): Promise<void> => {
    await ledger.recordWaiting(parcels);
    await enqueue(parcels, undefined, 0);
  };

  /** Gives how many alerts are held. Those of a destination that was approved meanwhile are sent. */
  const holdOne = async ({ destination, alerts }: Parcel): Promise<number> => {
    const pending = await ledger.pending(destination, alerts);
    if (pending.length === 0) return 0;
    const full = await held.hold(destination, pending);
    if (full === 'approved') {
      await send([{ destination, alerts: pending }]);
      return 0;
    }
    const { kept = [], refused = [] } = Object.groupBy(pending, ({ id }) => (full.has(id) ? 'refused' : 'kept'));
    await ledger.recordWaiting([{ destination, alerts: kept }]);
    await onHeld?.(destination, pending);
    if (refused.length === 0) return kept.length;
    await end(destination, refused, { reason: 'hold-full', message: FULL });
    onFull?.(destination, refused);
    return kept.length;
  };

  /** After a crash some are enqueued again; the ledger is asked before anything is sent. */
  const release = (destination: Destination): Promise<number> =>
    drain(destination, (alerts) => send(toParcels(alerts.map((alert) => ({ alert, destinations: [destination] })))));

  return {
    isOpen,
    /** Holds alerts; durable when it resolves. Gives how many. */
    hold: async (parcels: readonly Parcel[]): Promise<number> => {
      let count = 0;
      for (const parcel of parcels) count += await holdOne(parcel);
      return count;
    },
    /** Sends the alerts held for one destination; gives how many. None where another daemon does so already. */
    release,
    /** Ends the alerts held for one destination as dead; gives how many. They are kept as dead letters. */
    drop: (destination: Destination): Promise<number> =>
      drain(destination, (alerts) => end(destination, alerts, { reason: 'not-approved', message: NOT_APPROVED })),
    /**
     * Sends what is held for destinations that are open by now: approved, allowed, or the gate is off. Tries each of
     * them; then throws what failed.
     */
    releaseApproved: async (): Promise<void> => {
      const all = await held.list();
      const isNowOpen = all.length === 0 ? () => false : await isOpen();
      const approved = all.map(({ destination }) => destination).filter(isNowOpen);
      await oneByOne(approved, ({ label }) => label, release);
    },
  };
};

export interface EnqueueApprovedDependencies {
  approval: Pick<ApprovalHold, 'isOpen' | 'hold'>;
  enqueue: ParcelQueues['enqueue'];
}

/** Enqueues parcels whose destinations are open, and holds the others. Gives how many deliveries are held. */
export const createEnqueueApproved =
  ({ approval, enqueue }: EnqueueApprovedDependencies) =>
  async (parcels: readonly Parcel[], nonce: string): Promise<number> => {
    const isOpen = await approval.isOpen();
    await enqueue(
      parcels.filter(({ destination }) => isOpen(destination)),
      nonce,
    );
    return approval.hold(parcels.filter(({ destination }) => !isOpen(destination)));
  };
