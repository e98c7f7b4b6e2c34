/** Sends again what operators name: dead deliveries to where they went, unroutable alerts by the routes of today. */
import type { Alert, ChannelKind, Destination, Parcel } from '../../alert.ts';
import { toParcels } from '../../dispatch/parcels.ts';
import type { Routes } from '../../dispatch/route.ts';
import { contentId } from '../../identity.ts';
import type { Corrections } from '../../ledger/corrections.ts';
import type { DeadDelivery, DeadLetters } from '../../ledger/dead-letters.ts';
import type { ParcelQueues } from '../../queue/queues.ts';
import type { JobScan } from '../../queue/scan.ts';
import { createResend, type ResendDependencies, type Resent } from './resend.ts';

export interface Retried extends Resent {
  /** Letters that stay as they are, and why. */
  refused: { id: string; problem: string }[];
  /** Kinds of channel that have something to send now. */
  kinds: ChannelKind[];
}

export interface RetryDependencies {
  corrections: Pick<Corrections, 'reopen' | 'drop' | 'clearUnroutable'>;
  deadLetters: DeadLetters;
  /** Enqueues parcels, or holds them for approval; gives how many deliveries are held. */
  enqueueApproved: ResendDependencies['enqueue'];
  /** Deliveries that have a queued job or an approval hold. */
  queuedOrHeld: JobScan;
  /** Takes back that a destination's receiver wants nothing more. */
  enable(destination: Destination['id']): Promise<unknown>;
  routesOf(alert: Alert): Promise<Routes>;
  isConfigured(kind: ChannelKind): boolean;
  /** How many workers take from a kind's queue. */
  workers: ParcelQueues['workers'];
}

interface Routed {
  letter: DeadDelivery;
  destinations: Destination[];
  problems: string[];
}

/** Sends parcels again; the operator wants to know whether a destination works, so each is enabled once. */
const createEnablingResend = ({
  corrections,
  deadLetters,
  enqueueApproved,
  queuedOrHeld,
  enable,
}: RetryDependencies): ReturnType<typeof createResend> => {
  const withoutJob = async ({ destination, alerts }: Parcel): Promise<Alert[]> => {
    const deliveries = alerts.map((one) => ({ one, alert: one.id, destination: destination.id }));
    return (await queuedOrHeld.withoutJob(destination.kind, deliveries)).map(({ one }) => one);
  };
  const send = createResend({ corrections, dead: deadLetters, enqueue: enqueueApproved, withoutJob });
  const enabled = new Set<Destination['id']>();
  return async (parcels, act, nonce) => {
    for (const { destination } of parcels) {
      if (!enabled.has(destination.id)) await enable(destination.id);
      enabled.add(destination.id);
    }
    return send(parcels, act, nonce);
  };
};

export const createRetry = (dependencies: RetryDependencies) => {
  const { corrections, deadLetters, routesOf, isConfigured, workers } = dependencies;
  const resend = createEnablingResend(dependencies);

  const route = async (letter: DeadDelivery): Promise<Routed> => {
    const { destination, alert } = letter;
    if (destination === undefined) {
      const { destinations, problems } = await routesOf(alert);
      if (destinations.length > 0) return { letter, destinations, problems: [] };
      return { letter, destinations, problems: ['it has no destination now either', ...problems] };
    }
    if (isConfigured(destination.kind)) return { letter, destinations: [destination], problems: [] };
    const problem = `the config does not set up the channel kind '${destination.kind}'`;
    return { letter, destinations: [], problems: [problem] };
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
