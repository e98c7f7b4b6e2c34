/** The present config over real history: what each destination would have got, composed as it would be, never sent. */
import type { Alert, ChannelKind, Mute } from '../../alert.ts';
import { getOrCreate } from '../../bounded-map.ts';
import type { Channel } from '../../channels/channel.ts';
import { createPresentation } from '../../channels/content/presentation.ts';
import { openConfiguredChannels } from '../../channels/open.ts';
import { pacingOf, readerAt } from '../../channels/registry.ts';
import { longestIntervalMs } from '../../config/poll-section.ts';
import type { Config } from '../../config/schema.ts';
import { createDispatch, type DispatchDependencies } from '../../dispatch/dispatch.ts';
import { oldestFirst } from '../../queue/batch-store.ts';
import { iso } from '../../time.ts';
import { createApprovalPolicy, trustedBy } from '../approval/policy.ts';
import { correlationSettings, createCorrelation } from '../correlation/correlate.ts';
import { createActiveMutes } from '../mutes/active.ts';
import { muteOfWindow } from '../mutes/windows.ts';
import type { HistoryProtocol, openHistory, Period, Unread } from '../replay/history.ts';
import { createRouteReview } from '../routes/review.ts';
import { createRouting, routeSettings } from '../routes/routes.ts';
import { createFilter } from '../suppression/filter.ts';
import { createSimulatedDelivery, type SimulatedKind, type SimulatedMessage } from './delivery.ts';
import { createMemoryCoveredDeliveries, createMemoryLedger, createMemoryMutes } from './in-memory.ts';
import { createLoads, createTally, type DestinationLoad, type ProtocolLoad } from './report.ts';
import { createTimeline } from './timeline.ts';

interface SimulationDependencies extends Required<Pick<DispatchDependencies, 'routesOf' | 'onRouted'>> {
  config: Config;
  channels: readonly Channel[];
  onMessage(message: SimulatedMessage): void;
}

interface MuteLoad {
  reason: string;
  /** Alerts that it would have hidden from one destination or more. */
  alerts: number;
}

const SILENT = { info: () => {}, warn: () => {} };

const kindsOf = (config: Config, channels: readonly Channel[]): Map<ChannelKind, SimulatedKind> => {
  const presentation = createPresentation(config);
  const kinds = new Map<ChannelKind, SimulatedKind>();
  for (const channel of channels) {
    const options = config.channels[channel.kind];
    if (!options) continue;
    kinds.set(channel.kind, {
      ...pacingOf(options),
      isForPeople: ({ address }) => readerAt(channel, address) === 'people',
      compose: (parcel, format, at, more) =>
        channel.compose(parcel, { sentAt: iso(at), format, presentation, ...more }),
      givesHandle: (address) => channel.givesHandle?.(address) ?? false,
      canAmend: channel.amend !== undefined,
    });
  }
  return kinds;
};

/** The windows of the config as mutes, and what each of them hid. */
const createWindows = (config: Config, store: ReturnType<typeof createMemoryMutes>, now: () => number) => {
  const { windows } = config.mutes;
  const openings = new Map<Mute['id'], number>();
  const mutes = createActiveMutes({
    config,
    mutes: store,
    onOpened: async ({ id }) => {
      const window = windows.findIndex((one) => muteOfWindow(one, now())?.id === id);
      openings.set(id, window);
    },
    now,
  });
  return {
    mutes,
    loads: (): MuteLoad[] => {
      const loads = windows.map(({ reason }) => ({ reason, alerts: 0 }));
      for (const [id, window] of openings) {
        const load = loads[window];
        if (load) load.alerts += store.hidBy(id);
      }
      return loads.filter(({ alerts }) => alerts > 0);
    },
  };
};

/** Only Redis knows which destinations are approved. So everything is sent, and the report says what needs approval. */
const ALL_OPEN = { isOpen: async () => () => true, hold: async () => 0 };

/** What a daemon with this config would do with alerts: the stages of `dispatch` and `deliver` on one clock. */
export const createSimulation = (dependencies: SimulationDependencies) => {
  const { config, channels, routesOf, onRouted, onMessage } = dependencies;
  const timeline = createTimeline();
  const { now } = timeline;
  const ledger = createMemoryLedger(now);
  const covered = createMemoryCoveredDeliveries(ledger, now);
  const windows = createWindows(config, createMemoryMutes(ledger, now), now);
  const correlation = createCorrelation({ ...correlationSettings(config), ledger, covered, log: SILENT });
  const { enqueue } = createSimulatedDelivery({
    timeline,
    kinds: kindsOf(config, channels),
    ledger,
    incidentWindowMs: config.alerts.incidentWindow,
    uncovered: correlation.uncovered,
    onMessage,
  });
  const { dispatch } = createDispatch({
    routesOf,
    onRouted,
    onUnroutable: async () => {},
    ...correlation,
    filter: createFilter(windows.mutes, ALL_OPEN),
    recordWaiting: ledger.recordWaiting,
    enqueue,
  });
  return {
    /** The alerts of one read are dispatched at that moment, in epoch milliseconds. */
    dispatchAt: (at: number, alerts: readonly Alert[]): void =>
      timeline.add(at, () => dispatch(alerts.map((alert) => ({ ...alert, readAt: iso(at) })))),
    /** Resolves when everything is delivered. */
    run: timeline.run,
    /** Stored notifications that an inspection covers at one destination or more. */
    correlated: (): number => covered.count(),
    mutes: windows.loads,
  };
};

export interface BacktestReport {
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

interface BacktestInput {
  config: Config;
  history: ReturnType<typeof openHistory>;
  protocols: readonly HistoryProtocol[];
  period: Period;
  /** Sources of protocols that are read by now, of how many. */
  onProgress?(done: number, of: number): void;
}

/** The alerts that one poll would have read, and when it would have polled, in epoch milliseconds. */
type Read = { at: number; alerts: Alert[] };

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
        getOrCreate(reads, key, () => ({ at, alerts: [] })).alerts.push(alert);
      }
    },
    /** In order of time; those of one moment in the order of their dates, not of the answers. */
    inOrder: (): Read[] => [...reads.values()].toSorted(byDate),
  };
};

/** Which destinations need no approval, as far as the config says. */
const openByConfig = (config: Config) => {
  const trusted = trustedBy(config, routeSettings(config));
  return createApprovalPolicy({ ...config.destinations, trusted })(new Set());
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
  const kinds = channels.map(({ kind }) => kind);
  const loads = createLoads(kinds, openByConfig(config));
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
