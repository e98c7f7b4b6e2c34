/** A lost delivery waits in the ledger, but no job and no approval hold has it. It is found here, and queued again. */
import type { Cluster, Redis } from 'ioredis';
import { type Alert, type ChannelKind, isChannelKind, SOURCES, TOCSIN } from '../../alert.ts';
import { chunksOf, mapInChunks } from '../../chunks.ts';
import { ServiceError } from '../../errors.ts';
import type { AlertRecord, Target } from '../../ledger/ledger.ts';
import { RETENTION_SECONDS } from '../../ledger/record.ts';
import type { DeliveryRef } from '../../queue/scan.ts';
import { underLock } from '../../redis/lock.ts';
import { execute } from '../../redis/pipeline.ts';
import { iso } from '../../time.ts';
import type { AuditOptions, AuditParts } from './protocol.ts';

export interface LostDependencies
  extends Pick<AuditParts, 'jobScan' | 'ledger' | 'dead' | 'enqueue' | 'destinationsOf' | 'now'> {
  /** The item of an alert as the service lists it now, where it does. */
  itemOf(alert: AlertRecord['alert']): Promise<Alert['item'] | undefined>;
  /** Milliseconds that a delivery may wait without a job: it is in the ledger a little before it is in the queue. */
  lostAfterMs: number;
}

interface WaitingDelivery extends DeliveryRef {
  kind: ChannelKind;
  target: Target;
  record: AlertRecord['alert'];
  /** ISO 8601 of the last change in the ledger. */
  at: string;
}

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
  const restore = async (record: AlertRecord['alert'], isSendable: boolean): Promise<Alert> => {
    const { message, ...alert } = record;
    if (message !== undefined) return { ...alert, item: { message, createdAt: alert.at }, replay: false };
    const { itemId, txHash } = alert;
    const known = { _id: itemId, ...(txHash === undefined ? {} : { txHash }) };
    // Of a protocol that is gone the service knows nothing.
    const item = isSendable ? await dependencies.itemOf(alert) : undefined;
    return { ...alert, item: item ?? known, replay: false };
  };

  return {
    /** Those of an alert's deliveries that have waited for long. */
    overdueOf: ({ alert, deliveries }: AlertRecord): WaitingDelivery[] =>
      deliveries.flatMap(({ state, at, destination: target }) =>
        state === 'waiting' && isOverdue(at) && isChannelKind(target.kind)
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
      const { record } = delivery;
      const destination = (await dependencies.destinationsOf(record)).find(({ id }) => id === delivery.destination);
      const alert = await restore(record, destination !== undefined);
      if (destination) await dependencies.enqueue([{ destination, alerts: [alert] }], `${LOST} ${now()}`);
      else await markDead(delivery, alert);
    },
  };
};

type LostSearchParts = Omit<LostDependencies, 'itemOf' | 'lostAfterMs'> &
  Pick<AuditParts, 'settings' | 'alertIndex' | 'locks' | 'serviceOf' | 'protocolsOf' | 'listedLately'>;

export interface FoundLost {
  delivery: WaitingDelivery;
  healed: boolean;
}

const READ_AT_ONCE = 500;

const KEEP_MS = RETENTION_SECONDS * 1000;

/** Notes protocols of a service that are polled, and gives all that were within the time for which the ledger keeps alerts. */
export const createListedLately =
  (redis: Redis | Cluster, prefix: string, now: () => number) =>
  async (service: string, protocols: readonly string[]): Promise<string[]> => {
    const key = `${prefix}:protocols:${service}`;
    const at = now();
    const batch = redis.pipeline();
    for (const names of chunksOf(protocols, READ_AT_ONCE)) batch.zadd(key, ...names.flatMap((name) => [at, name]));
    batch.zremrangebyscore(key, '-inf', at - KEEP_MS).pexpire(key, KEEP_MS);
    return (await execute(batch.zrange(key, '0', '-1'))).at(-1) as string[];
  };

/** Gives an alert's item as the service lists it now; undefined where it does not. Throws a `ServiceError`. */
const createItemSearch = ({ settings: { lookback }, serviceOf }: LostSearchParts, signal: AbortSignal) => {
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

/** Looks for lost deliveries among all of a service's waiting ones, and our own, and queues them again with their items. */
export const createLostSearch = (dependencies: LostSearchParts) => {
  const { settings, ledger, alertIndex, locks, protocolsOf, listedLately } = dependencies;

  /** Every alert with a waiting delivery: of a service that polls have dispatched, or our announcements. */
  const waitingOf = async (service: string): Promise<AlertRecord[]> => {
    const protocols = service === TOCSIN ? [TOCSIN] : await listedLately(service, await protocolsOf(service));
    const tracks = protocols.flatMap((protocol) => SOURCES.map((source) => ({ service, source, protocol })));
    const ids = (await mapInChunks(tracks, READ_AT_ONCE, alertIndex.open)).flat();
    return (await mapInChunks(ids, READ_AT_ONCE, ledger.read)).flatMap((record) => record ?? []);
  };

  type Options = Pick<AuditOptions, 'isHealing' | 'lostAfterMs'>;

  const searchIn = async (
    service: string,
    more: readonly AlertRecord[],
    { isHealing, lostAfterMs = settings.lostAfter }: Options,
    signal: AbortSignal,
  ): Promise<FoundLost[]> => {
    const itemOf = createItemSearch(dependencies, signal);
    const lostDeliveries = createLostDeliveries({ ...dependencies, itemOf, lostAfterMs });
    const alerts = new Map([...(await waitingOf(service)), ...more].map((record) => [record.alert.id, record]));
    const overdue = [...alerts.values()].flatMap(lostDeliveries.overdueOf);
    if (overdue.length === 0) return [];
    const find = async (mayHeal: boolean): Promise<FoundLost[]> => {
      const found: FoundLost[] = [];
      for (const delivery of await lostDeliveries.lostOf(overdue)) {
        const healed = mayHeal && (await lostDeliveries.heal(delivery).then(() => true, isUnanswered));
        found.push({ delivery, healed });
      }
      return found;
    };
    // One daemon at a time queues the lost deliveries of a service again.
    const healed = isHealing ? await underLock(locks, [`audit:${service}`], () => find(true)) : undefined;
    return healed ?? find(false);
  };

  /** `more`: further alerts that may have a waiting delivery. Without an answer of the service nothing is healed now. */
  return async (
    service: string,
    more: readonly AlertRecord[],
    options: Options,
    signal: AbortSignal,
  ): Promise<FoundLost[]> => {
    if (Object.keys(await ledger.waitingByDestination()).length === 0) return [];
    return [...(await searchIn(service, more, options, signal)), ...(await searchIn(TOCSIN, [], options, signal))];
  };
};
