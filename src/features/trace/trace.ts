/** Finds everything the ledger knows about one item by any of its names, and tells what happened to a delivery. */
import { type Alert, SOURCES, TOCSIN } from '../../alert.ts';
import { chunksOf } from '../../chunks.ts';
import { alertId, deliveryId } from '../../item.ts';
import type { DeadDelivery, DeadLetters } from '../../ledger/dead-letters.ts';
import type { AlertIndex } from '../../ledger/index-by-date.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import {
  type Act,
  type AlertRecord,
  type Attempt,
  type DeliveryRecord,
  NO_DESTINATION,
  targetOf,
} from '../../ledger/record.ts';
import type { BatchStore } from '../../queue/batch-store.ts';
import { cleanLine } from '../../text.ts';
import type { AcknowledgementStore } from '../acknowledgement/store.ts';
import type { Acknowledgement } from '../acknowledgement/words.ts';
import { type NameStore, withName } from '../names/names.ts';

const SHORT = /^0x(?<head>[0-9a-f]{2,63})(?:(?:…|\.{2,3})(?<tail>[0-9a-f]{0,62}))?$/i;
const LEAST_DIGITS = 6;

/** A transaction hash as people copy it from a message or a list: its beginning, perhaps with its end. */
interface ShortHash {
  /** Hex digits in lower case, without 0x. */
  head: string;
  tail: string;
}

/** Undefined where the text is no such hash, or too short to mean one transaction. */
export const shortHashOf = (text: string): ShortHash | undefined => {
  const { head = '', tail = '' } = SHORT.exec(text.trim().toLowerCase())?.groups ?? {};
  const digits = head.length + tail.length;
  return digits >= LEAST_DIGITS && digits < 64 ? { head, tail } : undefined;
};

/** Whether this is the same as the whole of it. */
export const fits = ({ head, tail }: ShortHash, txHash: string): boolean =>
  txHash.toLowerCase().startsWith(`0x${head}`) && txHash.toLowerCase().endsWith(tail);

/** More alerts than this are not read: the beginning is too short to tell anything apart. */
const MOST_CANDIDATES = 500;

/** The latest alert of each transaction that a short hash may mean. */
export const createHashFinder =
  ({ ledger }: { ledger: Pick<Ledger, 'read' | 'byTransactionBeginning'> }) =>
  async (short: ShortHash): Promise<AlertRecord['alert'][]> => {
    const ids: Alert['id'][] = await ledger.byTransactionBeginning(short.head, MOST_CANDIDATES);
    const alerts = (await Promise.all(ids.map((id) => ledger.read(id)))).flatMap((record) => record?.alert ?? []);
    const found = alerts.filter(({ txHash = '' }) => fits(short, txHash)).toSorted((a, b) => a.at.localeCompare(b.at));
    return [...new Map(found.map((alert) => [alert.txHash, alert])).values()];
  };

export interface TracedDelivery extends DeliveryRecord {
  /** The delivery's id: what a webhook carries as `webhook-id`. */
  id: string;
  /** The dead letter is still there, to be retried or dropped. */
  isKept: boolean;
  /** While it waits: for its destination to be approved, or for its send slot, in a batch with others. */
  waitsFor?: 'approval' | 'turn';
}

export interface Trace {
  alert: AlertRecord['alert'];
  /** Absent where nobody did. */
  acknowledged?: Acknowledgement;
  /** In the order the ledger has them. */
  deliveries: TracedDelivery[];
}

const HASH = /^0x[0-9a-f]+$/i;

/** A webhook's `webhook-id`; in a Message-ID it stands before the `@`. */
const MESSAGE = /^<?(msg_[0-9a-f]{32})(?:@[^>]*)?>?$/;

export const messageIn = (name: string): string | undefined => MESSAGE.exec(name)?.[1];

const READ_AT_ONCE = 500;

interface TraceDependencies {
  ledger: Pick<Ledger, 'read' | 'byTransaction'>;
  dead: Pick<DeadLetters, 'ids' | 'get'>;
  alertIndex: Pick<AlertIndex, 'between' | 'destinations'>;
  /** Ids of those of `alerts` that wait until a destination is approved. */
  held: { waiting(destination: string, alerts: readonly Alert['id'][]): Promise<ReadonlySet<string>> };
  batches: Pick<BatchStore, 'isInBatch'>;
  names: Pick<NameStore, 'all'>;
  acknowledgements: Pick<AcknowledgementStore, 'acknowledged'>;
  /** Names of the services that the config has. */
  services: readonly string[];
}

/** True where `id` names the letter, its alert, its item or its transaction. */
export const isNamed = ({ id, alert }: DeadDelivery, name: string): boolean =>
  [id, alert.id, alert.itemId].includes(name) || alert.txHash === name.toLowerCase();

/** The dead letters with these ids, some at a time; those that are gone by then are left out. Default: all. */
export async function* readLetters(
  dead: Pick<DeadLetters, 'ids' | 'get'>,
  ids?: readonly string[],
): AsyncGenerator<DeadDelivery[]> {
  for (const some of chunksOf(ids ?? (await dead.ids()), READ_AT_ONCE)) yield await dead.get(some);
}

/** All that is known of an alert that the ledger has forgotten: its dead letter. */
const fromLetter = ({ id, alert, destination, at, reason, message }: DeadDelivery): Trace => {
  const { item: _item, replay: _replay, notice: _notice, context: _context, ...summary } = alert;
  const attempts = [{ at, outcome: 'dead' as const, durationMs: 0, reason, message }];
  const target = targetOf(destination ?? NO_DESTINATION);
  return { alert: summary, deliveries: [{ id, isKept: true, state: 'dead', destination: target, at, attempts }] };
};

/**
 * The alert of a delivery's id. No index has it, as keeping one would make every delivery cost more: the ids are derived
 * again for the whole ledger, latest first, which takes seconds when it is full.
 */
const findDelivery = async (alertIndex: TraceDependencies['alertIndex'], name: string): Promise<Alert['id'][]> => {
  const ids = (await alertIndex.between(0, Number.MAX_SAFE_INTEGER)).reverse();
  for (const some of chunksOf(ids, READ_AT_ONCE)) {
    const destinations = await alertIndex.destinations(some);
    const isNamed = (id: string, index: number): boolean =>
      destinations[index]?.some((destination) => deliveryId(id, destination) === name) === true;
    const found = some.find(isNamed);
    if (found !== undefined) return [found];
  }
  return [];
};

const waitOf = async (
  { held, batches }: Pick<TraceDependencies, 'held' | 'batches'>,
  alert: Alert['id'],
  { state, destination: { id } }: DeliveryRecord,
): Promise<Pick<TracedDelivery, 'waitsFor'>> => {
  if (state !== 'waiting') return {};
  if ((await held.waiting(id, [alert])).has(alert)) return { waitsFor: 'approval' };
  return (await batches.isInBatch(id, alert)) ? { waitsFor: 'turn' } : {};
};

/**
 * `name` is an alert's id, an inspection's id, a stored notification's identity, a transaction hash, or the id of a
 * delivery, as a receiver knows it. Several items may share a transaction; nothing known gives an empty list.
 */
export const createTracer = (dependencies: TraceDependencies) => {
  const { ledger, dead, services, acknowledgements } = dependencies;

  const named = (name: string): Alert['id'][] => [
    name,
    ...[...services, TOCSIN].flatMap((service) => SOURCES.map((source) => alertId(service, source, name))),
  ];

  const trace = async (id: Alert['id']): Promise<Trace[]> => {
    const record = await ledger.read(id);
    if (!record) return [];
    const ids = record.deliveries.map(({ destination }) => deliveryId(id, destination.id));
    const kept = new Set((await dead.get(ids)).map((letter) => letter.id));
    const deliveries = record.deliveries.map(async (delivery, index): Promise<TracedDelivery> => {
      const own = ids[index] ?? '';
      return { id: own, isKept: kept.has(own), ...delivery, ...(await waitOf(dependencies, id, delivery)) };
    });
    const acknowledged = (await acknowledgements.acknowledged([id])).get(id);
    return [{ alert: record.alert, ...(acknowledged && { acknowledged }), deliveries: await Promise.all(deliveries) }];
  };

  const traceLetters = async (name: string): Promise<Trace[]> => {
    const found: DeadDelivery[] = [];
    for await (const letters of readLetters(dead)) found.push(...letters.filter((each) => isNamed(each, name)));
    return found.map(fromLetter);
  };

  /** Follow-ups are alerts of their own; they share the item, and are found by its transaction. */
  const followUps = async ({ alert }: Trace): Promise<Trace[]> => {
    const ids = alert.txHash === undefined ? [] : await ledger.byTransaction(alert.txHash);
    const others = await Promise.all(ids.filter((id) => id !== alert.id).map(trace));
    return others.flat().filter((other) => other.alert.followUp?.of === alert.id);
  };

  /** By a dead letter's id or, which takes longer, that of any other delivery. */
  const byDelivery = async (name: string): Promise<Alert['id'][]> => {
    const message = messageIn(name);
    if (message === undefined) return [];
    const [letter] = await dead.get([message]);
    return letter ? [letter.alert.id] : findDelivery(dependencies.alertIndex, message);
  };

  const find = async (name: string): Promise<Trace[]> => {
    const byHash = HASH.test(name) ? await ledger.byTransaction(name) : [];
    const ids = new Set([...named(name), ...byHash, ...(await byDelivery(name))]);
    const traces = (await Promise.all([...ids].map(trace))).flat();
    const followed = (await Promise.all(traces.map(followUps))).flat();
    const unique = new Map([...traces, ...followed].map((each) => [each.alert.id, each]));
    if (unique.size === 0) return traceLetters(messageIn(name) ?? name);
    return [...unique.values()].sort((a, b) => a.alert.at.localeCompare(b.alert.at));
  };

  return async (name: string): Promise<Trace[]> => {
    const [traces, names] = await Promise.all([find(name), dependencies.names.all()]);
    return traces.map((one) => ({
      ...one,
      deliveries: one.deliveries.map((each) => ({ ...each, destination: withName(each.destination, names) })),
    }));
  };
};

const ACTS: Record<Act['act'], string> = {
  retried: 'retried by hand',
  replayed: 'replayed by hand',
  dropped: 'dropped by hand',
  muted: 'muted',
};

const actText = ({ act, by, reason = '' }: Act): string =>
  by === undefined ? ACTS[act] : `${ACTS[act]} by ${by}: ${cleanLine(reason)}`;

const OUTCOMES: Record<Attempt['outcome'], string> = {
  delivered: 'delivered',
  retrying: 'failed, will be tried again',
  dead: 'failed for good',
};

const because = ({ reason, code, message }: Attempt): string[] => {
  if (reason === undefined) return [];
  const sameWord = code === undefined || code === reason;
  const word = sameWord ? reason : `${reason} (${code})`;
  return [message === undefined ? word : `${word}: ${cleanLine(message)}`];
};

const attemptLine = (attempt: Attempt): string =>
  [
    `${OUTCOMES[attempt.outcome]}${attempt.replay ? ', as a replay' : ''}, ${attempt.durationMs} ms`,
    ...(attempt.providerId === undefined ? [] : [`message id ${cleanLine(attempt.providerId)}`]),
    ...because(attempt),
    ...(attempt.maybeDelivered ? ['maybe delivered: it was sent, but no answer came'] : []),
  ].join('; ');

/** What happened to a delivery, as people read it: attempts and what operators and mutes did, in order of time. */
export const historyOf = ({ attempts, acts = [] }: Pick<TracedDelivery, 'attempts' | 'acts'>) =>
  [
    ...attempts.map((attempt) => ({ at: attempt.at, text: attemptLine(attempt) })),
    ...acts.map((act) => ({ at: act.at, text: actText(act) })),
  ].toSorted((a, b) => a.at.localeCompare(b.at));
