/** What each destination would have got of history: parcels as dispatch makes them, delivered by the rules of delivery. */
import type { Alert, ChannelKind, Destination } from '../../alert.ts';
import type { Channel } from '../../channels/channel.ts';
import { chainsOf } from '../../channels/configured-chains.ts';
import { pacingOf } from '../../channels/pacing.ts';
import { givesHandle, isBatched } from '../../channels/registry.ts';
import type { Config } from '../../config/schema.ts';
import { toParcels } from '../../dispatch/parcels.ts';
import { targetOf } from '../../ledger/record.ts';
import { oldestFirst } from '../../queue/batch-store.ts';
import { iso } from '../../time.ts';
import { createApprovalPolicy, trustedBy } from '../approval/policy.ts';
import { comparisonOf, correlationSettings } from '../correlation/correlate.ts';
import { coveringAlertAt, type Recorded } from '../correlation/match.ts';
import { routeSettings } from '../routes/routes.ts';
import { type Load, type LoadMessage, loadOf } from './load.ts';
import { type Arrival, forecast } from './simulate.ts';

export interface Routed {
  alert: Alert;
  destinations: Destination[];
}

export interface DestinationLoad extends Load {
  id: string;
  kind: string;
  label: string;
  /** The gate holds all of it, unless somebody has approved the destination: only Redis knows. */
  needsApproval?: true;
}

const NOBODY: ReadonlySet<string> = new Set();

export interface DeliveryLoads {
  /** The loudest first. */
  destinations: DestinationLoad[];
  /** Stored notifications that an inspection would have told at a destination or more. */
  correlated: number;
}

/** What the books would say of transactions at a moment. */
const createReconciler = () => {
  const byTransaction = new Map<string, (Recorded & { at: number })[]>();
  return {
    note: (at: number, { alert, destinations }: Routed): void => {
      if (alert.txHash === undefined) return;
      const known = byTransaction.get(alert.txHash) ?? [];
      byTransaction.set(alert.txHash, known);
      known.push({ at, alert, deliveries: destinations.map((destination) => ({ state: 'waiting', destination })) });
    },
    on: (hash: string, moment: number): Recorded[] => (byTransaction.get(hash) ?? []).filter(({ at }) => at <= moment),
  };
};

/** Stored notifications beside inspections: see `alerts.correlate`. */
const createCorrelationForecast = (config: Config) => {
  const { comparedBy: hashesOf, delayOf: waitOf } = comparisonOf(correlationSettings(config));
  const books = createReconciler();
  const told = new Set<Alert['id']>();
  return {
    waitOf,
    note: books.note,
    uncovered: (destination: Destination, alerts: readonly Alert[], moment: number): Alert[] =>
      alerts.filter((alert) => {
        const hashes = hashesOf(alert);
        const teller = coveringAlertAt(
          alert,
          destination.id,
          hashes.map((hash) => books.on(hash, moment)),
        );
        if (teller !== undefined) told.add(alert.id);
        return teller === undefined;
      }),
    count: () => told.size,
  };
};

/** The reads of several protocols end in any order; what came at one moment is told in the order of its dates. */
const byDate = (one: Arrival, other: Arrival): number => {
  const [first] = one.parcel.alerts;
  const [second] = other.parcel.alerts;
  return first && second ? oldestFirst(first, second) : 0;
};

export const createDeliveryForecast = (config: Config, channels: readonly Channel[]) => {
  const { interval } = config.poll;
  const chains = chainsOf(config);
  const arrivals = new Map<ChannelKind, Arrival[]>(channels.map(({ kind }) => [kind, []]));
  const correlation = createCorrelationForecast(config);
  const trusted = trustedBy(config.fallback?.channels ?? [], routeSettings(config));
  const isOpen = createApprovalPolicy({ ...config.destinations, trusted })(NOBODY);
  /** What is written between two polls is read by the second of them. */
  const turnOf = ({ alert }: Routed): number => Math.ceil(Date.parse(alert.at) / interval) * interval;

  const dispatch = (at: number, routed: readonly Routed[]): void => {
    for (const each of routed) correlation.note(at, each);
    for (const [waitMs, some] of Map.groupBy(routed, ({ alert }) => correlation.waitOf(alert))) {
      const queued = waitMs === undefined ? { at } : { at: at + waitMs, unlessTold: true as const };
      for (const parcel of toParcels(some)) arrivals.get(parcel.destination.kind)?.push({ ...queued, parcel });
    }
  };

  const play = async (channel: Channel): Promise<DestinationLoad[]> => {
    const options = config.channels[channel.kind];
    if (!options) return [];
    const sent = new Map<string, { destination: Destination; messages: LoadMessage[] }>();
    await forecast((arrivals.get(channel.kind) ?? []).toSorted(byDate), {
      ...pacingOf(options),
      gathers: isBatched(channel.kind),
      givesHandle,
      compose: (parcel, format, at) => channel.compose(parcel, { sentAt: iso(at), format, chains }),
      canAmend: channel.amend !== undefined,
      incidentWindowMs: config.alerts.incidentWindow,
      uncovered: correlation.uncovered,
      onMessage: ({ destination, alerts: _alerts, ...message }) => {
        const known = sent.get(destination.id) ?? { destination, messages: [] };
        sent.set(destination.id, known);
        known.messages.push(message);
      },
    });
    return [...sent.values()].map(({ destination, messages }) => ({
      ...targetOf(destination),
      ...loadOf(messages),
      ...(isOpen(destination) ? {} : { needsApproval: true as const }),
    }));
  };

  return {
    /** The alerts of one source of a protocol. */
    add: (routed: readonly Routed[]): void => {
      for (const [at, together] of Map.groupBy(routed, turnOf)) dispatch(at, together);
    },
    /** When everything was added. */
    loads: async (): Promise<DeliveryLoads> => {
      const destinations: DestinationLoad[] = [];
      for (const channel of channels) destinations.push(...(await play(channel)));
      return {
        destinations: destinations.toSorted((a, b) => b.messages - a.messages),
        correlated: correlation.count(),
      };
    },
  };
};
