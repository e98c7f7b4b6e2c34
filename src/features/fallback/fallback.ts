/** The last resort at work: alerts that nobody has accepted in time, that died or that lead nowhere go to the fallback. */
import type { Logger } from 'pino';
import { type Alert, type Destination, senderId } from '../../alert.ts';
import type { Store } from '../../app/store.ts';
import type { Config } from '../../config/schema.ts';
import { toParcels } from '../../dispatch/parcels.ts';
import { type RouteSettings, type Routes, routeEntries } from '../../dispatch/routes.ts';
import type { AlertRecord, Target } from '../../ledger/record.ts';
import type { Metrics } from '../../ops/metrics.ts';
import { createEnqueueOnce } from '../announcements/enqueue-once.ts';
import { type DivertReason, deadNotice, isAccepted, lateNotice, mayDivert, unroutableNotice } from './notice.ts';

export interface FallbackDependencies {
  config: Config;
  settings: RouteSettings;
  store: Store;
  metrics: Metrics;
  log: Logger;
}

/** Why alerts are diverted. */
export interface Diversion {
  reason: DivertReason;
  /** Names what asks for it: what was cut short goes on when the same is asked for by the same name. */
  by: string;
  /** A sentence without secrets, told to the reader first. */
  notice(alert: Alert): string;
}

export type Fallback = ReturnType<typeof createFallback>;

/** Looks at once, in this process; each asks only Redis. */
const CONCURRENCY = 4;
const NAMED_ITEMS = 5;

/** Where the fallback leads, and what is wrong with the rest of it. */
export const fallbackRoutes = ({ fallback }: Pick<Config, 'fallback'>, settings: RouteSettings): Routes => {
  const { destinations, problems } = routeEntries(fallback?.channels ?? [], settings);
  return { destinations, problems: problems.map((problem) => `fallback: ${problem}`) };
};

export const createFallback = ({ config, settings, store, metrics, log }: FallbackDependencies) => {
  const { ledger, queues, deadlines, outageStore } = store;
  const { destinations } = fallbackRoutes(config, settings);
  const isOwn = ({ id }: Pick<Destination, 'id'>): boolean => destinations.some((one) => one.id === id);
  const afterMs = config.fallback?.after ?? 0;
  const send = createEnqueueOnce({ ledger, enqueue: queues.enqueue });

  /** Puts alerts on their way to the fallback, where they are not already; durable when it resolves. */
  const divert = async (alerts: readonly Alert[], { reason, by, notice }: Diversion): Promise<void> => {
    const diverted = alerts.filter(mayDivert).map((alert) => ({ ...alert, notice: notice(alert) }));
    if (diverted.length === 0 || destinations.length === 0) return;
    const parcels = await send(toParcels(diverted.map((alert) => ({ alert, destinations }))), by);
    const sent = new Map(parcels.flatMap((parcel) => parcel.alerts).map((alert) => [alert.id, alert]));
    const [first] = sent.values();
    if (first === undefined) return;
    metrics.fallbackAlerts.inc({ reason }, sent.size);
    const { protocol, notice: why } = first;
    const items = [...sent.values()].slice(0, NAMED_ITEMS).map(({ itemId }) => itemId);
    const to = destinations.map(({ label }) => label);
    log.warn({ reason, why, protocol, alerts: sent.size, items, to }, 'to the fallback');
  };

  /** Why destinations take nothing at present, where that is known. */
  const faultsOf = async (records: readonly AlertRecord[]): Promise<(target: Target) => string | undefined> => {
    const targets = records.flatMap(({ deliveries }) => deliveries.map(({ destination }) => destination));
    const subjects = new Set(targets.flatMap(({ id, kind }) => [id, senderId(kind)]));
    const broken = await outageStore.get([...subjects]);
    return ({ id, kind }) => (broken.get(id) ?? broken.get(senderId(kind)))?.message;
  };

  /** An alert that this look has begun to divert is diverted to the end, whoever has accepted it meanwhile. */
  const isLate = ({ deliveries }: AlertRecord, by: string): boolean =>
    !isAccepted(deliveries) || deliveries.some((one) => one.by === by);

  const look = async (alerts: readonly Alert[], by: string): Promise<void> => {
    const known = await Promise.all(alerts.map(({ id }) => ledger.read(id)));
    const records = alerts.map((alert, index): AlertRecord => known[index] ?? { alert, deliveries: [] });
    const late = new Map(records.filter((record) => isLate(record, by)).map((record) => [record.alert.id, record]));
    const faultOf = await faultsOf([...late.values()]);
    const notice = ({ id }: Alert): string => {
      const deliveries = (late.get(id)?.deliveries ?? []).filter(({ destination }) => !isOwn(destination));
      return lateNotice({ deliveries, afterMs, faultOf });
    };
    await divert(
      alerts.filter(({ id }) => late.has(id)),
      { reason: 'late', by, notice },
    );
  };

  return {
    destinations,
    divert,
    /** Notes when to look whether alerts were accepted; durable when it resolves. */
    setDeadline: async (alerts: readonly Alert[]): Promise<void> => {
      if (destinations.length > 0) await deadlines.set(alerts.filter(mayDivert), afterMs);
    },
    /** What a dead destination of the fallback did not take is not sent round to the others. */
    onDead: async (destination: Destination, alerts: readonly Alert[], why: string): Promise<void> => {
      if (isOwn(destination)) return;
      await divert(alerts, {
        reason: 'dead',
        by: `dead ${destination.id}`,
        notice: () => deadNotice(destination, why),
      });
    },
    /** An alert that leads nowhere. */
    onUnroutable: (alert: Alert, why: string): Promise<void> =>
      divert([alert], { reason: 'stranded', by: 'stranded', notice: () => unroutableNotice(why) }),
    /** Begins to look; gives what ends it. */
    start: (): ((graceMs: number) => Promise<void>) => {
      if (destinations.length === 0) return async () => {};
      return deadlines.work(CONCURRENCY, look).stop;
    },
  };
};
