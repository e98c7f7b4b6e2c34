/** Looks for lost deliveries among all of a service's waiting ones, and queues them again with their items. */
import { SOURCES } from '../../alert.ts';
import { mapInChunks } from '../../chunks.ts';
import { ServiceError } from '../../errors.ts';
import type { AlertIndex } from '../../ledger/index-by-date.ts';
import type { AlertRecord, Ledger } from '../../ledger/ledger.ts';
import type { Locks } from '../../redis/lock.ts';
import type { Feed } from '../../service/feed.ts';
import type { Lookup } from '../../service/lookup.ts';
import { createLostDeliveries, type LostDependencies, type WaitingDelivery } from './lost-deliveries.ts';

export interface LostSearchDependencies extends Omit<LostDependencies, 'ledger' | 'itemOf' | 'lostAfterMs'> {
  settings: { lookback: number; lostAfter: number };
  ledger: LostDependencies['ledger'] & Pick<Ledger, 'waitingByDestination'>;
  alertIndex: Pick<AlertIndex, 'open'>;
  locks: Pick<Locks, 'take'>;
  serviceOf(name: string): { feed: Pick<Feed, 'notifications'>; lookUp: Lookup };
  /** Those that are polled. */
  protocolsOf(service: string): Promise<readonly string[]>;
}

export interface LostSearchOptions {
  /** Queues what is missing or lost again. */
  isHealing: boolean;
  /** Instead of `settings.lostAfter`. */
  lostAfterMs?: number;
}

export interface FoundLost {
  delivery: WaitingDelivery;
  healed: boolean;
}

const READ_AT_ONCE = 500;
/** One daemon at a time queues the lost deliveries of a service again. */
const lockName = (service: string): string => `audit:${service}`;

/** Gives an alert's item as the service lists it now; undefined where it does not. Throws a `ServiceError`. */
const createItemSearch = ({ settings: { lookback }, serviceOf }: LostSearchDependencies, signal: AbortSignal) => {
  /** Stored notifications have no ids to ask for: they are read from their date on. */
  const notificationOf = async ({ service, protocol, itemId, at }: AlertRecord['alert']) => {
    const date = Date.parse(at);
    const pages = serviceOf(service).feed.notifications([protocol], date - lookback, signal, true);
    for await (const { items, settledBefore = 0 } of pages) {
      const own = items.find((item) => item.itemId === itemId);
      if (own || settledBefore > date + lookback) return own?.raw;
    }
    return undefined;
  };

  const inspectionOf = async ({ service, protocol, itemId, txHash }: AlertRecord['alert']) => {
    const wanted = [{ itemId, ...(txHash === undefined ? {} : { txHash }) }];
    const sighting = (await serviceOf(service).lookUp(protocol, wanted, signal)).get(itemId);
    return sighting?.kind === 'found' ? sighting.item.raw : undefined;
  };

  return (alert: AlertRecord['alert']) =>
    alert.source === 'notifications' ? notificationOf(alert) : inspectionOf(alert);
};

/** `false` for an answer that did not come; anything else is thrown. */
const isUnanswered = (error: unknown): false => {
  if (error instanceof ServiceError) return false;
  throw error;
};

export const createLostSearch = (dependencies: LostSearchDependencies) => {
  const { settings, ledger, alertIndex, locks, protocolsOf } = dependencies;

  /** Every alert of a service that polls have dispatched and that has a waiting delivery. */
  const waitingOf = async (service: string): Promise<AlertRecord[]> => {
    const protocols = await protocolsOf(service);
    const tracks = protocols.flatMap((protocol) => SOURCES.map((source) => ({ service, source, protocol })));
    const ids = (await mapInChunks(tracks, READ_AT_ONCE, alertIndex.open)).flat();
    return (await mapInChunks(ids, READ_AT_ONCE, ledger.read)).flatMap((record) => record ?? []);
  };

  /** `more`: further alerts that may have a waiting delivery. Without an answer of the service nothing is healed now. */
  return async (
    service: string,
    more: readonly AlertRecord[],
    { isHealing, lostAfterMs = settings.lostAfter }: LostSearchOptions,
    signal: AbortSignal,
  ): Promise<FoundLost[]> => {
    if (Object.keys(await ledger.waitingByDestination()).length === 0) return [];
    const lostDeliveries = createLostDeliveries({
      ...dependencies,
      itemOf: createItemSearch(dependencies, signal),
      lostAfterMs,
    });
    const alerts = new Map([...(await waitingOf(service)), ...more].map((record) => [record.alert.id, record]));
    const overdue = [...alerts.values()].flatMap(lostDeliveries.overdueOf);
    const lock = isHealing ? await locks.take([lockName(service)]) : undefined;
    try {
      const found: FoundLost[] = [];
      for (const delivery of await lostDeliveries.lostOf(overdue)) {
        const healed = lock !== undefined && (await lostDeliveries.heal(delivery).then(() => true, isUnanswered));
        found.push({ delivery, healed });
      }
      return found;
    } finally {
      await lock?.release();
    }
  };
};
