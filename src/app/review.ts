/** Composes what reads a service again: rechecks, and the audit, which daemons repeat and `tocsin audit` runs once. */
import type { Logger } from 'pino';
import type { Alert } from '../alert.ts';
import { collectSecrets } from '../config/remarks.ts';
import type { Config } from '../config/schema.ts';
import type { Routes } from '../dispatch/dispatch.ts';
import { createQueuedOrHeld } from '../features/approval/hold.ts';
import { type Auditor, createAuditor } from '../features/audit/audit.ts';
import type { AuditReport } from '../features/audit/balance.ts';
import { createEnrichment } from '../features/enrichment/enrich.ts';
import { createRecheckJob, type RecheckJobDependencies } from '../features/recheck/job.ts';
import { createRouting, routeSettings } from '../features/routes/routes.ts';
import type { FailureLog } from '../ops/failure-log.ts';
import { createLogger } from '../ops/log.ts';
import { createMetrics, type Metrics } from '../ops/metrics.ts';
import { type Catalog, createCatalog, createNameFilter } from '../poll/catalog.ts';
import { createPollLock } from '../poll/cursor.ts';
import { createLateItems } from '../poll/ingest.ts';
import { createScrubber } from '../secret.ts';
import { openServices, type Service } from '../service/open.ts';
import { version } from '../version.ts';
import { openApproval } from './approval.ts';
import { openDispatch } from './dispatch.ts';
import { attachRedis } from './redis.ts';
import { createStore, type Store } from './store.ts';

// Composes rechecks: hands them the services, the ledger, and `dispatch`.

export interface RecheckingDependencies extends Pick<RecheckJobDependencies, 'serviceOf' | 'dispatchRouted'> {
  config: Config;
  store: Store;
  metrics: Metrics;
  failureLog: FailureLog;
  log: Logger;
  catalog: Pick<Catalog, 'protocolOf'>;
  dispatch(alerts: readonly Alert[]): Promise<void>;
  now(): number;
}

export const createRechecking = ({ store, dispatch, catalog, now, ...shared }: RecheckingDependencies) => {
  const { config } = shared;
  const { cursors, commits, seen, ledger, locks } = store;
  const { destinationsOf } = createRouting({
    config,
    settings: routeSettings(config),
    protocolOf: catalog.protocolOf,
  });
  return createRecheckJob({
    ...shared,
    store: store.rechecks,
    lateItems: createLateItems({ cursors, commits, lock: createPollLock(locks), dispatch, now }),
    seen,
    ledger,
    destinationsOf,
  });
};

// Hands the audit what it needs; the daemon repeats it, `tocsin audit` runs it once.

export interface AuditParts {
  config: Config;
  store: Store;
  catalog: Pick<Catalog, 'protocols' | 'protocolOf'>;
  serviceOf(name: string): Service;
  routesOf(alert: Alert): Promise<Pick<Routes, 'skipped'>>;
  dispatch(alerts: readonly Alert[], nonce: string): Promise<void>;
  now(): number;
}

export const openAuditor = ({ config, store, catalog, serviceOf, routesOf, dispatch, now }: AuditParts): Auditor => {
  const settings = routeSettings(config);
  const { enqueueApproved } = openApproval({ config, settings, store, now });
  const withContext = createEnrichment({ firstSeen: store.firstSeen, protocolOf: catalog.protocolOf });
  const { overlap, lookback } = config.poll;
  const { assessments, sources } = config.alerts;
  return createAuditor({
    ...store,
    settings: { assessments, sources, overlap, lookback, lostAfter: config.audit.lostAfter },
    protocolsOf: async (service) => [...(await catalog.protocols(service)).keys()],
    serviceOf,
    routesOf,
    lateItems: createLateItems({
      cursors: store.cursors,
      commits: store.commits,
      lock: createPollLock(store.locks),
      dispatch: (alerts) => dispatch(alerts, `audit ${now()}`),
      now,
    }),
    jobScan: createQueuedOrHeld(store),
    destinationsOf: createRouting({ config, settings, protocolOf: catalog.protocolOf }).destinationsOf,
    // The ledger keeps no context: add it again.
    enqueue: async (parcels, nonce) => {
      const enriched = parcels.map(async (parcel) => ({ ...parcel, alerts: await withContext(parcel.alerts) }));
      await enqueueApproved(await Promise.all(enriched), nonce);
    },
    now,
  });
};

// What `tocsin audit` works with: the daemons' Redis, connections of its own to the services, and no workers.

export interface AuditCommand {
  /** Every service; `since` in epoch milliseconds. Nothing is sent from here: a daemon delivers what is queued again. */
  audit(since: number | undefined, isHealing: boolean): Promise<AuditReport>;
  close(): Promise<void>;
}

/** Throws an `UnavailableError` where no Redis of a daemon answers. */
export const openAuditCommand = async (config: Config, signal: AbortSignal): Promise<AuditCommand> => {
  const { redis, prefix, close } = await attachRedis(config);
  const now = Date.now;
  const scrub = createScrubber(collectSecrets(config));
  const log = createLogger({ level: 'silent', scrub });
  const store = createStore({ redis, prefix, onError: () => {}, now });
  const catalog = createCatalog({
    redis,
    prefix,
    list: () => Promise.reject(new Error('an audit lists no protocols')),
    isIncluded: createNameFilter(config.protocols.include, config.protocols.exclude),
  });
  const services = openServices(config, now, { listed: catalog.names });
  const { routesOf, dispatch } = openDispatch({
    config,
    store,
    metrics: createMetrics({ version }),
    log,
    protocolOf: catalog.protocolOf,
    now,
  });
  const { run } = openAuditor({
    config,
    store,
    catalog,
    serviceOf: (name) => {
      const service = services.get(name);
      if (!service) throw new Error(`the config has no service '${name}'`);
      return service;
    },
    routesOf,
    dispatch,
    now,
  });

  return {
    audit: async (since, isHealing) => {
      const options = { ...(since === undefined ? {} : { since: () => since }), isHealing, isThorough: true };
      const reports = await Promise.all(config.services.map(({ name }) => run(name, options, signal)));
      return {
        protocols: reports.flatMap(({ protocols }) => protocols),
        unaudited: reports.flatMap(({ unaudited }) => unaudited),
      };
    },
    close: async () => {
      await Promise.all([...services.values()].map(({ client }) => client.close()));
      await store.close();
      await close();
    },
  };
};
