/** Hands the audit what it needs; the daemon repeats it, `tocsin audit` runs it once. */
import type { Alert } from '../alert.ts';
import type { Config } from '../config/schema.ts';
import type { Routes } from '../dispatch/route.ts';
import { createQueuedOrHeld } from '../features/approval/queued-or-held.ts';
import { type Auditor, createAuditor } from '../features/audit/audit.ts';
import { createEnrichment } from '../features/enrichment/enrich.ts';
import { createRouting, routeSettings } from '../features/routes/routes.ts';
import type { Catalog } from '../poll/catalog.ts';
import { createLateItems } from '../poll/late-items.ts';
import { createPollLock } from '../poll/lock.ts';
import type { Service } from '../service/open.ts';
import { openApproval } from './approval.ts';
import type { Store } from './store.ts';

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
