/** Sets the metrics that have to be asked for, at every scrape. */
import type { Config } from '../../config/schema.ts';
import type { DestinationStats } from '../../ledger/destination-stats.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Metrics, ProtocolValue } from '../../ops/metrics.ts';
import type { Catalog } from '../../poll/catalog.ts';
import type { Cursors } from '../../poll/cursor.ts';
import type { Deadlines } from '../../queue/deadlines.ts';
import type { ParcelQueues } from '../../queue/queues.ts';
import { TROUBLES } from '../../trouble.ts';
import type { ApprovalStore } from '../approval/store.ts';
import type { RouteReview } from '../routes/review.ts';
import { type StateDependencies, stateOf } from './troubles.ts';

interface GaugeDependencies extends StateDependencies {
  config: Pick<Config, 'services' | 'alerts'>;
  /** `ready` while Redis answers. */
  redis: { status: string };
  cursors: Pick<Cursors, 'get'>;
  ledger: Pick<Ledger, 'oldestOpen'>;
  queues: Pick<ParcelQueues, 'counts'>;
  deadlines: Pick<Deadlines, 'counts'>;
  destinationStats: Pick<DestinationStats, 'list'>;
  held: Pick<ApprovalStore, 'list'>;
  metrics: Metrics;
  catalog: Pick<Catalog, 'protocols'>;
  review: Pick<RouteReview, 'problems'>;
  /** Of the polls of this daemon. */
  pollDurations(): readonly ProtocolValue[];
}

const STATES = ['waiting', 'delayed', 'active', 'failed'] as const;

const setLags = async (
  { config, cursors, ledger, metrics, catalog, now }: GaugeDependencies,
  service: string,
): Promise<ProtocolValue[]> => {
  const ageOf = (at: number): number => Math.max(0, now() - at) / 1000;
  const names = [...(await catalog.protocols(service)).keys()];
  metrics.catalogProtocols.set({ service }, names.length);
  const lags: ProtocolValue[] = [];
  for (const source of config.alerts.sources) {
    const tracks = names.map((protocol) => ({ service, source, protocol }));
    const found = await cursors.get(tracks);
    const own = tracks.flatMap((labels, index): ProtocolValue[] => {
      const polledAt = found[index]?.polledAt;
      return polledAt === undefined ? [] : [{ labels, value: ageOf(polledAt) }];
    });
    if (own.length > 0) metrics.cursorLag.set({ service, source }, Math.max(...own.map(({ value }) => value)));
    lags.push(...own);
    const oldestAt = await ledger.oldestOpen(...tracks);
    metrics.oldestUndelivered.set({ service, source }, oldestAt === undefined ? 0 : ageOf(oldestAt));
  }
  return lags;
};

/** While Redis is away, what has to be asked there keeps its last value. */
export const refreshGauges = async (dependencies: GaugeDependencies): Promise<void> => {
  const { config, redis, queues, deadlines, held, destinationStats, metrics, review } = dependencies;
  metrics.unroutableEntries.set(review.problems().length);
  metrics.redisUp.set(redis.status === 'ready' ? 1 : 0);
  if (redis.status !== 'ready') return metrics.trouble.set({ trouble: 'redis' }, 1);
  for (const counts of [...(await queues.counts()), await deadlines.counts()]) {
    for (const state of STATES) metrics.queueJobs.set({ queue: counts.name, state }, counts[state]);
  }
  metrics.heldAlerts.set((await held.list()).reduce((sum, { waiting }) => sum + waiting, 0));
  const { dead, broken, silent, troubles } = await stateOf(dependencies, await destinationStats.list());
  metrics.deadDeliveries.set(dead);
  metrics.brokenDestinations.reset();
  for (const { id, kind } of broken) metrics.brokenDestinations.set({ kind, destination: id }, 1);
  for (const { name: service } of config.services) {
    const own = silent.filter((one) => one.service === service).flatMap(({ protocols }) => protocols);
    metrics.silentProtocols.set({ service }, own.length);
  }
  // Each name that can be is there, so that a rule sees it rise.
  for (const trouble of TROUBLES) {
    metrics.trouble.set({ trouble }, troubles.filter(({ name }) => name === trouble).length);
  }
  const lags: ProtocolValue[] = [];
  for (const { name } of config.services) lags.push(...(await setLags(dependencies, name)));
  const { protocolCursorLag, protocolPollDuration, protocolSeriesLeftOut } = metrics;
  const leftOut = metrics.setHighest(protocolCursorLag, lags);
  protocolSeriesLeftOut.set({ metric: 'tocsin_protocol_cursor_lag_seconds' }, leftOut);
  const unshown = metrics.setHighest(protocolPollDuration, dependencies.pollDurations());
  protocolSeriesLeftOut.set({ metric: 'tocsin_protocol_poll_duration_seconds' }, unshown);
};
