/** Looks for lost deliveries among everything of a service that is on its way. */
import { type Parcel, SOURCES } from '../../alert.ts';
import type { Service } from '../../app/poll.ts';
import type { Store } from '../../app/store.ts';
import type { Config } from '../../config/schema.ts';
import { ServiceError } from '../../errors.ts';
import type { AlertRecord } from '../../ledger/ledger.ts';
import type { Catalog } from '../../poll/catalog.ts';
import { createQueuedOrHeld } from '../approval/queued-or-held.ts';
import { createContext } from '../enrichment/enrich.ts';
import { createRouting, routeSettings } from '../routes/routes.ts';
import { createLostDeliveries, type Suspect } from './lost-jobs.ts';

export interface LostSearchDependencies {
  config: Config;
  store: Store;
  catalog: Pick<Catalog, 'protocols' | 'protocolOf'>;
  serviceOf(name: string): Service;
  /** Enqueues parcels, or holds them for approval; gives how many deliveries are held. */
  enqueueApproved(parcels: readonly Parcel[], nonce: string): Promise<number>;
  now(): number;
}

export interface FoundLost {
  suspect: Suspect;
  healed: boolean;
}

const READ_AT_ONCE = 500;
/** One daemon at a time enqueues the lost deliveries of a service again. */
const lockName = (service: string): string => `audit:${service}`;

const inChunks = async <T, R>(all: readonly T[], each: (one: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = [];
  for (let start = 0; start < all.length; start += READ_AT_ONCE) {
    results.push(...(await Promise.all(all.slice(start, start + READ_AT_ONCE).map(each))));
  }
  return results;
};

export const createLostSearch = ({
  config,
  store,
  catalog,
  serviceOf,
  enqueueApproved,
  now,
}: LostSearchDependencies) => {
  const settings = routeSettings(config);

  const { destinationsOf } = createRouting({ config, settings, protocolOf: catalog.protocolOf });
  const withContext = createContext({ firstSeen: store.firstSeen, protocolOf: catalog.protocolOf });

  /** The books keep no context. */
  const enqueue = async (parcels: readonly Parcel[], nonce: string): Promise<void> => {
    const told = parcels.map(async (parcel) => ({ ...parcel, alerts: await withContext(parcel.alerts) }));
    await enqueueApproved(await Promise.all(told), nonce);
  };

  /** Stored notifications have no ids to ask for: they are read from their date on. */
  const notificationOf = async (alert: AlertRecord['alert'], signal: AbortSignal) => {
    const { lookback } = config.poll;
    const at = Date.parse(alert.at);
    const { feed } = serviceOf(alert.service);
    const pages = feed.notifications([alert.protocol], at - lookback, signal, true);
    for await (const { items, settledBefore = 0 } of pages) {
      const own = items.find(({ itemId }) => itemId === alert.itemId);
      if (own || settledBefore > at + lookback) return own?.raw;
    }
    return undefined;
  };

  const inspectionOf = async ({ service, protocol, itemId, txHash }: AlertRecord['alert'], signal: AbortSignal) => {
    const wanted = [{ itemId, ...(txHash === undefined ? {} : { txHash }) }];
    const sighting = (await serviceOf(service).lookUp(protocol, wanted, signal)).get(itemId);
    return sighting?.kind === 'found' ? sighting.item.raw : undefined;
  };

  const itemOf = (signal: AbortSignal) => (alert: AlertRecord['alert']) =>
    alert.source === 'notifications' ? notificationOf(alert, signal) : inspectionOf(alert, signal);

  /** Everything of a service that polls have put on its way. */
  const openOf = async (service: string): Promise<AlertRecord[]> => {
    const tracks = [...(await catalog.protocols(service)).keys()].flatMap((protocol) =>
      SOURCES.map((source) => ({ service, source, protocol })),
    );
    const ids = (await inChunks(tracks, store.alertIndex.open)).flat();
    return (await inChunks(ids, store.ledger.read)).flatMap((record) => record ?? []);
  };

  /** `more`: records of alerts that may be on their way, besides. A service that does not answer heals nothing now. */
  return async (
    service: string,
    more: readonly AlertRecord[],
    isHealing: boolean,
    signal: AbortSignal,
  ): Promise<FoundLost[]> => {
    if (Object.keys(await store.ledger.waitingByDestination()).length === 0) return [];
    const { suspectsIn, lostOf, heal } = createLostDeliveries({
      jobScan: createQueuedOrHeld(store),
      ledger: store.ledger,
      dead: store.dead,
      enqueue,
      destinationsOf,
      itemOf: itemOf(signal),
      lostAfterMs: config.audit.lostAfter,
      now,
    });
    const open = new Map([...(await openOf(service)), ...more].map((record) => [record.alert.id, record]));
    const suspects = [...open.values()].flatMap(suspectsIn);
    const held = isHealing ? await store.locks.take([lockName(service)]) : undefined;
    try {
      const found: FoundLost[] = [];
      for (const suspect of await lostOf(suspects)) {
        const healed = held !== undefined && (await heal(suspect).then(() => true, isUnanswered));
        found.push({ suspect, healed });
      }
      return found;
    } finally {
      await held?.release();
    }
  };
};

/** `false` for an answer that did not come; anything else is thrown. */
const isUnanswered = (error: unknown): false => {
  if (error instanceof ServiceError) return false;
  throw error;
};
