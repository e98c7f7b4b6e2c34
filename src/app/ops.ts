/** Composes what operators see of a daemon: its status, its metrics, and what keeps these within their bounds. */
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import type { Channel } from '../channels/channel.ts';
import type { Config } from '../config/schema.ts';
import { createBoard } from '../features/board/board.ts';
import { createDeadLetterBound } from '../features/housekeeping/dead-letters.ts';
import { createNameLookUp } from '../features/names/look-up.ts';
import { createGoneDestinations } from '../features/routes/gone.ts';
import { createRouteReview } from '../features/routes/review.ts';
import { fallbackRoutes, routeSettings, watchdogRoutes } from '../features/routes/routes.ts';
import { createCounters } from '../features/status/counters.ts';
import type { DaemonReport } from '../features/status/daemons.ts';
import { refreshGauges } from '../features/status/gauges.ts';
import { createSelfReport } from '../features/status/self-report.ts';
import { createStatus } from '../features/status/status.ts';
import { oneAtATime } from '../ops/asking.ts';
import type { Health } from '../ops/health.ts';
import type { Metrics } from '../ops/metrics.ts';
import { createPages } from '../ops/page/pages.ts';
import { QUEUES } from '../ops/page/queues.ts';
import type { OpsServerSettings } from '../ops/server.ts';
import type { Acknowledgement } from './acknowledgement.ts';
import type { openDelivery } from './deliver.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Limits } from './limits.ts';
import { openPage, openPageActions } from './page.ts';
import type { openReading } from './poll.ts';
import type { Store } from './store.ts';

export interface OpsDependencies {
  /** Of this run of the daemon, and since when it runs, in epoch milliseconds. */
  daemonId: string;
  startedAt: number;
  /** What it says of its config. */
  reportConfig(): Pick<DaemonReport, 'config' | 'reload'>;
  config: Config;
  store: Store;
  metrics: Metrics;
  health: Health;
  reading: Pick<ReturnType<typeof openReading>, 'states' | 'catalog' | 'pollDurations'>;
  acknowledgement: Pick<Acknowledgement, 'links'> | undefined;
  delivering: Pick<ReturnType<typeof openDelivery>, 'endLeftKinds'>;
  channels: readonly Pick<Channel, 'kind' | 'nameOf'>[];
  lifecycle: Pick<Lifecycle, 'onStop'>;
  scrub(text: string): string;
  log: Logger;
  limits: Pick<Limits, 'dead' | 'lastingMs'>;
  now(): number;
}

export const openOps = (dependencies: OpsDependencies) => {
  const { daemonId, startedAt, config, log, scrub, now, store, metrics, health, reading, delivering, lifecycle } =
    dependencies;
  const { limits } = dependencies;
  const reportSelf = createSelfReport({
    id: daemonId,
    host: hostname(),
    pid: process.pid,
    startedAt,
    health,
    services: reading.states,
    scrub,
  });
  const selfReport = (): DaemonReport => ({ ...reportSelf(), ...dependencies.reportConfig() });
  const settings = routeSettings(config);
  const fallback = fallbackRoutes(config, settings);
  const watchdog = watchdogRoutes(config, settings);
  const review = createRouteReview(settings, log, [...fallback.problems, ...watchdog.problems]);
  const named = [...fallback.destinations, ...watchdog.destinations];
  const { catalog } = reading;
  const { destinations } = review;
  const hasFallback = fallback.destinations.length > 0;
  const counters = createCounters({
    ...{ config, metrics, catalog, destinations, named, hasFallback },
    // Without Redis a scrape must not wait for names.
    names: async () => (store.redis.status === 'ready' ? store.names.all() : new Map()),
  });
  metrics.onScrape(counters.begin);
  const forgetGone = createGoneDestinations({
    ...store,
    routed: async () => {
      const found = await Promise.all(config.services.map(({ name }) => catalog.protocols(name)));
      // A service that lists nothing may be one that was never read.
      return found.some(({ size }) => size === 0) ? undefined : [...destinations(), ...named];
    },
    keepSeries: counters.keepDestinations,
    log,
    now,
  });
  const daemons = async () => {
    const own = { ...selfReport(), silentMs: 0 };
    return [own, ...(await store.daemonReports.list()).filter(({ id }) => id !== own.id)];
  };
  const status = createStatus({
    ...store,
    config,
    protocols: catalog.protocols,
    unwatched: catalog.unwatched,
    daemons,
    review,
    startedAt,
    limits,
    now,
  });
  metrics.onScrape(() =>
    refreshGauges({
      ...store,
      config,
      metrics,
      catalog,
      review,
      pollDurations: reading.pollDurations,
      daemons,
      limits,
      now,
    }),
  );
  const lookUpNames = createNameLookUp({
    names: store.names,
    channels: dependencies.channels,
    destinations: () => [...destinations(), ...named],
    log,
  });
  const boundDeadLetters = createDeadLetterBound({ ...store, metrics, most: limits.dead, log });
  const keepHouse = async (): Promise<void> => {
    await boundDeadLetters();
    await delivering.endLeftKinds();
  };
  /** What the ops server shows. */
  const ask = oneAtATime(status);
  const opened = { config, store, catalog, review, scrub, now };
  const { token, trustedProxy, publicUrl, queues } = config.ops;
  const { links } = dependencies.acknowledgement ?? {};
  const pages = createPages({
    status: ask,
    source: openPage(opened),
    actions: openPageActions(opened),
    ...(queues && { queues: createBoard({ path: QUEUES, queues: store.queues.readable(), scrub }) }),
    ...(token === undefined ? {} : { token: token.reveal() }),
    ...(trustedProxy && { trustedProxy }),
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(links && { links }),
    health,
    log,
    now,
  });
  lifecycle.onStop('pages', async () => pages.stop());
  const endpoints: OpsServerSettings = { ...config.ops, health, metrics, status: ask, pages, log, now };
  return { review, selfReport, daemons, forgetGone, keepHouse, lookUpNames, endpoints };
};
