/** Sends again what operators name: dead deliveries to where they went, unroutable alerts by the routes of today. */
import type { Alert, ChannelKind, Destination, Parcel } from '../../alert.ts';
import type { Routes } from '../../dispatch/dispatch.ts';
import { toParcels } from '../../dispatch/parcels.ts';
import { contentId } from '../../item.ts';
import type { Corrections } from '../../ledger/corrections.ts';
import { type DeadDelivery, type DeadLetters, deadId } from '../../ledger/dead-letters.ts';
import { type DeliveryState, NO_DESTINATION } from '../../ledger/record.ts';
import type { ParcelQueues } from '../../queue/queues.ts';
import type { JobScan } from '../../queue/scan.ts';

interface ResendDependencies {
  corrections: Pick<Corrections, 'reopen'>;
  deadLetters: Pick<DeadLetters, 'get' | 'remove'>;
  /**
   * Enqueues parcels, or holds them for approval; durable when it resolves. `nonce` makes other jobs than those that ended.
   * Gives how many deliveries are held.
   */
  enqueueApproved(parcels: readonly Parcel[], nonce: string): Promise<number>;
  queuedOrHeld: JobScan;
  /** Takes back that a destination's receiver wants nothing more. */
  enable(destination: Destination['id']): Promise<unknown>;
}

export interface RetryDependencies extends ResendDependencies {
  corrections: Pick<Corrections, 'reopen' | 'clearUnroutable'>;
  routesOf(alert: Alert): Promise<Routes>;
  isConfigured(kind: ChannelKind): boolean;
  /** How many workers take from a kind's queue. */
  workers: ParcelQueues['workers'];
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

/** Sends deliveries that had ended again, because an operator asks for it: a retry of dead ones, or a replay. */
export const createResend = (dependencies: ResendDependencies) => {
  const { corrections, deadLetters, enqueueApproved, queuedOrHeld, enable } = dependencies;
  const enabled = new Set<Destination['id']>();

  /** The operator wants to know whether a destination works, so each is enabled once. */
  const enableAll = async (parcels: readonly Parcel[]): Promise<void> => {
    for (const { destination } of parcels) {
      if (!enabled.has(destination.id)) await enable(destination.id);
      enabled.add(destination.id);
    }
  };

  const withoutJob = async ({ destination, alerts }: Parcel): Promise<Alert[]> => {
    const deliveries = alerts.map((one) => ({ one, alert: one.id, destination: destination.id }));
    return (await queuedOrHeld.withoutJob(destination.kind, deliveries)).map(({ one }) => one);
  };

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
    await enableAll(parcels);
    const letters = await deadLetters.get(ids);
    const opened = await Promise.all(parcels.map((parcel) => open(parcel, act)));
    const fresh = opened.map(({ parcel }) => parcel).filter(({ alerts }) => alerts.length > 0);
    const held = await enqueueApproved(fresh, nonce);
    const found = opened.flatMap((one) => one.found);
    const taken = opened.flatMap((one) => one.taken);
    // A delivery that waits and is not sent again keeps its letter: it may be dying now, and the ledger is written last.
    const isDone = new Set(ids.filter((_, index) => taken[index] || found[index] === 'delivered'));
    await deadLetters.remove(letters.filter(({ id }) => isDone.has(id)));
    const again = fresh.reduce((sum, { alerts }) => sum + alerts.length, 0);
    const delivered = act === 'retried' ? found.filter((state) => state === 'delivered').length : 0;
    return { sent: again - held, held, delivered, waiting: found.length - again - delivered };
  };
};

/**
 * Gives up dead deliveries, so that nobody is asked about them any more. Gives how many are gone; those that are on their way
 * meanwhile stay.
 */
export const createDrop =
  ({ corrections, dead }: { corrections: Pick<Corrections, 'drop'>; dead: Pick<DeadLetters, 'remove'> }) =>
  async (letters: readonly DeadDelivery[]): Promise<number> => {
    const dropped: DeadDelivery[] = [];
    for (const together of Map.groupBy(letters, ({ destination }) => destination?.id).values()) {
      const [first] = together;
      const alerts = together.map(({ alert }) => alert);
      const found = await corrections.drop(first?.destination ?? NO_DESTINATION, alerts);
      dropped.push(...together.filter((_, index) => found[index] !== 'waiting'));
    }
    await dead.remove(dropped);
    return dropped.length;
  };

export interface Retried extends Resent {
  /** Letters that stay as they are, and why. */
  refused: { id: string; problem: string }[];
  /** Kinds of channel that have something to send now. */
  kinds: ChannelKind[];
}

export const createRetry = (dependencies: RetryDependencies) => {
  const { corrections, deadLetters, routesOf, isConfigured, workers } = dependencies;
  const resend = createResend(dependencies);

  /** `problems`: why it cannot be sent, where it has no destinations. */
  const route = async (letter: DeadDelivery) => {
    const { destination, alert } = letter;
    if (destination === undefined) {
      const { destinations, problems } = await routesOf(alert);
      return { letter, destinations, problems: ['it has no destination now either', ...problems] };
    }
    const problems = [`the config does not set up the channel kind '${destination.kind}'`];
    return { letter, destinations: isConfigured(destination.kind) ? [destination] : [], problems };
  };

  return {
    resend,
    /** The same retry, cut short and repeated, makes the same jobs; a retry after another death makes others. */
    retry: async (letters: readonly DeadDelivery[]): Promise<Retried> => {
      const routed = await Promise.all(letters.map(route));
      const sendable = routed.filter(({ destinations }) => destinations.length > 0);
      const nonce = contentId(...sendable.flatMap(({ letter }) => [letter.id, letter.at]));
      const bound = sendable.map(({ letter: { alert }, destinations }) => ({ alert, destinations }));
      const resent = await resend(toParcels(bound), 'retried', nonce);
      const unroutable = sendable.map(({ letter }) => letter).filter(({ destination }) => destination === undefined);
      await corrections.clearUnroutable(unroutable.map(({ alert }) => alert));
      await deadLetters.remove(unroutable);
      const refused = routed
        .filter(({ destinations }) => destinations.length === 0)
        .map(({ letter: { id }, problems }) => ({ id, problem: problems.join('; ') }));
      const kinds = sendable.flatMap(({ destinations }) => destinations.map(({ kind }) => kind));
      return { ...resent, refused, kinds: [...new Set(kinds)] };
    },
    /** Those of the kinds that no daemon sends at present. */
    idleKinds: async (kinds: ReadonlySet<ChannelKind>): Promise<ChannelKind[]> => {
      const counted = await Promise.all([...kinds].map(async (kind) => ({ kind, count: await workers(kind) })));
      return counted.filter(({ count }) => count === 0).map(({ kind }) => kind);
    },
  };
};
