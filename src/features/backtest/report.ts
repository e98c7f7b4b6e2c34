/** What a backtest says of alerts and of destinations, counted while it simulates. */
import type { Alert, ChannelKind, Destination } from '../../alert.ts';
import { getOrCreate } from '../../bounded-map.ts';
import { firedDetections } from '../../channels/content/reading.ts';
import type { Routes } from '../../dispatch/dispatch.ts';
import { targetOf } from '../../ledger/record.ts';
import type { SimulatedMessage } from './delivery.ts';

/** A message as it would be sent. */
export type LoadMessage = Pick<SimulatedMessage, 'at' | 'ready' | 'isDigest' | 'amends'>;

interface Load {
  alerts: number;
  /** Those that call people; what takes the place of an earlier one does not. */
  messages: number;
  /** Of the messages those with many alerts for people. */
  digests: number;
  /** The minute in which most messages are sent, by its beginning in epoch milliseconds. */
  worstMinute: { at: number; messages: number };
  /** Of the alert that waits longest: when it was ready, for how long it waits, and how many messages go until it is sent. */
  worstBacklog: { at: number; messages: number; waitMs: number };
}

const MINUTE_MS = 60_000;

const worstMinuteOf = (times: readonly number[]): Load['worstMinute'] => {
  let worst = { at: times[0] ?? 0, messages: 0 };
  let first = 0;
  times.forEach((time, index) => {
    while ((times[first] ?? time) <= time - MINUTE_MS) first += 1;
    if (index - first + 1 > worst.messages) worst = { at: times[first] ?? time, messages: index - first + 1 };
  });
  return worst;
};

const worstBacklogOf = (sent: readonly LoadMessage[]): Load['worstBacklog'] => {
  const worst = { at: sent[0]?.at ?? 0, waitMs: 0 };
  for (const { at, ready } of sent) {
    for (const since of ready) if (at - since > worst.waitMs) Object.assign(worst, { at: since, waitMs: at - since });
  }
  const until = worst.at + worst.waitMs;
  return { ...worst, messages: sent.filter(({ at }) => at > worst.at && at <= until).length };
};

/** What a row of messages, in order of time, asks of one destination. */
export const loadOf = (sent: readonly LoadMessage[]): Load => {
  const calls = sent.filter(({ amends }) => !amends);
  return {
    alerts: sent.reduce((sum, { ready }) => sum + ready.length, 0),
    messages: calls.length,
    digests: calls.filter(({ isDigest }) => isDigest).length,
    worstMinute: worstMinuteOf(calls.map(({ at }) => at)),
    worstBacklog: worstBacklogOf(sent),
  };
};

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
      const load = getOrCreate(protocols, key, () => empty);
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
      getOrCreate(sent, destination.id, () => ({ destination, messages: [] })).messages.push(message);
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
