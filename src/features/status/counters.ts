/**
 * Lets counters begin at 0 as soon as their labels are known. Prometheus sees no increase in a series whose first value
 * is 1 already: the first dead delivery, the first difference of an audit would raise no alert.
 */
import type { Destination, Source } from '../../alert.ts';
import type { Config } from '../../config/schema.ts';
import { DELIVERY_REASONS, SERVICE_BOUNDS } from '../../errors.ts';
import type { Metrics } from '../../ops/metrics.ts';
import type { Catalog } from '../../poll/catalog.ts';

type Begun =
  | 'polls'
  | 'items'
  | 'itemsMalformed'
  | 'boundsReached'
  | 'alerts'
  | 'audits'
  | 'auditDifferences'
  | 'deliveries'
  | 'deliveryFailures'
  | 'muted'
  | 'fallbackAlerts'
  | 'digests'
  | 'digestAlerts'
  | 'slotWaits'
  | 'slotWaitSeconds'
  | 'destinationInfo';

type Named = Pick<Destination, 'id' | 'kind' | 'label'>;

export interface CounterDependencies {
  config: Pick<Config, 'services' | 'alerts' | 'channels'>;
  metrics: Pick<Metrics, Begun>;
  catalog: Pick<Catalog, 'protocols'>;
  /** Every destination that a protocol leads to. */
  destinations(): readonly Named[];
  /** Of the fallback and the watchdog, which may be no protocol's. */
  named: readonly Named[];
  hasFallback: boolean;
}

const POLL_OUTCOMES = ['read', 'busy', 'held', 'failed'];
const AUDIT_OUTCOMES = ['balanced', 'difference', 'incomplete'];
const DIFFERENCES = ['missing', 'lost'];
/** Destinations times reasons are many series: for those beyond, a reason begins with its first failure. */
const MOST_WITH_REASONS = 100;

const DELIVERY_OUTCOMES = ['delivered', 'retrying', 'dead'];
const FALLBACK_REASONS = ['late', 'dead', 'stranded', 'held'];
const ASSESSMENTS: Readonly<Record<Source, readonly string[]>> = {
  inspections: ['ok', 'suspecious', 'critical'],
  notifications: ['none'],
};

const beginService = ({ metrics }: CounterDependencies, service: string, sources: readonly Source[]): void => {
  for (const source of sources) {
    for (const outcome of POLL_OUTCOMES) metrics.polls.inc({ service, source, outcome }, 0);
    for (const assessment of ASSESSMENTS[source]) metrics.items.inc({ service, source, assessment }, 0);
    metrics.itemsMalformed.inc({ service, source }, 0);
  }
  for (const bound of SERVICE_BOUNDS) metrics.boundsReached.inc({ service, bound }, 0);
  for (const outcome of AUDIT_OUTCOMES) metrics.audits.inc({ service, outcome }, 0);
};

const beginKind = ({ metrics }: CounterDependencies, kind: string): void => {
  for (const counter of [metrics.digests, metrics.digestAlerts, metrics.slotWaits, metrics.slotWaitSeconds]) {
    counter.inc({ kind }, 0);
  }
};

export interface Counters {
  /** Begins those that became known since; to be called often. */
  begin(): Promise<void>;
  /** Ends the series of all other destinations: each costs memory, here and in Prometheus. */
  keepDestinations(ids: ReadonlySet<Destination['id']>): Promise<void>;
}

export const createCounters = (dependencies: CounterDependencies): Counters => {
  const { config, metrics, catalog, destinations, named, hasFallback } = dependencies;
  const { sources } = config.alerts;
  const begun = new Set<string>();
  const once = (key: string, begin: () => void): void => {
    if (begun.has(key)) return;
    begun.add(key);
    begin();
  };

  const beginProtocol = (service: string, protocol: string): void => {
    for (const source of sources) metrics.alerts.inc({ service, protocol, source }, 0);
    for (const kind of DIFFERENCES) metrics.auditDifferences.inc({ service, protocol, kind }, 0);
  };
  let begunReasons = 0;
  const beginReasons = (kind: string, destination: string): void => {
    begunReasons += 1;
    for (const reason of DELIVERY_REASONS) metrics.deliveryFailures.inc({ kind, destination, reason }, 0);
  };
  const beginDestination = ({ id, kind, label }: Named): void => {
    metrics.destinationInfo.set({ kind, destination: id, label }, 1);
    if (begunReasons < MOST_WITH_REASONS) beginReasons(kind, id);
    for (const outcome of DELIVERY_OUTCOMES) metrics.deliveries.inc({ kind, destination: id, outcome }, 0);
    metrics.muted.inc({ kind, destination: id }, 0);
  };

  for (const { name } of config.services) beginService(dependencies, name, sources);
  for (const kind of Object.keys(config.channels)) beginKind(dependencies, kind);
  if (hasFallback) for (const reason of FALLBACK_REASONS) metrics.fallbackAlerts.inc({ reason }, 0);

  const begin = async (): Promise<void> => {
    for (const one of [...destinations(), ...named]) once(one.id, () => beginDestination(one));
    for (const { name: service } of config.services) {
      for (const protocol of (await catalog.protocols(service)).keys()) {
        once(JSON.stringify([service, protocol]), () => beginProtocol(service, protocol));
      }
    }
  };
  const keepDestinations = async (ids: ReadonlySet<string>): Promise<void> => {
    const { deliveries, deliveryFailures, muted, destinationInfo } = metrics;
    for (const metric of [deliveries, deliveryFailures, muted, destinationInfo]) {
      for (const { labels } of (await metric.get()).values) {
        const id = String(labels.destination);
        if (ids.has(id)) continue;
        metric.remove(labels);
        begun.delete(id);
      }
    }
  };
  return { begin, keepDestinations };
};
