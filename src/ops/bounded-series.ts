/** Gauges of many protocols: of thousands, only those with the highest values become series, each time anew. */
import type { Gauge } from 'prom-client';

/** What a gauge is set to for one protocol and source. */
export interface ProtocolValue {
  labels: { service: string; protocol: string; source: string };
  value: number;
}

/** Series of one gauge. Each costs memory, here and in Prometheus. */
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
