/** Sending again by hand: dead deliveries to where they were going, and alerts that had no destination by today's routes. */
import { type Alert, type ChannelKind, contentId, type Destination, type Parcel } from '../../alert.ts';
import type { Store } from '../../app/store.ts';
import type { Config } from '../../config/schema.ts';
import { toParcels } from '../../dispatch/parcels.ts';
import type { DeadDelivery } from '../../ledger/dead-letters.ts';
import type { Catalog } from '../../poll/catalog.ts';
import { createApprovalHold } from '../approval/hold.ts';
import { createQueuedOrHeld } from '../approval/queued-or-held.ts';
import { createRouting, routeSettings } from '../routes/routes.ts';
import { createResend, type Resent } from './resend.ts';

export interface Retried extends Resent {
  /** Letters that stay as they are, and why. */
  refused: { id: string; problem: string }[];
  /** Kinds of channel that have something to send now. */
  kinds: ChannelKind[];
}

export interface RetryDependencies {
  config: Config;
  store: Store;
  catalog: Pick<Catalog, 'protocolOf'>;
  /** Given by hand, so that nobody has to approve them. Default: none. */
  trusted?: readonly Destination[];
  /** Told of a destination for which something is kept until it is approved. */
  onHeld?(destination: Destination): void;
}

interface Routed {
  letter: DeadDelivery;
  destinations: Destination[];
  problems: string[];
}

export const createRetry = ({ config, store, catalog, trusted, onHeld }: RetryDependencies) => {
  const settings = routeSettings(config);
  const { corrections, dead } = store;
  const { routesOf } = createRouting({ config, settings, protocolOf: catalog.protocolOf });
  const jobScan = createQueuedOrHeld(store);
  const approvalHold = createApprovalHold({
    config,
    settings,
    store,
    ...(trusted ? { trusted } : {}),
    onHeld: async (destination) => onHeld?.(destination),
    now: Date.now,
  });

  const withoutJob = async ({ destination, alerts }: Parcel): Promise<Alert[]> => {
    const deliveries = alerts.map((one) => ({ one, alert: one.id, destination: destination.id }));
    return (await jobScan.withoutJob(destination.kind, deliveries)).map(({ one }) => one);
  };

  const send = createResend({ corrections, dead, enqueue: approvalHold.pass, withoutJob });
  const enabled = new Set<Destination['id']>();

  /** Who sends again by hand wants to know whether it works: each destination is enabled once, and its next answer decides. */
  const resend: typeof send = async (parcels, act, nonce) => {
    for (const { destination } of parcels) {
      if (!enabled.has(destination.id)) await store.disabled.enable(destination.id);
      enabled.add(destination.id);
    }
    return send(parcels, act, nonce);
  };

  const currentRoutesOf = async (alert: Alert): Promise<Pick<Routed, 'destinations' | 'problems'>> => {
    const { destinations, problems } = await routesOf(alert);
    return { destinations, problems: destinations.length > 0 ? [] : ['it has no destination now either', ...problems] };
  };

  const route = async (letter: DeadDelivery): Promise<Routed> => {
    const { destination, alert } = letter;
    if (destination === undefined) return { letter, ...(await currentRoutesOf(alert)) };
    if (settings.configured.has(destination.kind)) return { letter, destinations: [destination], problems: [] };
    const problem = `the config does not set up the channel kind '${destination.kind}'`;
    return { letter, destinations: [], problems: [problem] };
  };

  return {
    resend,
    /** The same retry, cut short and repeated, makes the same jobs; one that answers to another death makes others. */
    retry: async (letters: readonly DeadDelivery[]): Promise<Retried> => {
      const routed = await Promise.all(letters.map(route));
      const fresh = routed.filter(({ destinations }) => destinations.length > 0);
      const nonce = contentId(...fresh.flatMap(({ letter }) => [letter.id, letter.at]));
      const bound = fresh.map(({ letter: { alert }, destinations }) => ({ alert, destinations }));
      const resent = await resend(toParcels(bound), 'retried', nonce);
      const stranded = fresh.map(({ letter }) => letter).filter(({ destination }) => destination === undefined);
      await corrections.clearUnroutable(stranded.map(({ alert }) => alert));
      await dead.remove(stranded);
      const refused = routed
        .filter(({ destinations }) => destinations.length === 0)
        .map(({ letter: { id }, problems }) => ({ id, problem: problems.join('; ') }));
      const kinds = fresh.flatMap(({ destinations }) => destinations.map(({ kind }) => kind));
      return { ...resent, refused, kinds: [...new Set(kinds)] };
    },
    /** Kinds of those that no daemon takes from at present. */
    idleKinds: async (kinds: ReadonlySet<ChannelKind>): Promise<ChannelKind[]> => {
      const asked = [...kinds].map(async (kind) => ({ kind, n: await store.queues.workers(kind) }));
      const workers = await Promise.all(asked);
      return workers.filter(({ n }) => n === 0).map(({ kind }) => kind);
    },
  };
};
