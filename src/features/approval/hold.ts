/** What goes to a destination that is not approved: kept whole until it is, and then sent. */
import type { Alert, Destination, Parcel } from '../../alert.ts';
import type { Store } from '../../app/store.ts';
import type { Config } from '../../config/schema.ts';
import { toParcels } from '../../dispatch/parcels.ts';
import type { RouteSettings, Routes } from '../../dispatch/routes.ts';
import { iso } from '../../time.ts';
import { createApprovalPolicy, type IsOpen, trustedBy } from './policy.ts';

export interface ApprovalHoldDependencies {
  config: Pick<Config, 'destinations' | 'fallback'>;
  settings: RouteSettings;
  store: Store;
  /** Besides those that the config names. */
  trusted?: readonly Destination[];
  /** Told of what was kept; told again of the same after a crash. Default: nobody. */
  onHeld?(destination: Destination, alerts: readonly Alert[]): Promise<void>;
  now(): number;
}

export type ApprovalHold = ReturnType<typeof createApprovalHold>;

/** One daemon at a time sends or drops the alerts that are held for a destination. */
const lockName = ({ id }: Destination): string => `approval:${id}`;
const NOT_APPROVED = 'its destination was not approved, and what waited for it was given up';

export const createApprovalHold = ({
  config,
  settings,
  store,
  trusted: given = [],
  onHeld,
  now,
}: ApprovalHoldDependencies) => {
  const { held, ledger, queues, dead, locks } = store;
  const { gate, allow } = config.destinations;
  const named = trustedBy(config.fallback?.channels ?? [], settings);
  const trusted = new Set([...named, ...given.map(({ id }) => id)]);
  const gateFor = createApprovalPolicy({ gate, allow, trusted });

  const isOpen = async (): Promise<IsOpen> => gateFor(gate ? await held.approved() : new Set());

  const send = async (parcels: readonly Parcel[]): Promise<void> => {
    await ledger.recordWaiting(parcels);
    await queues.enqueue(parcels);
  };

  /** Keeps what has still to be sent; durable when it resolves. What was approved meanwhile is sent. Gives how many it keeps. */
  const hold = async ({ destination, alerts }: Parcel): Promise<number> => {
    const pending = await ledger.pending(destination, alerts);
    if (pending.length === 0) return 0;
    const parcel = { destination, alerts: pending };
    if ((await held.hold(destination, pending)) === 'approved') {
      await send([parcel]);
      return 0;
    }
    await ledger.recordWaiting([parcel]);
    await onHeld?.(destination, pending);
    return pending.length;
  };

  /** Takes what is held for a destination, some at a time, out of the hold once `each` has resolved; gives how many. */
  const drain = async (
    destination: Destination,
    each: (alerts: readonly Alert[]) => Promise<void>,
  ): Promise<number> => {
    const { id } = destination;
    const lock = await locks.take([lockName(destination)]);
    if (!lock) return 0;
    try {
      let drained = 0;
      for (let some = await held.some(id); some.length > 0; some = await held.some(id)) {
        await each(some);
        const ids = some.map((alert) => alert.id);
        await held.remove(id, ids);
        drained += some.length;
      }
      return drained;
    } finally {
      await lock.release();
    }
  };

  /** A crash in between queues some again, and the books are asked before they are sent. */
  const release = (destination: Destination): Promise<number> =>
    drain(destination, (alerts) => send(toParcels(alerts.map((alert) => ({ alert, destinations: [destination] })))));

  /** Ends as dead, and kept. */
  const drop = (destination: Destination): Promise<number> =>
    drain(destination, async (alerts) => {
      const end = { reason: 'not-approved', message: NOT_APPROVED, at: iso(now()) };
      for (const alert of alerts) await dead.add({ alert, destination, attempts: 0, ...end });
      await ledger.recordAttempt(destination, alerts, {
        state: 'dead',
        attempt: { outcome: 'dead', durationMs: 0, ...end },
      });
    });

  return {
    isOpen,
    hold: async (parcels: readonly Parcel[]): Promise<void> => {
      for (const parcel of parcels) await hold(parcel);
    },
    /** Sends what is held for one destination; gives how many alerts. Another who does so already is left to it. */
    release,
    /** Gives up what is held for one destination; gives how many alerts. */
    drop,
    /** Sends what is held for destinations that are open now: approved, allowed, or the gate was taken away. */
    releaseOpen: async (): Promise<void> => {
      const all = await held.list();
      const isNowOpen = all.length === 0 ? () => false : await isOpen();
      for (const { destination } of all.filter((one) => isNowOpen(one.destination))) await release(destination);
    },
    /** Puts parcels on their way, or keeps those that may not be sent yet; gives how many deliveries it keeps. */
    pass: async (parcels: readonly Parcel[], nonce: string): Promise<number> => {
      const isNowOpen = await isOpen();
      const isPassed = ({ destination }: Parcel): boolean => isNowOpen(destination);
      await queues.enqueue(parcels.filter(isPassed), nonce);
      let kept = 0;
      for (const parcel of parcels.filter((one) => !isPassed(one))) kept += await hold(parcel);
      return kept;
    },
    /** The same routes, without destinations that may not be written to yet. */
    openOf:
      (routesOf: (alert: Alert) => Promise<Routes>) =>
      async (alert: Alert): Promise<Routes> => {
        const [routes, isNowOpen] = await Promise.all([routesOf(alert), isOpen()]);
        return { ...routes, destinations: routes.destinations.filter(isNowOpen) };
      },
  };
};
