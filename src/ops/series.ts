/** How metrics are made, how many series each may have, and how series end: each costs memory, here and in Prometheus. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { protocolKey } from '../alert.ts';

/** Of our own names. Those of the process and of Node are the ones that every dashboard knows. */
const METRIC_PREFIX = 'tocsin_';

/** Destinations with series of their own, and protocols with counters of their own: each has several. */
const MOST_OWN = 500;
/** The label of all others: what they do counts, too. */
export const OTHERS = 'others';

/** Who has series of their own: the first to come, while there is room. */
const createOwners = () => {
  const owners = new Set<string>();
  return {
    /** `label`: where it is not the key. */
    labelOf: (key: string, label = key): string => {
      if (owners.size < MOST_OWN) owners.add(key);
      return owners.has(key) ? label : OTHERS;
    },
    free: (key: string): void => void owners.delete(key),
  };
};

type Labels = Record<string, string>;

type Words<Text> = Text extends `${infer First},${infer Rest}` ? First | Words<Rest> : Text;
type LabelOf<Series> = Series extends `${string}{${infer Names}}` ? Words<Names> : never;

/** Makes metrics that belong to one registry, under the common prefix, each from `name` or `name{label,label}`. */
export const metricsOf = (registry: Registry) => {
  const describe = <Series extends string>(series: Series, help: string) => {
    const [name, ...labels] = series.match(/\w+/gu) ?? [];
    return {
      name: `${METRIC_PREFIX}${name}`,
      help,
      labelNames: labels as LabelOf<Series>[],
      registers: [registry],
    };
  };
  const owners = { destinations: createOwners(), protocols: createOwners() };
  const protocolLabel = (service: string, name: string) =>
    owners.protocols.labelOf(protocolKey({ service, protocol: name }), name);
  const shown = <Given extends Labels>(labels: Given): Given => {
    const { service = '', protocol, destination } = labels;
    const own: Labels = { ...labels };
    if (destination !== undefined) own.destination = owners.destinations.labelOf(destination);
    if (protocol !== undefined) own.protocol = protocolLabel(service, protocol);
    return own as Given;
  };
  return {
    owners,
    protocolLabel,
    /** Of destinations or protocols: what has no series of its own counts under `OTHERS`. */
    bounded: <Series extends string>(series: Series, help: string) => {
      const counter = new Counter(describe(series, help));
      return {
        inc: (labels: Record<LabelOf<Series>, string>, value?: number): void => counter.inc(shown(labels), value),
      };
    },
    counter: <Series extends string>(series: Series, help: string) => new Counter(describe(series, help)),
    gauge: <Series extends string>(series: Series, help: string) => new Gauge(describe(series, help)),
    histogram: <Series extends string>(series: Series, help: string, buckets: number[]) =>
      new Histogram({ ...describe(series, help), buckets }),
  };
};

export type Maker = ReturnType<typeof metricsOf>;

/** What a gauge is set to for one protocol and source. */
export interface ProtocolValue {
  labels: { service: string; protocol: string; source: string };
  value: number;
}

/** Series of one gauge. */
const MOST_SERIES = 200;

/** Sets the gauge to these values and no others; gives how many were left out. */
export const setHighest = (
  gauge: Pick<Gauge<'service' | 'protocol' | 'source'>, 'reset' | 'set'>,
  values: readonly ProtocolValue[],
  most = MOST_SERIES,
): number => {
  gauge.reset();
  const kept = values.length <= most ? values : values.toSorted((a, b) => b.value - a.value).slice(0, most);
  for (const { labels, value } of kept) gauge.set(labels, value);
  return values.length - kept.length;
};

/** Ends series: a gauge would keep its last value. Gives the labels of those that ended. */
export const endSeries = async (registry: Registry, isGone: (labels: Labels) => boolean): Promise<Labels[]> => {
  const gone: Labels[] = [];
  for (const metric of registry.getMetricsAsArray()) {
    const { values } = await (metric as unknown as Gauge).get();
    for (const { labels } of values) {
      const { le: _, ...own } = labels as Labels;
      if (!isGone(own)) continue;
      (metric as unknown as Gauge).remove(own);
      gone.push(own);
    }
  }
  return gone;
};
