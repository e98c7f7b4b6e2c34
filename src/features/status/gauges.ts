/** Sets the metrics that are not counted as something happens, at every scrape. */
import type { Source } from '../../alert.ts';
import { type Condition, needsSomebody, TROUBLES } from '../../condition.ts';
import type { Config } from '../../config/schema.ts';
import { senderId } from '../../item.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Metrics } from '../../ops/metrics.ts';
import type { ProtocolValue } from '../../ops/series.ts';
import type { Catalog } from '../../poll/catalog.ts';
import type { Deadlines } from '../../queue/deadlines.ts';
import { isSilent } from '../conditions/list.ts';
import type { RouteReview } from '../routes/review.ts';
import type { StatusDependencies } from './status.ts';

export interface GaugeDependencies extends Pick<StatusDependencies, 'known' | 'cursors' | 'queues' | 'limits' | 'now'> {
  config: Pick<Config, 'services' | 'alerts'>;
  ledger: Pick<Ledger, 'oldestOpen'>;
  deadlines: Pick<Deadlines, 'counts'>;
  metrics: Metrics;
  catalog: Pick<Catalog, 'protocols'>;
  review: Pick<RouteReview, 'problemsTogether'>;
  /** Of the polls of this daemon. */
  pollDurations(): readonly ProtocolValue[];
}

const STATES = ['waiting', 'delayed', 'active', 'failed'] as const;

/** Of one service and source, as Redis had it last. */
interface Moments {
  labels: { service: string; source: Source };
  /** When each protocol was read last. */
  polled: { labels: ProtocolValue['labels']; at: number }[];
  /** Since when the oldest alert waits. */
  oldestAt: number | undefined;
}

const askMoments = async ({ config, cursors, ledger, metrics, catalog }: GaugeDependencies): Promise<Moments[]> => {
  const moments: Moments[] = [];
  for (const { name: service } of config.services) {
    const names = [...(await catalog.protocols(service)).keys()];
    metrics.catalogProtocols.set({ service }, names.length);
    for (const source of config.alerts.sources) {
      const tracks = names.map((protocol) => ({ service, source, protocol }));
      const found = await cursors.get(tracks);
      const polled = tracks.flatMap((labels, index) => {
        const at = found[index]?.polledAt;
        return at === undefined ? [] : [{ labels, at }];
      });
      moments.push({ labels: { service, source }, polled, oldestAt: await ledger.oldestOpen(...tracks) });
    }
  }
  return moments;
};

/** They grow while Redis is silent, too. */
const setLags = ({ metrics, now }: GaugeDependencies, moments: readonly Moments[]): void => {
  const ageOf = (at: number): number => Math.max(0, now() - at) / 1000;
  const lags = moments.flatMap(({ labels, polled, oldestAt }) => {
    const own = polled.map((one) => ({ labels: one.labels, value: ageOf(one.at) }));
    if (own.length > 0) metrics.cursorLag.set(labels, Math.max(...own.map(({ value }) => value)));
    metrics.oldestUndelivered.set(labels, oldestAt === undefined ? 0 : ageOf(oldestAt));
    return own;
  });
  const leftOut = metrics.setHighest(metrics.protocolCursorLag, lags);
  metrics.protocolSeriesLeftOut.set({ metric: 'tocsin_protocol_cursor_lag_seconds' }, leftOut);
};

/** Each name that can be is there, so that a rule sees it rise. */
const setTroubles = ({ metrics, limits, now }: GaugeDependencies, conditions: readonly Condition[]): void => {
  const current = conditions.filter((one) => needsSomebody(one, now(), limits?.lastingMs));
  for (const trouble of TROUBLES) {
    metrics.trouble.set({ trouble }, current.filter(({ name }) => name === trouble).length);
  }
};

/** Without those of which somebody knows. */
const setUnroutable = ({ metrics, review }: GaugeDependencies, known: ReadonlySet<string>): void => {
  const counted = review.problemsTogether().filter(({ id }) => !known.has(id));
  metrics.unroutableEntries.set(counted.reduce((sum, { entries }) => sum + entries, 0));
};

/** What has to be asked of Redis: how far everything is read, and what remarks are known to be of. */
const askRedis = async (dependencies: GaugeDependencies): Promise<{ moments: Moments[]; known: Set<string> }> => {
  const { config, known, queues, deadlines, metrics } = dependencies;
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
  const accepted = conditions.filter((one) => one.known !== undefined);
  metrics.knownRemarks.set(accepted.length);
  return { moments: await askMoments(dependencies), known: new Set(accepted.map(({ of }) => of)) };
};

/** For `onScrape`. While Redis is silent nothing is asked: what is only there keeps its last value, and lags grow. */
export const createGauges = (dependencies: GaugeDependencies) => {
  const { known, metrics, pollDurations } = dependencies;
  let asked: Awaited<ReturnType<typeof askRedis>> = { moments: [], known: new Set() };
  return {
    ask: async (): Promise<void> => {
      if (!isSilent(known.own())) asked = await askRedis(dependencies);
    },
    show: (): void => {
      const own = known.own();
      setUnroutable(dependencies, asked.known);
      metrics.redisUp.set(isSilent(own) ? 0 : 1);
      if (isSilent(own)) setTroubles(dependencies, own);
      setLags(dependencies, asked.moments);
      const unshown = metrics.setHighest(metrics.protocolPollDuration, pollDurations());
      metrics.protocolSeriesLeftOut.set({ metric: 'tocsin_protocol_poll_duration_seconds' }, unshown);
    },
  };
};
