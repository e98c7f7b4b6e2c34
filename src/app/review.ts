/** Composes what reads a service again: rechecks, and the audit, which daemons repeat and `tocsin audit` runs once. */
import { type Alert, type Destination, isAnnouncement } from '../alert.ts';
import type { Config } from '../config/schema.ts';
import type { Routes } from '../dispatch/dispatch.ts';
import { createQueuedOrHeld } from '../features/approval/hold.ts';
import { type Auditor, createAuditor } from '../features/audit/audit.ts';
import type { AuditReport } from '../features/audit/balance.ts';
import { createListedLately } from '../features/audit/lost-deliveries.ts';
import { createEnrichment } from '../features/enrichment/enrich.ts';
import { createRecheckJob } from '../features/recheck/job.ts';
import { createRouting, fallbackRoutes, routeSettings, watchdogRoutes } from '../features/routes/routes.ts';
import { createDistinguish } from '../ledger/distinguish.ts';
import type { Catalog } from '../poll/catalog.ts';
import { createPollLock } from '../poll/cursor.ts';
import { createLateItems } from '../poll/ingest.ts';
import { openServices, type Service, serviceIn } from '../service/open.ts';
import { openApproval } from './approval.ts';
import { type Context, commandContext, type Shared } from './context.ts';
import { type Dispatching, openDispatch } from './dispatch.ts';
import type { Reading } from './poll.ts';
import { attachRedis } from './redis.ts';
import { catalogOf } from './view.ts';

type Dispatch = (alerts: readonly Alert[]) => Promise<void>;

const lateItemsOf = ({ store, now }: Pick<Shared, 'store' | 'now'>, dispatch: Dispatch) => {
  const { cursors, commits, locks, ledger } = store;
  const distinguish = createDistinguish(ledger);
  return createLateItems({ cursors, commits, lock: createPollLock(locks), distinguish, dispatch, now });
};

export const openRechecks = (context: Context, { serviceOf }: Reading, dispatching: Dispatching) => {
  const { store } = context;
  const { dispatch, dispatchRouted, destinationsOf } = dispatching;
  return createRecheckJob({
    ...context,
    ...store,
    store: store.rechecks,
    lateItems: lateItemsOf(context, dispatch),
    serviceOf,
    dispatchRouted,
    destinationsOf,
  });
};

interface AuditParts extends Pick<Shared, 'config' | 'store' | 'now'> {
  catalog: Pick<Catalog, 'protocols' | 'protocolOf'>;
  serviceOf(name: string): Service;
  routesOf(alert: Alert): Promise<Pick<Routes, 'skipped'>>;
  dispatch(alerts: readonly Alert[], nonce: string): Promise<void>;
}

/** Where announcements go: to those that the config names, or to people of any protocol. */
const announcedTo = async (
  { config, catalog }: AuditParts,
  { destinationsOf }: ReturnType<typeof createRouting>,
): Promise<Destination[]> => {
  const settings = routeSettings(config);
  const named = [...fallbackRoutes(config, settings).destinations, ...watchdogRoutes(config, settings).destinations];
  const routed = config.services.map(async ({ name: service }) => {
    const protocols = [...(await catalog.protocols(service)).keys()];
    return Promise.all(protocols.map((protocol) => destinationsOf({ service, protocol })));
  });
  return [...named, ...(await Promise.all(routed)).flat(2)];
};

/** A daemon repeats what it gives, `tocsin audit` runs it once. */
export const openAuditor = (parts: AuditParts): Auditor => {
  const { config, store, catalog, serviceOf, routesOf, dispatch, now } = parts;
  const settings = routeSettings(config);
  const { enqueueApproved } = openApproval(parts);
  const routing = createRouting({ config, settings, protocolOf: catalog.protocolOf });
  const withContext = createEnrichment({
    firstSeen: store.firstSeen,
    protocolOf: catalog.protocolOf,
    overrides: config.protocols.overrides,
  });
  const { overlap, lookback } = config.poll;
  const { assessments, sources } = config.alerts;
  return createAuditor({
    ...store,
    settings: { assessments, sources, overlap, lookback, lostAfter: config.audit.lostAfter },
    protocolsOf: async (service) => [...(await catalog.protocols(service)).keys()],
    serviceOf,
    routesOf,
    lateItems: lateItemsOf(parts, (alerts) => dispatch(alerts, `audit ${now()}`)),
    jobScan: createQueuedOrHeld(store.jobScan, store.held),
    listedLately: createListedLately(store.redis, store.prefix, now),
    destinationsOf: (alert) => (isAnnouncement(alert) ? announcedTo(parts, routing) : routing.destinationsOf(alert)),
    // The ledger keeps no context: add it again.
    enqueue: async (parcels, nonce) => {
      const enriched = parcels.map(async (parcel) => ({ ...parcel, alerts: await withContext(parcel.alerts) }));
      await enqueueApproved(await Promise.all(enriched), nonce);
    },
    now,
  });
};

/**
 * What `tocsin audit` works with: the daemons' Redis, connections of its own to the services, and no workers. Throws an
 * `UnavailableError` where no Redis of a daemon answers.
 */
export const openAuditCommand = async (config: Config, signal: AbortSignal) => {
  const redis = await attachRedis(config);
  const shared = commandContext(config, redis, 'silent');
  const catalog = catalogOf(config, redis);
  const services = openServices(config, shared.now, { listed: catalog.names });
  const { routesOf, dispatch } = openDispatch(shared, catalog.protocolOf);
  const { run } = openAuditor({
    ...shared,
    catalog,
    serviceOf: serviceIn(services),
    routesOf,
    dispatch,
  });

  return {
    /** Every service; `since` in epoch milliseconds. Nothing is sent from here: a daemon delivers what is queued again. */
    audit: async (since: number | undefined, isHealing: boolean): Promise<AuditReport> => {
      const options = { ...(since === undefined ? {} : { since: () => since }), isHealing, isThorough: true };
      const reports = await Promise.all(config.services.map(({ name }) => run(name, options, signal)));
      return {
        protocols: reports.flatMap(({ protocols }) => protocols),
        unaudited: reports.flatMap(({ unaudited }) => unaudited),
      };
    },
    close: async (): Promise<void> => {
      await Promise.all([...services.values()].map(({ client }) => client.close()));
      await shared.store.close();
      await redis.close();
    },
  };
};
