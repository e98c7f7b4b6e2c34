/**
 * Lets counters begin at 0 as soon as their labels are known. Prometheus sees no increase in a series whose first value
 * is 1 already: the first dead delivery, the first difference of an audit would raise no alert.
 */
import { CHANNEL_KINDS, type ChannelKind, type Destination, isHuman, type Source, shownLabel } from '../../alert.ts';
import type { Config } from '../../config/schema.ts';
import { DELIVERY_REASONS, SERVICE_BOUNDS } from '../../errors.ts';
import type { Metrics } from '../../ops/metrics.ts';
import type { Catalog } from '../../poll/catalog.ts';
import { REFUSAL_REASONS } from '../acknowledgement/press.ts';
import { DIVERT_REASONS } from '../fallback/notice.ts';
import type { Outcome } from '../recheck/recheck.ts';

type Named = Pick<Destination, 'id' | 'kind' | 'label'>;

interface CounterDependencies {
  config: Pick<Config, 'services' | 'alerts' | 'channels'>;
  metrics: Metrics;
  catalog: Pick<Catalog, 'protocols'>;
  /** Every destination that a protocol, the fallback or the watchdog leads to; some more than once. */
  routed(): readonly Named[];
  hasFallback: boolean;
  /** What providers call destinations, by id. Default: nobody knows. */
  names?(): Promise<ReadonlyMap<Destination['id'], string>>;
}

const POLL_OUTCOMES = ['read', 'busy', 'held', 'failed'];
const AUDIT_OUTCOMES = ['balanced', 'difference', 'incomplete'];
const DIFFERENCES = ['missing', 'lost'];
/** Destinations times reasons are many series: for those beyond, a reason begins with its first failure. */
const MOST_WITH_REASONS = 100;

const DELIVERY_OUTCOMES = ['delivered', 'retrying', 'dead'];
const ASSESSMENTS: Readonly<Record<Source, readonly string[]>> = {
  inspections: ['ok', 'suspecious', 'critical'],
  notifications: ['none'],
};

const RECHECKS = Object.keys({
  same: true,
  unsure: true,
  forwarded: true,
  downgraded: true,
  upgraded: true,
  vanished: true,
} satisfies Record<Outcome, true>);

const beginService = ({ metrics }: CounterDependencies, service: string, sources: readonly Source[]): void => {
  for (const source of sources) {
    for (const outcome of POLL_OUTCOMES) metrics.polls.inc({ service, source, outcome }, 0);
    for (const assessment of ASSESSMENTS[source]) metrics.items.inc({ service, source, assessment }, 0);
    metrics.itemsMalformed.inc({ service, source }, 0);
    metrics.itemsForeign.inc({ service, source }, 0);
  }
  metrics.itemsMalformed.inc({ service, source: 'protocols' }, 0);
  if (sources.includes('inspections')) for (const outcome of RECHECKS) metrics.rechecks.inc({ service, outcome }, 0);
  for (const bound of SERVICE_BOUNDS) metrics.boundsReached.inc({ service, bound }, 0);
  for (const outcome of AUDIT_OUTCOMES) metrics.audits.inc({ service, outcome }, 0);
};

const beginKind = ({ config, metrics }: CounterDependencies, kind: ChannelKind): void => {
  for (const counter of [metrics.digests, metrics.digestAlerts, metrics.slotWaits, metrics.slotWaitSeconds]) {
    counter.inc({ kind }, 0);
  }
  if (!config.alerts.acknowledge || !isHuman({ kind })) return;
  metrics.acknowledged.inc({ kind }, 0);
  for (const reason of REFUSAL_REASONS) metrics.pressesRefused.inc({ kind, reason }, 0);
};

/** The series of destinations, and the labels that say what each is: a name may become known later, or change. */
const createDestinationCounters = (metrics: Metrics) => {
  const { deliveries, deliveryFailures, muted, destinationInfo } = metrics;
  const described = new Map<Destination['id'], { kind: string; destination: string; label: string }>();
  let begunReasons = 0;

  const beginReasons = (kind: string, destination: string): void => {
    begunReasons += 1;
    for (const reason of DELIVERY_REASONS) deliveryFailures.inc({ kind, destination, reason }, 0);
  };
  return {
    describe: ({ id, kind, label }: Named, name: string | undefined): void => {
      const labels = { kind, destination: id, label: shownLabel({ label, name }) };
      const before = described.get(id);
      if (before?.label === labels.label) return;
      if (before) destinationInfo.remove(before);
      destinationInfo.set(labels, 1);
      described.set(id, labels);
    },
    begin: ({ id, kind }: Named): void => {
      if (begunReasons < MOST_WITH_REASONS) beginReasons(kind, id);
      for (const outcome of DELIVERY_OUTCOMES) deliveries.inc({ kind, destination: id, outcome }, 0);
      muted.inc({ kind, destination: id }, 0);
    },
    /** Gives those whose series ended. */
    keep: async (ids: ReadonlySet<Destination['id']>): Promise<Set<Destination['id']>> => {
      const gone = await metrics.keepDestinations(ids);
      for (const id of gone) described.delete(id);
      return gone;
    },
  };
};

interface Counters {
  /** Begins those that became known since; to be called often. */
  begin(): Promise<void>;
  /** Ends the series of all other destinations: each costs memory, here and in Prometheus. */
  keepDestinations(ids: ReadonlySet<Destination['id']>): Promise<void>;
}

/** Counts nothing itself: it only lets counters of `metrics` begin, and ends those of destinations that are gone. */
export const createCounters = (dependencies: CounterDependencies): Counters => {
  const { config, metrics, catalog, routed, hasFallback } = dependencies;
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
  const { describe, begin: beginDestination, keep } = createDestinationCounters(metrics);

  for (const { name } of config.services) beginService(dependencies, name, sources);
  for (const kind of CHANNEL_KINDS) if (config.channels[kind]) beginKind(dependencies, kind);
  if (hasFallback) for (const reason of DIVERT_REASONS) metrics.fallbackAlerts.inc({ reason }, 0);

  const beginProtocols = async (): Promise<void> => {
    let leftOut = 0;
    for (const { name: service } of config.services) {
      for (const protocol of (await catalog.protocols(service)).keys()) {
        if (metrics.protocolLabel(service, protocol) !== protocol) leftOut += 1;
        else once(JSON.stringify([service, protocol]), () => beginProtocol(service, protocol));
      }
    }
    for (const metric of ['tocsin_alerts_total', 'tocsin_audit_differences_total']) {
      metrics.protocolSeriesLeftOut.set({ metric }, leftOut);
    }
  };

  const begin = async (): Promise<void> => {
    const names = (await dependencies.names?.()) ?? new Map<string, string>();
    const all = new Map(routed().map((one) => [one.id, one]));
    const own = [...all.values()].filter(({ id }) => metrics.destinationLabel(id) === id);
    for (const one of own) {
      describe(one, names.get(one.id));
      once(one.id, () => beginDestination(one));
    }
    metrics.destinationSeriesLeftOut.set(all.size - own.length);
    await beginProtocols();
  };
  const keepDestinations = async (ids: ReadonlySet<string>): Promise<void> => {
    for (const id of await keep(ids)) begun.delete(id);
  };
  return { begin, keepDestinations };
};
