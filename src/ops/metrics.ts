/** All metrics, those of our own, of Node and of the event loop, as Prometheus reads them. */
import { collectDefaultMetrics, Registry } from 'prom-client';
import { protocolKey } from '../alert.ts';
import { escapeInvisible } from '../text.ts';
import type { Build } from '../version.ts';
import { oneAtATime, withinTime } from '../waiting.ts';
import { createLoopDelay, NEVER_MS, replaceLoopLag } from './loop-delay.ts';
import { declareMetrics } from './metric-list.ts';
import { endSeries, OTHERS, setHighest } from './series.ts';

/** A scrape waits this long for what it has to ask elsewhere; afterwards it shows the values of the last one. */
const REFRESH_MS = 2000;

/** Deprecated by prom-client and wrongly named: gauges that end in `_total`. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

const KNOWN_ASSESSMENTS: readonly string[] = ['ok', 'suspecious', 'critical'];

/** The label of an item's assessment: a word nobody documented must not become a time series of its own. */
export const assessmentLabel = (assessment: string | undefined): string => {
  if (assessment === undefined) return 'none';
  return KNOWN_ASSESSMENTS.includes(assessment) ? assessment : 'other';
};

/**
 * A registry of its own with every metric in it. `onScrape` names what asks for gauges elsewhere (queue lengths), and then
 * shows what is known anyway (lags); both run before every `text()`, and a failure or a slow answer never fails the scrape,
 * nor holds up the next one.
 */
export const createMetrics = ({ version, revision = '', refreshMs = REFRESH_MS }: Build & { refreshMs?: number }) => {
  const registry = new Registry();
  const { buildInfo, owners, ...declared } = declareMetrics(registry);
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  buildInfo.set({ version, revision, node: process.version }, 1);
  const loopDelay = createLoopDelay();
  const setLoopLag = replaceLoopLag(registry, loopDelay.rounds);
  const refreshes = new Set<() => Promise<void>>();
  return {
    registry,
    loopDelay,
    setHighest,
    ...declared,
    /** By which a destination's series are known: `others`, where it has none of its own. */
    destinationLabel: (id: string): string => owners.destinations.labelOf(id),
    /** Ends the series of services that are watched no more. */
    keepServices: async (services: readonly string[]): Promise<void> => {
      const gone = await endSeries(registry, ({ service }) => service !== undefined && !services.includes(service));
      for (const { service = '', protocol = '' } of gone) owners.protocols.free(protocolKey({ service, protocol }));
    },
    /** Ends the series of destinations that are gone, and gives their ids. */
    keepDestinations: async (ids: ReadonlySet<string>): Promise<Set<string>> => {
      const stays = (id: string): boolean => ids.has(id) || id === OTHERS || id.startsWith('sender-');
      const gone = await endSeries(registry, ({ destination }) => destination !== undefined && !stays(destination));
      const found = new Set(gone.flatMap(({ destination }) => destination ?? []));
      for (const id of found) owners.destinations.free(id);
      return found;
    },
    /** Gives the function that ends it. */
    onScrape: (ask: () => Promise<void>, show: () => void = () => {}): (() => void) => {
      const asked = oneAtATime(() => withinTime(ask(), refreshMs));
      const refresh = (): Promise<void> => asked().finally(show);
      refreshes.add(refresh);
      return () => void refreshes.delete(refresh);
    },
    /** The Prometheus text format, `registry.contentType`. Only labels have text from outside. */
    text: async (): Promise<string> => {
      await Promise.allSettled([...refreshes].map((refresh) => refresh()));
      setLoopLag();
      // Its readers take a backslash in a label for the beginning of an escape of theirs.
      return escapeInvisible(await registry.metrics(), String.raw`\\u`);
    },
  };
};

export type Metrics = ReturnType<typeof createMetrics>;
