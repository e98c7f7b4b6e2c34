/** Sets the metrics that have to be asked for, at every scrape. */
import type { Config } from '../../config/schema.ts';
import type { DeadLetters } from '../../ledger/dead-letters.ts';
import type { DestinationStats } from '../../ledger/destination-stats.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Metrics, ProtocolValue } from '../../ops/metrics.ts';
import type { Catalog } from '../../poll/catalog.ts';
import type { Cursors } from '../../poll/cursor.ts';
import type { Deadlines } from '../../queue/deadlines.ts';
import type { ParcelQueues } from '../../queue/queues.ts';
import { TROUBLES } from '../../trouble.ts';
import type { ApprovalStore } from '../approval/store.ts';
import { currentOutages, type OutageStore } from '../broken-destinations/store.ts';
import type { RouteReview } from '../routes/review.ts';
import { currentSilences } from '../silence/check.ts';
import { type HeardDaemon, servicesAsKnown } from './daemons.ts';
import { type KnownState, needsSomebody, troublesOf } from './troubles.ts';

type Gauge =
  | 'unroutableEntries'
  | 'redisUp'
  | 'queueJobs'
  | 'deadDeliveries'
  | 'heldAlerts'
  | 'brokenDestinations'
  | 'catalogProtocols'
  | 'silentProtocols'
  | 'cursorLag'
  | 'protocolCursorLag'
  | 'protocolPollDuration'
  | 'setHighest'
  | 'protocolSeriesLeftOut'
  | 'oldestUndelivered'
  | 'trouble';

export interface GaugeDependencies {
  config: Pick<Config, 'services' | 'alerts'>;
  /** `ready` while Redis answers. */
  redis: { status: string };
  cursors: Pick<Cursors, 'get'>;
  ledger: Pick<Ledger, 'oldestOpen'>;
  queues: Pick<ParcelQueues, 'counts'>;
  deadlines: Pick<Deadlines, 'counts'>;
  dead: Pick<DeadLetters, 'count'>;
  destinationStats: Pick<DestinationStats, 'list'>;
  held: Pick<ApprovalStore, 'list'>;
  outageStore: OutageStore;
  silent: Parameters<typeof currentSilences>[0];
  metrics: Pick<Metrics, Gauge>;
  catalog: Pick<Catalog, 'protocols'>;
  review: Pick<RouteReview, 'problems'>;
  /** Of the polls of this daemon. */
  pollDurations(): readonly ProtocolValue[];
  /** What the daemons say of themselves, this one first. */
  daemons(): Promise<readonly HeardDaemon[]>;
  /** See `needsSomebody`. */
  limits?: { lastingMs: number };
  now(): number;
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

/** Each name that can be is there, so that a rule sees it rise. */
const setTroubles = async (
  { config, metrics, daemons, limits, now }: GaugeDependencies,
  known: Pick<KnownState, 'silent' | 'broken' | 'dead'>,
): Promise<void> => {
  const heard = await daemons();
  const services = servicesAsKnown(
    config.services.map(({ name }) => name),
    heard,
  );
  const lasting = troublesOf({ ...known, daemons: heard, services }).filter((one) =>
    needsSomebody(one, now(), limits?.lastingMs),
  );
  for (const trouble of TROUBLES) {
    metrics.trouble.set({ trouble }, lasting.filter(({ name }) => name === trouble).length);
  }
};

/** While Redis is away, what has to be asked there keeps its last value. */
export const refreshGauges = async (dependencies: GaugeDependencies): Promise<void> => {
  const { config, redis, queues, deadlines, dead, held, outageStore, destinationStats, metrics, review } = dependencies;
  metrics.unroutableEntries.set(review.problems().length);
  metrics.redisUp.set(redis.status === 'ready' ? 1 : 0);
  if (redis.status !== 'ready') return metrics.trouble.set({ trouble: 'redis' }, 1);
  for (const counts of [...(await queues.counts()), await deadlines.counts()]) {
    for (const state of STATES) metrics.queueJobs.set({ queue: counts.name, state }, counts[state]);
  }
  const deadCount = await dead.count();
  metrics.deadDeliveries.set(deadCount);
  metrics.heldAlerts.set((await held.list()).reduce((sum, { waiting }) => sum + waiting, 0));
  metrics.brokenDestinations.reset();
  const broken = await currentOutages(outageStore, await destinationStats.list());
  for (const { id, kind } of broken) metrics.brokenDestinations.set({ kind, destination: id }, 1);
  const silent = await currentSilences(dependencies.silent, config.services);
  for (const { name: service } of config.services) {
    const own = silent.filter((one) => one.service === service).flatMap(({ protocols }) => protocols);
    metrics.silentProtocols.set({ service }, own.length);
  }
  await setTroubles(dependencies, { silent, broken, dead: deadCount });
  const lags: ProtocolValue[] = [];
  for (const { name } of config.services) lags.push(...(await setLags(dependencies, name)));
  const { protocolCursorLag, protocolPollDuration, protocolSeriesLeftOut } = metrics;
  const leftOut = metrics.setHighest(protocolCursorLag, lags);
  protocolSeriesLeftOut.set({ metric: 'tocsin_protocol_cursor_lag_seconds' }, leftOut);
  const unshown = metrics.setHighest(protocolPollDuration, dependencies.pollDurations());
  protocolSeriesLeftOut.set({ metric: 'tocsin_protocol_poll_duration_seconds' }, unshown);
};
