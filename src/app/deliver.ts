/** Hands `dispatch` and `deliver` what they need: from an alert to the queues, and from the queues to the channels. */
import type { Logger } from 'pino';
import type { Alert, ChannelKind } from '../alert.ts';
import { openConfiguredChannels } from '../channels/open.ts';
import type { Config } from '../config/schema.ts';
import type { Broken } from '../deliver/health.ts';
import { createDispatch } from '../dispatch/dispatch.ts';
import { correlationSettings, createCorrelation } from '../features/correlation/correlate.ts';
import { createContext } from '../features/enrichment/enrich.ts';
import { createFallback, type Fallback } from '../features/fallback/fallback.ts';
import { createOutageNotifier } from '../features/outages/notifier.ts';
import { createRouting, routeSettings } from '../features/routes/routes.ts';
import { createRestraints } from '../features/suppression/suppression.ts';
import type { Subject } from '../ledger/outage-subject.ts';
import { NO_DESTINATION } from '../ledger/record.ts';
import { createDeliveryReport } from '../ops/delivery-report.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { CatalogEntry } from '../poll/catalog.ts';
import { iso } from '../time.ts';
import type { Store } from './store.ts';
import { startWorker } from './workers.ts';

export interface DeliveryDependencies {
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

const NO_ROUTE = 'no destination';

interface StrandedDependencies extends Pick<DeliveryDependencies, 'store' | 'log' | 'now'> {
  fallback: Pick<Fallback, 'onUnroutable'>;
}

/** Ends an alert that has no destination: the dead letter first, the ledger last, so that a crash in between repeats both. */
const createUnroutable =
  ({ store, fallback, log, now }: StrandedDependencies) =>
  async (alert: Alert, problems: readonly string[]): Promise<void> => {
    const message = problems.length > 0 ? `${NO_ROUTE}: ${problems.join('; ')}` : `${NO_ROUTE}: it has no channels`;
    const end = { reason: 'no-destination', message, at: iso(now()) };
    await store.dead.add({ alert, attempts: 0, ...end });
    await fallback.onUnroutable(alert, message);
    await store.ledger.recordAttempt(NO_DESTINATION, [alert], {
      state: 'dead',
      attempt: { outcome: 'dead', durationMs: 0, ...end },
    });
    log.error(
      { service: alert.service, protocol: alert.protocol, item: alert.itemId, reason: message },
      'alert is dead',
    );
  };

export const createDelivery = (dependencies: DeliveryDependencies) => {
  const { config, store, metrics, log, scrub, protocolOf, now } = dependencies;
  const settings = routeSettings(config);
  const { channels, close } = openConfiguredChannels(config, now);

  const { routesOf } = createRouting({ config, settings, protocolOf });

  const fallback = createFallback({ config, settings, store, metrics, log });
  const restraints = createRestraints({ config, settings, store, metrics, fallback, log, now });
  const news = createOutageNotifier({
    store,
    fallback: fallback.destinations,
    routesOf: restraints.openOf(routesOf),
    labelOf: settings.labelOf,
    log,
    now,
  });

  const correlation = createCorrelation({ ...correlationSettings(config), store, log });

  const { dispatch } = createDispatch({
    routesOf,
    restrain: restraints.restrain,
    setDeadline: fallback.setDeadline,
    expect: store.ledger.recordWaiting,
    enqueue: store.queues.enqueue,
    stranded: createUnroutable({ store, fallback, log, now }),
    onRouted: ({ service, protocol, source }) => metrics.alerts.inc({ service, protocol, source }),
    uncovered: correlation.uncoveredAt,
    waitOf: correlation.waitOf,
  });
  const withContext = createContext({ firstSeen: store.firstSeen, protocolOf, log });

  let stopping = false;

  const workerDependencies = {
    config,
    store,
    log,
    scrub,
    onAttempt: createDeliveryReport({ log, metrics, now }),
    onDead: fallback.onDead,
    uncovered: correlation.uncovered,
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
