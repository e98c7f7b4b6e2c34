/** What a daemon with this config would do with alerts: the stages of `dispatch` and `deliver` on one clock. */
import type { Alert, ChannelKind } from '../../alert.ts';
import type { Channel } from '../../channels/channel.ts';
import { createPresentation } from '../../channels/content/presentation.ts';
import { pacingOf } from '../../channels/pacing.ts';
import { isBatched } from '../../channels/registry.ts';
import type { Config } from '../../config/schema.ts';
import { createDispatch, type DispatchDependencies } from '../../dispatch/dispatch.ts';
import type { Mute } from '../../mute.ts';
import { iso } from '../../time.ts';
import { correlationSettings, createCorrelation } from '../correlation/correlate.ts';
import { createActiveMutes } from '../mutes/active.ts';
import { muteOfWindow } from '../mutes/windows.ts';
import { createFilter } from '../suppression/filter.ts';
import { createSimulatedDelivery, type SimulatedKind, type SimulatedMessage } from './delivery.ts';
import { createMemoryCoveredDeliveries, createMemoryLedger, createMemoryMutes } from './in-memory.ts';
import { createTimeline } from './timeline.ts';

export interface SimulationDependencies extends Pick<DispatchDependencies, 'routesOf' | 'onRouted'> {
  config: Config;
  channels: readonly Channel[];
  onMessage(message: SimulatedMessage): void;
}

export interface MuteLoad {
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
      isBatched: isBatched(channel.kind),
      compose: (parcel, format, at) => channel.compose(parcel, { sentAt: iso(at), format, presentation }),
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
    ...(onRouted ? { onRouted } : {}),
    onUnroutable: async () => {},
    ...correlation,
    filter: createFilter({ mutes: windows.mutes, approval: ALL_OPEN }),
    recordWaiting: ledger.recordWaiting,
    enqueue,
  });
  return {
    /** The alerts of one read are dispatched at that moment, in epoch milliseconds. */
    dispatchAt: (at: number, alerts: readonly Alert[]): void => timeline.add(at, () => dispatch(alerts)),
    /** Resolves when everything is delivered. */
    run: timeline.run,
    /** Stored notifications that an inspection covers at one destination or more. */
    correlated: (): number => covered.count(),
    mutes: windows.loads,
  };
};
