/** Alerts for a destination that is not approved: kept whole until it is approved, and then sent. */
import type { Logger } from 'pino';
import type { Alert, Destination, Parcel } from '../../alert.ts';
import { placeOf } from '../../channels/registry.ts';
import { oneByOne } from '../../chunks.ts';
import { toParcels } from '../../dispatch/parcels.ts';
import type { DeadLetters } from '../../ledger/dead-letters.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Target } from '../../ledger/record.ts';
import type { ParcelQueues } from '../../queue/queues.ts';
import type { JobScan } from '../../queue/scan.ts';
import { type Locks, underLock } from '../../redis/lock.ts';
import { capital, namesText } from '../../text.ts';
import { iso } from '../../time.ts';
import { type Announce, TO_DO } from '../announcements/announce.ts';
import type { Fallback } from '../fallback/fallback.ts';
import { type Names, withName } from '../names/names.ts';
import { type ApprovalSettings, createApprovalPolicy, type IsOpen } from './policy.ts';
import type { ApprovalStore, HeldDestination } from './store.ts';

interface HoldAnnouncerDependencies {
  held: Pick<ApprovalStore, 'list' | 'announced'>;
  announce: Announce;
  /** Who hears of it: those of the fallback, and who hears of Tocsin's own troubles. */
  readers: readonly Destination[];
  fallback: Pick<Fallback, 'destinations' | 'divert'>;
  names(): Promise<Names>;
  log: Pick<Logger, 'warn' | 'error'>;
}

const MOST_NAMED = 5;

const noticeOf = (destination: Target, isRevoked: boolean): string =>
  `Fallback: ${capital(placeOf(destination))} does not get this: it ${isRevoked ? 'was revoked' : 'is new'} and waits for approval. If it is yours: tocsin destinations approve ${destination.id}`;

/** Names of the service's, in one line. */
const NAMED = 10;

export const heldText = (
  destination: Target,
  { isRevoked, protocols, held }: { isRevoked: boolean; protocols: readonly string[]; held: number },
): string => {
  const listed = protocols.length === 1 ? '' : `The service lists it for ${namesText(protocols, NAMED)}. `;
  return [
    `${capital(placeOf(destination))} ${isRevoked ? 'was revoked but is still listed' : 'is new'} for alerts of ${namesText(protocols, 1)} and waits for approval.`,
    `${listed}Until somebody approves it, nothing is sent there: ${held === 1 ? 'one alert waits' : `${held} alerts wait`} so far. The fallback channels get ${held === 1 ? 'it' : 'them'} meanwhile.`,
    `${TO_DO}if it is yours, run \`tocsin destinations approve ${destination.id}\`; the alerts that wait are then sent there. If nobody of you knows it, somebody else may have access to the monitoring service: remove it there, and change the API key.`,
  ].join('\n');
};

/** Announces a destination that waits for approval, once; its alerts go to the fallback meanwhile. */
export const createHoldAnnouncer = (dependencies: HoldAnnouncerDependencies) => {
  const { held, announce, readers, fallback, names, log } = dependencies;
  const named = async (destination: Destination) => withName(destination, await names());

  /** The same `since` makes the same announcement: it is sent once, however often and by however many daemons it is found. */
  const announceOne = async (
    { destination, since, isRevoked }: HeldDestination,
    alerts: readonly Alert[],
  ): Promise<void> => {
    const { id, label } = destination;
    const protocols = new Set(alerts.map(({ protocol }) => protocol));
    const message = heldText(await named(destination), { isRevoked, protocols: [...protocols], held: alerts.length });
    const key = `${id} ${since}`;
    await announce({ about: 'destination.new', key, message }, Date.parse(since), readers);
    await held.announced(id);
    const what = `a ${isRevoked ? 'revoked' : 'new'} destination waits for approval`;
    const line = { destination: id, to: [label], protocols: protocols.size };
    log.warn({ ...line, named: [...protocols].slice(0, MOST_NAMED) }, what);
  };

  return async (destination: Destination, alerts: readonly Alert[]): Promise<void> => {
    const { id, label } = destination;
    const found = (await held.list()).find((one) => one.destination.id === id);
    if (found !== undefined && !found.isAnnounced) await announceOne(found, alerts);
    if (fallback.destinations.length === 0) {
      const line = { destination: id, to: [label], alerts: alerts.length };
      log.error(line, 'alerts are held for a destination that is not approved, and no fallback is configured');
      return;
    }
    const text = noticeOf(await named(destination), found?.isRevoked === true);
    await fallback.divert(alerts, { reason: 'held', by: `held ${id}`, notice: () => text });
  };
};

export interface ApprovalHoldDependencies extends ApprovalSettings {
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

const FULL = 'too many alerts wait for approval of destinations: approve it, then tocsin dead retry';
const NOT_APPROVED = 'its destination was not approved, and the alerts held for it were dropped';

/** Takes held alerts out of the hold, some at a time, under a lock: one daemon at a time for each destination. */
const createDrain =
  ({ held, locks }: Pick<ApprovalHoldDependencies, 'held' | 'locks'>) =>
  /** An alert leaves the hold once `each` has resolved. Gives how many left. */
  async (destination: Destination, each: (alerts: readonly Alert[]) => Promise<void>): Promise<number> => {
    const { id } = destination;
    const drained = await underLock(locks, [`approval:${id}`], async () => {
      let count = 0;
      for (let some = await held.some(id); some.length > 0; some = await held.some(id)) {
        await each(some);
        const ids = some.map((alert) => alert.id);
        await held.remove(id, ids);
        count += some.length;
      }
      return count;
    });
    return drained ?? 0;
  };

/** Ends deliveries as dead that were never tried. They are kept as dead letters. */
const createEnd =
  ({ ledger, deadLetters, now }: Pick<ApprovalHoldDependencies, 'ledger' | 'deadLetters' | 'now'>) =>
  async (destination: Destination, alerts: readonly Alert[], why: { reason: string; message: string }) => {
    const end = { ...why, at: iso(now()) };
    for (const alert of await ledger.pending(destination, alerts)) {
      await deadLetters.add({ alert, destination, attempts: 0, ...end });
    }
    const attempt = { outcome: 'dead', durationMs: 0, ...end } as const;
    await ledger.recordAttempt(destination, alerts, { state: 'dead', attempt });
  };

export const createApprovalHold = (dependencies: ApprovalHoldDependencies) => {
  const { gate, held, ledger, enqueue, onHeld, onFull } = dependencies;
  const policy = createApprovalPolicy(dependencies);
  const drain = createDrain(dependencies);
  const end = createEnd(dependencies);

  const trusts = createApprovalPolicy({ ...dependencies, gate: true });

  const isOpen = async (): Promise<IsOpen> => policy(gate ? await held.approved() : new Set());

  /** Redis is asked only about what the config does not name. */
  const isTrusted = async (destination: Destination): Promise<boolean> =>
    trusts(new Set())(destination) || trusts(await held.approved())(destination);

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

  const hold = async (parcels: readonly Parcel[]): Promise<number> => {
    let count = 0;
    for (const parcel of parcels) count += await holdOne(parcel);
    return count;
  };

  /** After a crash some are enqueued again; the ledger is asked before anything is sent. */
  const release = (destination: Destination): Promise<number> =>
    drain(destination, (alerts) => send(toParcels(alerts.map((alert) => ({ alert, destinations: [destination] })))));

  return {
    isOpen,
    /** Whether the config names it, or somebody approved it; also where no gate demands that. */
    isTrusted,
    /** Holds alerts; durable when it resolves. Gives how many. */
    hold,
    /** Enqueues parcels whose destinations are open, and holds the others. Gives how many deliveries are held. */
    enqueueApproved: async (parcels: readonly Parcel[], nonce: string): Promise<number> => {
      const isNowOpen = await isOpen();
      const { open = [], closed = [] } = Object.groupBy(parcels, ({ destination }) =>
        isNowOpen(destination) ? 'open' : 'closed',
      );
      await enqueue(open, nonce);
      return hold(closed);
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

/** Deliveries that have a queued job or an approval hold: they are sent without anybody's help, or once approved. */
export const createQueuedOrHeld = (jobScan: JobScan, held: Pick<ApprovalStore, 'waiting'>): JobScan => ({
  withoutJob: async (kind, deliveries) => {
    const notHeld: (typeof deliveries)[number][] = [];
    for (const [destination, all] of Map.groupBy(deliveries, (one) => one.destination)) {
      const ids = all.map(({ alert }) => alert);
      const waiting = await held.waiting(destination, ids);
      notHeld.push(...all.filter(({ alert }) => !waiting.has(alert)));
    }
    // The queue is asked second: an alert that is released meanwhile is queued before it leaves the hold.
    return jobScan.withoutJob(kind, notHeld);
  },
});
