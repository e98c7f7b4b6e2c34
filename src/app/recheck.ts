/** Composes rechecks: hands them the services, the ledger, and `dispatch`. */
import type { Logger } from 'pino';
import type { Alert } from '../alert.ts';
import type { Config } from '../config/schema.ts';
import { createRecheckJob, type RecheckJobDependencies } from '../features/recheck/job.ts';
import { createRouting, routeSettings } from '../features/routes/routes.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { Outages } from '../ops/outages.ts';
import type { Catalog } from '../poll/catalog.ts';
import { createLateItems } from '../poll/late-items.ts';
import { createPollLock } from '../poll/lock.ts';
import type { Store } from './store.ts';

export interface RecheckingDependencies extends Pick<RecheckJobDependencies, 'serviceOf' | 'dispatchRouted'> {
  config: Config;
  store: Store;
  metrics: Metrics;
  outages: Outages;
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
