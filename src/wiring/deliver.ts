/** Hands `dispatch` and `deliver` what they need: from an alert to the queues, and from the queues to the channels. */
import type { Logger } from 'pino';
import type { Alert, ChannelKind } from '../alert.ts';
import { createGuardedPost } from '../channels/http.ts';
import { addressesOf, labelOf, openChannels } from '../channels/registry.ts';
import type { Config } from '../config/schema.ts';
import type { AttemptEvent } from '../deliver/attempt.ts';
import type { Broken } from '../deliver/health.ts';
import { NOWHERE } from '../deliver/record.ts';
import type { Subject } from '../deliver/subject.ts';
import { createDispatch } from '../dispatch/dispatch.ts';
import type { RouteSettings } from '../dispatch/routes.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { CatalogEntry } from '../poll/catalog.ts';
import { createContext } from './context.ts';
import { correlationSettings, createCorrelation } from './correlate.ts';
import { createDestinationNews } from './destination-news.ts';
import { createFallback } from './fallback.ts';
import { createRestraints } from './restraints.ts';
import { createRouting } from './routing.ts';
import type { Store } from './store.ts';
import { startWorker } from './workers.ts';

export interface DeliveringDependencies {
  config: Config;
  store: Store;
  metrics: Metrics;
  log: Logger;
  scrub(text: string): string;
  /** What the catalog knows of an alert's protocol. */
  protocolOf(alert: Pick<Alert, 'service' | 'protocol'>): Promise<CatalogEntry | undefined>;
  /** The token or mail server of a kind was refused, with what it said; undefined: it works again. Default: nobody asks. */
  onSender?(kind: ChannelKind, problem: string | undefined): void;
  now(): number;
}

export const routeSettings = (config: Config): RouteSettings => ({
  triggers: config.alerts.triggers,
  overrides: config.protocols.overrides,
  configured: new Set(
    (Object.keys(config.channels) as (keyof Config['channels'])[]).filter(
      (kind) => config.channels[kind] !== undefined,
    ),
  ),
  addressesOf,
  labelOf,
});

/** Sends to addresses from outside only what the guard lets through; its rules stand with the webhooks'. */
export const openConfiguredChannels = (config: Config, now: () => number) => {
  const { allowHttp = false, allowNetworks = [] } = config.channels.webhook ?? {};
  const guard = createGuardedPost({ allowHttp, allowNetworks });
  const channels = openChannels(config.channels, { post: guard.post, now });
  return {
    channels,
    close: async () => {
      await Promise.all(channels.map((channel) => channel.close()));
      await guard.close();
    },
  };
};

const NO_ROUTE = 'no destination';

const seconds = (ms: number): number => ms / 1000;

/** The canonical line of an attempt, and its counts. */
const reportAttempt = (log: Logger, metrics: Metrics, now: () => number) => (event: AttemptEvent) => {
  const { kind, destination, alerts, outcome, durationMs, reason } = event;
  metrics.deliveries.inc({ kind, destination: destination.id, outcome }, alerts.length);
  metrics.deliveryDuration.observe({ kind }, seconds(durationMs));
  if (reason !== undefined) metrics.deliveryFailures.inc({ kind, destination: destination.id, reason });
  // How old history is when it is replayed says nothing of how fast alerts travel.
  for (const { at } of outcome === 'delivered' ? alerts.filter(({ replay }) => !replay) : []) {
    metrics.alertLatency.observe({ kind }, Math.max(0, seconds(now() - Date.parse(at))));
  }
  const { destination: _destination, alerts: _alerts, ...told } = event;
  const line = {
    ...told,
    destination: destination.id,
    to: destination.label,
    protocol: alerts[0]?.protocol,
    alerts: alerts.length,
    ...(alerts.some(({ replay }) => replay) ? { replay: true } : {}),
    items: alerts.slice(0, 5).map(({ itemId }) => itemId),
  };
  if (outcome === 'delivered') log.info(line, 'delivered');
  else if (outcome === 'dead') log.error(line, 'delivery is dead');
  else log.warn(line, 'delivery will be tried again');
};

export const createDelivering = (dependencies: DeliveringDependencies) => {
  const { config, store, metrics, log, scrub, protocolOf, now } = dependencies;
  const settings = routeSettings(config);
  const { channels, close } = openConfiguredChannels(config, now);

  const { routesOf } = createRouting({ config, settings, protocolOf });

  const stranded = async (alert: Alert, problems: readonly string[]): Promise<void> => {
    const message = problems.length > 0 ? `${NO_ROUTE}: ${problems.join('; ')}` : `${NO_ROUTE}: it has no channels`;
    const end = { reason: 'no-destination', message, at: new Date(now()).toISOString() };
    await store.dead.bury({ alert, attempts: 0, ...end });
    await fallback.onStranded(alert, message);
    await store.ledger.book(NOWHERE, [alert], { state: 'dead', attempt: { outcome: 'dead', durationMs: 0, ...end } });
    log.error(
      { service: alert.service, protocol: alert.protocol, item: alert.itemId, reason: message },
      'alert is dead',
    );
  };

  const fallback = createFallback({ config, settings, store, metrics, log });
  const { labelOf } = settings;
  const restraints = createRestraints({ config, settings, store, metrics, fallback, log, now });
  const news = createDestinationNews({
    store,
    fallback: fallback.destinations,
    routesOf: restraints.openOf(routesOf),
    labelOf,
    log,
    now,
  });

  const correlation = createCorrelation({ ...correlationSettings(config), store, log });

  const { dispatch } = createDispatch({
    routesOf,
    restrain: restraints.restrain,
    setDeadline: fallback.setDeadline,
    expect: store.ledger.expect,
    enqueue: store.queues.enqueue,
    stranded,
    onRouted: ({ service, protocol, source }) => metrics.alerts.inc({ service, protocol, source }),
    untold: correlation.untoldAt,
    waitOf: correlation.waitOf,
  });
  const withContext = createContext({ firsts: store.firsts, protocolOf, log });

  let stopping = false;

  const workerDependencies = {
    config,
    store,
    log,
    scrub,
    onAttempt: reportAttempt(log, metrics, now),
    onDead: fallback.onDead,
    untold: correlation.untold,
    ...news,
    onBroken: async (broken: Broken) => {
      if (broken.isSender) dependencies.onSender?.(broken.destination.kind, broken.message);
      await news.onBroken(broken);
    },
    onWell: async (well: Subject) => {
      if (well.isSender) dependencies.onSender?.(well.destination.kind, undefined);
      await news.onWell(well);
    },
    isStopping: () => stopping,
    now,
  };

  return {
    channels,
    dispatch: async (alerts: readonly Alert[], nonce?: string) => dispatch(await withContext(alerts), nonce),
    routesOf,
    fallback,
    restraints,
    /** Begins to take parcels; gives what ends it. */
    start: (): ((graceMs: number) => Promise<void>) => {
      const workers = channels.map((channel) => startWorker(channel, workerDependencies));
      return async (graceMs) => {
        stopping = true;
        await Promise.all(workers.map((worker) => worker.stop(graceMs)));
      };
    },
    close,
  };
};
