/** The present config over real history: what each destination would have got, composed as it would be, never sent. */
import type { Alert, Source } from '../../alert.ts';
import { firedDetections } from '../../channels/content.ts';
import { openConfiguredChannels } from '../../channels/open.ts';
import type { Config } from '../../config/schema.ts';
import type { Routes } from '../../dispatch/route.ts';
import type { HistoryProtocol, openHistory, Period, Unread } from '../replay/history.ts';
import { createRouteReview } from '../routes/review.ts';
import { routeSettings } from '../routes/routes.ts';
import { routeAlert } from '../routes/rules.ts';
import { createDeliveryForecast, type DeliveryLoads, type Routed } from './deliveries.ts';
import { createMuteForecast, type MuteLoad } from './mutes.ts';

export interface ProtocolLoad {
  service: string;
  protocol: string;
  inspections: number;
  notifications: number;
  /** Of both, those that no trigger asks for. */
  skipped: number;
  /** Of both, those without any destination. */
  stranded: number;
}

export interface BacktestReport extends DeliveryLoads {
  /** ISO 8601. */
  since: string;
  until: string;
  alerts: number;
  /** Those with alerts, the loudest first. */
  protocols: ProtocolLoad[];
  /** Inspections in which it fired; one may count for several. */
  detectors: { detector: string; alerts: number }[];
  /** By windows of the config. */
  mutes: MuteLoad[];
  /** Channel entries that lead nowhere, whether there was an alert for them or not. */
  problems: string[];
  unread: Unread[];
}

const byCount =
  <T>(count: (one: T) => number) =>
  (a: T, b: T) =>
    count(b) - count(a);

const addOne = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);

/** Counts alerts by protocol and detector. */
const createTally = () => {
  const protocols = new Map<string, ProtocolLoad>();
  const detectors = new Map<string, number>();
  return {
    count: ({ service, protocol, source, item }: Alert, { destinations, skipped }: Routes): void => {
      const key = JSON.stringify([service, protocol]);
      const empty = { service, protocol, inspections: 0, notifications: 0, skipped: 0, stranded: 0 };
      const load = protocols.get(key) ?? empty;
      protocols.set(key, load);
      load[source] += 1;
      if (skipped) load.skipped += 1;
      else if (destinations.length === 0) load.stranded += 1;
      if (source === 'inspections') {
        for (const name of new Set(firedDetections(item).map((each) => each.name))) addOne(detectors, name);
      }
    },
    protocols: () => [...protocols.values()].toSorted(byCount((each) => each.inspections + each.notifications)),
    detectors: () =>
      [...detectors].map(([detector, alerts]) => ({ detector, alerts })).toSorted(byCount(({ alerts }) => alerts)),
  };
};

export interface BacktestInput {
  config: Config;
  history: ReturnType<typeof openHistory>;
  protocols: readonly HistoryProtocol[];
  period: Period;
  /** Sources of protocols that are read by now, of how many. */
  onProgress?(done: number, of: number): void;
}

/** Routes what is read; what belongs together is dispatched when its source was read to the end. */
const createCollector = (config: Config, dispatch: (routed: readonly Routed[]) => void) => {
  const settings = routeSettings(config);
  const tally = createTally();
  const forecast = createMuteForecast(config);
  const pending = new Map<string, Routed[]>();
  const keyOf = ({ service, name }: HistoryProtocol, source: Source) => JSON.stringify([service, name, source]);
  let alerts = 0;
  return {
    take: (protocol: HistoryProtocol, found: readonly Alert[]): void => {
      for (const alert of found) {
        const routes = routeAlert(alert, protocol, settings);
        alerts += 1;
        tally.count(alert, routes);
        const key = keyOf(protocol, alert.source);
        const routed = pending.get(key) ?? [];
        pending.set(key, routed);
        const destinations = forecast.pass(alert, routes.destinations);
        if (destinations.length > 0) routed.push({ alert, destinations });
      }
    },
    end: (protocol: HistoryProtocol, source: Source): void => {
      dispatch(pending.get(keyOf(protocol, source)) ?? []);
      pending.delete(keyOf(protocol, source));
    },
    counts: () => ({
      alerts,
      protocols: tally.protocols(),
      detectors: tally.detectors(),
      mutes: forecast.loads(),
    }),
  };
};

const problemsOf = (config: Config, protocols: readonly HistoryProtocol[]): string[] => {
  const review = createRouteReview(routeSettings(config), { warn: () => {} });
  for (const [service, listed] of Map.groupBy(protocols, (protocol) => protocol.service)) {
    review.review(service, new Map(listed.map((protocol) => [protocol.name, protocol])));
  }
  return review.problems();
};

/** Throws what reading throws. */
export const backtest = async (input: BacktestInput): Promise<BacktestReport> => {
  const { config, history, protocols, period, onProgress } = input;
  const { channels, close } = openConfiguredChannels(config, Date.now);
  const deliveries = createDeliveryForecast(config, channels);
  const collector = createCollector(config, deliveries.add);
  try {
    const unread = await history.read(protocols, {
      period,
      onAlerts: async (protocol, alerts) => collector.take(protocol, alerts),
      onRead: (protocol, source, done, of) => {
        collector.end(protocol, source);
        onProgress?.(done, of);
      },
    });
    return {
      since: new Date(period.since).toISOString(),
      until: new Date(period.until).toISOString(),
      ...collector.counts(),
      ...(await deliveries.loads()),
      problems: problemsOf(config, protocols),
      unread,
    };
  } finally {
    await close();
  }
};
