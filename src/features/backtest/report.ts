/** What a backtest says of alerts and of destinations, counted while it simulates. */
import type { Alert, ChannelKind, Destination } from '../../alert.ts';
import { firedDetections } from '../../channels/content/reading.ts';
import type { Routes } from '../../dispatch/route.ts';
import { targetOf } from '../../ledger/record.ts';
import type { SimulatedMessage } from './delivery.ts';
import { type Load, type LoadMessage, loadOf } from './load.ts';

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

export interface DestinationLoad extends Load {
  id: string;
  kind: string;
  label: string;
  /** The gate holds all of it, unless somebody has approved the destination: only Redis knows. */
  needsApproval?: true;
}

const byCount =
  <T>(count: (one: T) => number) =>
  (a: T, b: T) =>
    count(b) - count(a);

const addOne = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);

/** Counts alerts by protocol and detector; those that were counted most come first. */
export const createTally = () => {
  const protocols = new Map<string, ProtocolLoad>();
  const detectors = new Map<string, number>();
  let alerts = 0;
  return {
    add: ({ service, protocol, source, item }: Alert, { destinations, skipped }: Routes): void => {
      const key = JSON.stringify([service, protocol]);
      const empty = { service, protocol, inspections: 0, notifications: 0, skipped: 0, stranded: 0 };
      const load = protocols.get(key) ?? empty;
      protocols.set(key, load);
      load[source] += 1;
      alerts += 1;
      if (skipped) load.skipped += 1;
      else if (destinations.length === 0) load.stranded += 1;
      if (source === 'inspections') {
        for (const name of new Set(firedDetections(item).map(({ id }) => id))) addOne(detectors, name);
      }
    },
    alerts: () => alerts,
    protocols: () => [...protocols.values()].toSorted(byCount((each) => each.inspections + each.notifications)),
    detectors: () =>
      [...detectors].map(([detector, alerts]) => ({ detector, alerts })).toSorted(byCount(({ alerts }) => alerts)),
  };
};

/** Collects messages by destination. Of equally loud ones the kinds come in this order. */
export const createLoads = (kinds: readonly ChannelKind[], isOpen: (destination: Destination) => boolean) => {
  const sent = new Map<Destination['id'], { destination: Destination; messages: LoadMessage[] }>();
  return {
    add: ({ destination, alerts: _alerts, ...message }: SimulatedMessage): void => {
      const known = sent.get(destination.id) ?? { destination, messages: [] };
      sent.set(destination.id, known);
      known.messages.push(message);
    },
    /** The loudest first. */
    destinations: (): DestinationLoad[] =>
      [...sent.values()]
        .toSorted((a, b) => kinds.indexOf(a.destination.kind) - kinds.indexOf(b.destination.kind))
        .map(({ destination, messages }) => ({
          ...targetOf(destination),
          ...loadOf(messages),
          ...(isOpen(destination) ? {} : { needsApproval: true as const }),
        }))
        .toSorted(byCount(({ messages }) => messages)),
  };
};
