/** Sets the metrics that have to be asked for, at every scrape. */

import type { Store } from '../../app/store.ts';
import type { Config } from '../../config/schema.ts';
import type { Metrics } from '../../ops/metrics.ts';
import type { Catalog } from '../../poll/catalog.ts';
import { currentOutages } from '../outages/current.ts';
import type { RouteReview } from '../routes/review.ts';

export interface GaugeDependencies {
  config: Config;
  store: Store;
  metrics: Metrics;
  catalog: Catalog;
  review: RouteReview;
  now(): number;
}

const STATES = ['waiting', 'delayed', 'active', 'failed'] as const;

const setLags = async ({ config, store, metrics, catalog, now }: GaugeDependencies, service: string): Promise<void> => {
  const names = [...(await catalog.protocols(service)).keys()];
  metrics.catalogProtocols.set({ service }, names.length);
  for (const source of config.alerts.sources) {
    const cursors = await store.cursors.get(names.map((protocol) => ({ service, source, protocol })));
    const polled = cursors.flatMap((cursor) => cursor?.polledAt ?? []);
    if (polled.length > 0) metrics.cursorLag.set({ service, source }, Math.max(0, now() - Math.min(...polled)) / 1000);
  }
};

export const refreshGauges = async (dependencies: GaugeDependencies): Promise<void> => {
  const { config, store, metrics, review } = dependencies;
  metrics.unroutableEntries.set(review.problems().length);
  metrics.redisUp.set(store.redis.status === 'ready' ? 1 : 0);
  if (store.redis.status !== 'ready') return;
  for (const counts of [...(await store.queues.counts()), await store.deadlines.counts()]) {
    for (const state of STATES) metrics.queueJobs.set({ queue: counts.name, state }, counts[state]);
  }
  metrics.deadDeliveries.set(await store.dead.count());
  const held = await store.held.list();
  metrics.heldAlerts.set(held.reduce((sum, { waiting }) => sum + waiting, 0));
  metrics.brokenDestinations.reset();
  for (const { id, kind } of await currentOutages(store.outageStore, await store.destinationStats.list())) {
    metrics.brokenDestinations.set({ kind, destination: id }, 1);
  }
  for (const { name } of config.services) await setLags(dependencies, name);
};
