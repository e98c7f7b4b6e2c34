/** The daemon's metrics: those that it declares, those of Node and its process, and how they are scraped. */
import { collectDefaultMetrics, type Gauge, Registry } from 'prom-client';
import { oneAtATime, withinTime } from './asking.ts';
import { setHighest } from './bounded-series.ts';
import { declareMetrics } from './declared-metrics.ts';
import { createLoopDelay } from './loop-delay.ts';
import { NEVER_MS, replaceLoopLag } from './loop-lag.ts';

/** A scrape waits this long for what it has to ask elsewhere; afterwards it shows the values of the last one. */
const REFRESH_TIMEOUT_MS = 2000;

/** Deprecated by prom-client and wrongly named: gauges that end in `_total`. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

const KNOWN_ASSESSMENTS: readonly string[] = ['ok', 'suspecious', 'critical'];

/** The label of an item's assessment: a word nobody documented must not become a time series of its own. */
export const assessmentLabel = (assessment: string | undefined): string => {
  if (assessment === undefined) return 'none';
  return KNOWN_ASSESSMENTS.includes(assessment) ? assessment : 'other';
};

/** Ends the series of services that are watched no more: a gauge would keep its last value. */
const keepServices = async (registry: Registry, services: readonly string[]): Promise<void> => {
  for (const metric of registry.getMetricsAsArray()) {
    const { values } = await (metric as unknown as Gauge).get();
    for (const { labels } of values) {
      const { le: _, ...own } = labels as Record<string, string>;
      if (own.service !== undefined && !services.includes(own.service)) (metric as unknown as Gauge).remove(own);
    }
  }
};

/**
 * A registry of its own with every metric in it. `onScrape` names what sets gauges that have to be asked for (queue
 * lengths, lags); it runs before every `text()`, and a failure or a slow answer never fails the scrape.
 */
export const createMetrics = ({ version }: { version: string }) => {
  const registry = new Registry();
  const { buildInfo, ...declared } = declareMetrics(registry);
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  buildInfo.set({ version, node: process.version }, 1);
  const loopDelay = createLoopDelay();
  const setLoopLag = replaceLoopLag(registry, loopDelay.rounds);
  const refreshes = new Set<() => Promise<void>>();
  return {
    registry,
    loopDelay,
    setHighest,
    ...declared,
    keepServices: (services: readonly string[]): Promise<void> => keepServices(registry, services),
    /** Gives the function that ends it. */
    onScrape: (refresh: () => Promise<void>): (() => void) => {
      const asked = oneAtATime(refresh);
      refreshes.add(asked);
      return () => void refreshes.delete(asked);
    },
    /** The Prometheus text format, `registry.contentType`. */
    text: async (): Promise<string> => {
      await Promise.allSettled([...refreshes].map((refresh) => withinTime(refresh(), REFRESH_TIMEOUT_MS)));
      setLoopLag();
      return registry.metrics();
    },
  };
};

export type Metrics = ReturnType<typeof createMetrics>;
