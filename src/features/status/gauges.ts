/** Sets the metrics that have to be asked for, at every scrape. */
import { type Condition, needsSomebody, TROUBLES } from '../../condition.ts';
import type { Config } from '../../config/schema.ts';
import { senderId } from '../../item.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Metrics, ProtocolValue } from '../../ops/metrics.ts';
import type { Catalog } from '../../poll/catalog.ts';
import type { Cursors } from '../../poll/cursor.ts';
import type { Deadlines } from '../../queue/deadlines.ts';
import type { ParcelQueues } from '../../queue/queues.ts';
import { isSilent, type Knowing } from '../conditions/list.ts';
import type { RouteReview } from '../routes/review.ts';

interface GaugeDependencies {
  config: Pick<Config, 'services' | 'alerts'>;
  known: Knowing;
  cursors: Pick<Cursors, 'get'>;
  ledger: Pick<Ledger, 'oldestOpen'>;
  queues: Pick<ParcelQueues, 'counts'>;
  deadlines: Pick<Deadlines, 'counts'>;
  metrics: Metrics;
  catalog: Pick<Catalog, 'protocols'>;
  review: Pick<RouteReview, 'problems'>;
  /** Of the polls of this daemon. */
  pollDurations(): readonly ProtocolValue[];
  /** See `needsSomebody`. */
  limits?: { lastingMs: number } | undefined;
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
const setTroubles = ({ metrics, limits, now }: GaugeDependencies, conditions: readonly Condition[]): void => {
  const current = conditions.filter((one) => needsSomebody(one, now(), limits?.lastingMs));
  for (const trouble of TROUBLES) {
    metrics.trouble.set({ trouble }, current.filter(({ name }) => name === trouble).length);
  }
};

/** While Redis is away, what has to be asked there keeps its last value. */
export const refreshGauges = async (dependencies: GaugeDependencies): Promise<void> => {
  const { config, known, queues, deadlines, metrics, review } = dependencies;
  metrics.unroutableEntries.set(review.problems().length);
  const own = known.own();
  metrics.redisUp.set(isSilent(own) ? 0 : 1);
  if (isSilent(own)) return setTroubles(dependencies, own);
  for (const counts of [...(await queues.counts()), await deadlines.counts()]) {
    for (const state of STATES) metrics.queueJobs.set({ queue: counts.name, state }, counts[state]);
  }
  const { dead, held, broken, silent, conditions } = await known.all();
  metrics.heldAlerts.set(held.reduce((sum, { one: { waiting } }) => sum + waiting, 0));
  metrics.deadDeliveries.set(dead);
  metrics.brokenDestinations.reset();
  for (const { id, kind } of broken) {
    const destination = id === senderId(kind) ? id : metrics.destinationLabel(id);
    metrics.brokenDestinations.set({ kind, destination }, 1);
  }
  for (const { name: service } of config.services) {
    const own = silent.filter((one) => one.service === service).flatMap(({ members }) => members);
    metrics.silentProtocols.set({ service }, own.length);
  }
  setTroubles(dependencies, conditions);
  const lags: ProtocolValue[] = [];
  for (const { name } of config.services) lags.push(...(await setLags(dependencies, name)));
  const { protocolCursorLag, protocolPollDuration, protocolSeriesLeftOut } = metrics;
  const leftOut = metrics.setHighest(protocolCursorLag, lags);
  protocolSeriesLeftOut.set({ metric: 'tocsin_protocol_cursor_lag_seconds' }, leftOut);
  const unshown = metrics.setHighest(protocolPollDuration, dependencies.pollDurations());
  protocolSeriesLeftOut.set({ metric: 'tocsin_protocol_poll_duration_seconds' }, unshown);
};
