/** The present config over real history: what each destination would have got, composed as it would be, never sent. */
import type { Alert } from '../../alert.ts';
import { openConfiguredChannels } from '../../channels/open.ts';
import { longestIntervalMs } from '../../config/poll-interval.ts';
import type { Config } from '../../config/schema.ts';
import { oldestFirst } from '../../queue/batch-store.ts';
import { iso } from '../../time.ts';
import { createApprovalPolicy, trustedBy } from '../approval/policy.ts';
import type { HistoryProtocol, openHistory, Period, Unread } from '../replay/history.ts';
import { createRouteReview } from '../routes/review.ts';
import { createRouting, routeSettings } from '../routes/routes.ts';
import { createLoads, createTally, type DestinationLoad, type ProtocolLoad } from './report.ts';
import { createSimulation, type MuteLoad } from './simulate.ts';

export interface BacktestReport {
  /** ISO 8601. */
  since: string;
  until: string;
  alerts: number;
  /** Those with alerts, the loudest first. */
  protocols: ProtocolLoad[];
  /** The loudest first. */
  destinations: DestinationLoad[];
  /** Stored notifications that an inspection covers at one destination or more. */
  correlated: number;
  /** Inspections in which it fired; one may count for several. */
  detectors: { detector: string; alerts: number }[];
  /** By windows of the config. */
  mutes: MuteLoad[];
  /** Channel entries that lead nowhere, whether there was an alert for them or not. */
  problems: string[];
  unread: Unread[];
}

export interface BacktestInput {
  config: Config;
  history: ReturnType<typeof openHistory>;
  protocols: readonly HistoryProtocol[];
  period: Period;
  /** Sources of protocols that are read by now, of how many. */
  onProgress?(done: number, of: number): void;
}

/** The alerts that one poll would have read. */
interface Read {
  /** When it would have polled, in epoch milliseconds. */
  at: number;
  alerts: Alert[];
}

/** Collects history by the polls that would have read it; what is written between two polls is read by the second. */
const createReads = (interval: number) => {
  const reads = new Map<string, Read>();
  const byDate = ({ at, alerts: [one] }: Read, { at: otherAt, alerts: [other] }: Read): number =>
    at - otherAt || (one && other ? oldestFirst(one, other) : 0);
  return {
    add: (alerts: readonly Alert[]): void => {
      for (const alert of alerts) {
        const at = Math.ceil(Date.parse(alert.at) / interval) * interval;
        const key = JSON.stringify([alert.service, alert.protocol, alert.source, at]);
        const read = reads.get(key) ?? { at, alerts: [] };
        reads.set(key, read);
        read.alerts.push(alert);
      }
    },
    /** In order of time; those of one moment in the order of their dates, whoever answered first. */
    inOrder: (): Read[] => [...reads.values()].toSorted(byDate),
  };
};

const NOBODY: ReadonlySet<string> = new Set();

/** Which destinations need no approval, as far as the config says. */
const openByConfig = (config: Config) => {
  const trusted = trustedBy(config.fallback?.channels ?? [], routeSettings(config));
  return createApprovalPolicy({ ...config.destinations, trusted })(NOBODY);
};

const problemsOf = (config: Config, protocols: readonly HistoryProtocol[]): string[] => {
  const review = createRouteReview(routeSettings(config), { warn: () => {} });
  for (const [service, listed] of Map.groupBy(protocols, (protocol) => protocol.service)) {
    review.review(service, new Map(listed.map((protocol) => [protocol.name, protocol])));
  }
  return review.problems();
};

const listedAs = (protocols: readonly HistoryProtocol[]) => {
  const keyOf = (service: string, name: string): string => JSON.stringify([service, name]);
  const listed = new Map(protocols.map((protocol) => [keyOf(protocol.service, protocol.name), protocol]));
  return async ({ service, protocol }: Pick<Alert, 'service' | 'protocol'>) => listed.get(keyOf(service, protocol));
};

/** Throws what reading throws. */
export const backtest = async (input: BacktestInput): Promise<BacktestReport> => {
  const { config, history, protocols, period, onProgress } = input;
  const { channels, close } = await openConfiguredChannels(config, Date.now);
  const { routesOf } = createRouting({ config, settings: routeSettings(config), protocolOf: listedAs(protocols) });
  const tally = createTally();
  const loads = createLoads(
    channels.map(({ kind }) => kind),
    openByConfig(config),
  );
  const simulation = createSimulation({ config, channels, routesOf, onRouted: tally.add, onMessage: loads.add });
  const reads = createReads(longestIntervalMs(config.poll));
  try {
    const unread = await history.read(protocols, {
      period,
      onAlerts: async (_protocol, alerts) => reads.add(alerts),
      onRead: (_protocol, _source, done, of) => onProgress?.(done, of),
    });
    for (const { at, alerts } of reads.inOrder()) simulation.dispatchAt(at, alerts);
    await simulation.run();
    return {
      since: iso(period.since),
      until: iso(period.until),
      alerts: tally.alerts(),
      protocols: tally.protocols(),
      detectors: tally.detectors(),
      mutes: simulation.mutes(),
      destinations: loads.destinations(),
      correlated: simulation.correlated(),
      problems: problemsOf(config, protocols),
      unread,
    };
  } finally {
    await close();
  }
};
