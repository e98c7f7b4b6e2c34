/**
 * Lets counters begin at 0 as soon as their labels are known. Prometheus sees no increase in a series whose first value
 * is 1 already: the first dead delivery, the first difference of an audit would raise no alert.
 */
import { CHANNEL_KINDS, type ChannelKind, type Destination, isHuman, type Source, shownLabel } from '../../alert.ts';
import type { Config } from '../../config/schema.ts';
import { DELIVERY_REASONS, SERVICE_BOUNDS } from '../../errors.ts';
import type { Metrics } from '../../ops/metrics.ts';
import { REFUSAL_REASONS } from '../acknowledgement/press.ts';
import { DIVERT_REASONS } from '../fallback/notice.ts';
import { type Names, NO_NAMES } from '../names/names.ts';
import type { Outcome } from '../recheck/recheck.ts';
import type { GaugeDependencies } from './gauges.ts';
import type { StatusDependencies } from './status.ts';

type Named = Pick<Destination, 'id' | 'kind' | 'label'>;

interface CounterDependencies
  extends Pick<StatusDependencies, 'routed'>,
    Pick<GaugeDependencies, 'metrics' | 'catalog'> {
  config: Pick<Config, 'services' | 'alerts' | 'channels'>;
  hasFallback: boolean;
  /** What providers call destinations, by id. Default: nobody knows. */
  names?(): Promise<Names>;
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

/** Every series of a counter that these values of its labels can make. */
const beginAll = <Label extends string>(
  counter: { inc(labels: NoInfer<Record<Label, string>>, value: number): void },
  values: Readonly<Record<Label, string | readonly string[]>>,
): void => {
  const labels = Object.entries<string | readonly string[]>(values).reduce<Record<string, string>[]>(
    (all, [label, each]) => all.flatMap((one) => [each].flat().map((value) => ({ ...one, [label]: value }))),
    [{}],
  );
  for (const one of labels) counter.inc(one as Record<Label, string>, 0);
};

const beginService = ({ metrics }: CounterDependencies, service: string, sources: readonly Source[]): void => {
  beginAll(metrics.polls, { service, source: sources, outcome: POLL_OUTCOMES });
  for (const source of sources) beginAll(metrics.items, { service, source, assessment: ASSESSMENTS[source] });
  beginAll(metrics.itemsMalformed, { service, source: [...sources, 'protocols'] });
  beginAll(metrics.itemsForeign, { service, source: sources });
  if (sources.includes('inspections')) beginAll(metrics.rechecks, { service, outcome: RECHECKS });
  beginAll(metrics.boundsReached, { service, bound: SERVICE_BOUNDS });
  beginAll(metrics.audits, { service, outcome: AUDIT_OUTCOMES });
};

const beginKind = ({ config, metrics }: CounterDependencies, kind: ChannelKind): void => {
  for (const counter of [metrics.digests, metrics.digestAlerts, metrics.slotWaits, metrics.slotWaitSeconds]) {
    beginAll(counter, { kind });
  }
  if (!config.alerts.acknowledge || !isHuman({ kind })) return;
  beginAll(metrics.acknowledged, { kind });
  beginAll(metrics.pressesRefused, { kind, reason: REFUSAL_REASONS });
};

/** The series of destinations, and the labels that say what each is: a name may become known later, or change. */
const createDestinationCounters = (metrics: Metrics) => {
  const described = new Map<Destination['id'], { kind: string; destination: string; label: string }>();
  let begunReasons = 0;

  const beginOne = (kind: string, destination: string): void => {
    if (begunReasons < MOST_WITH_REASONS)
      beginAll(metrics.deliveryFailures, { kind, destination, reason: DELIVERY_REASONS });
    begunReasons += 1;
    beginAll(metrics.deliveries, { kind, destination, outcome: DELIVERY_OUTCOMES });
    beginAll(metrics.muted, { kind, destination });
  };
  return {
    begin: ({ id, kind, label }: Named, name: string | undefined): void => {
      const labels = { kind, destination: id, label: shownLabel({ label, name }) };
      const before = described.get(id);
      if (before?.label === labels.label) return;
      if (before) metrics.destinationInfo.remove(before);
      else beginOne(kind, id);
      metrics.destinationInfo.set(labels, 1);
      described.set(id, labels);
    },
    /** Ends the series of all other destinations: each costs memory, here and in Prometheus. */
    keep: async (ids: ReadonlySet<Destination['id']>): Promise<void> => {
      for (const id of await metrics.keepDestinations(ids)) described.delete(id);
    },
  };
};

/** Counts nothing itself: it only lets counters of `metrics` begin, and ends those of destinations that are gone. */
export const createCounters = (dependencies: CounterDependencies) => {
  const { config, metrics, catalog, routed, hasFallback } = dependencies;
  const { sources } = config.alerts;
  const { begin: beginDestination, keep: keepDestinations } = createDestinationCounters(metrics);
  /** Their names, by service. */
  const begunProtocols = new Map(config.services.map(({ name }) => [name, new Set<string>()]));

  for (const { name } of config.services) beginService(dependencies, name, sources);
  for (const kind of CHANNEL_KINDS) if (config.channels[kind]) beginKind(dependencies, kind);
  if (hasFallback) beginAll(metrics.fallbackAlerts, { reason: DIVERT_REASONS });

  const beginProtocols = async (): Promise<void> => {
    let leftOut = 0;
    for (const [service, begun] of begunProtocols) {
      // Who adds protocols takes no series of those that were there before.
      const known = [...(await catalog.protocols(service)).values()];
      const all = known.toSorted((a, b) => (a.owedSince ?? 0) - (b.owedSince ?? 0)).map(({ name }) => name);
      const own = all.filter((name) => metrics.protocolLabel(service, name) === name);
      leftOut += all.length - own.length;
      const protocol = own.filter((name) => !begun.has(name));
      beginAll(metrics.alerts, { service, protocol, source: sources });
      beginAll(metrics.auditDifferences, { service, protocol, kind: DIFFERENCES });
      for (const name of protocol) begun.add(name);
    }
    for (const metric of ['tocsin_alerts_total', 'tocsin_audit_differences_total']) {
      metrics.protocolSeriesLeftOut.set({ metric }, leftOut);
    }
  };

  return {
    /** Begins those that became known since; to be called often. */
    begin: async (): Promise<void> => {
      const names = (await dependencies.names?.()) ?? NO_NAMES;
      const all = new Map(routed().map((one) => [one.id, one]));
      const own = [...all.values()].filter(({ id }) => metrics.destinationLabel(id) === id);
      for (const one of own) beginDestination(one, names.get(one.id));
      metrics.destinationSeriesLeftOut.set(all.size - own.length);
      await beginProtocols();
    },
    keepDestinations,
  };
};
