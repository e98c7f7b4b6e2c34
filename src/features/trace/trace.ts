/** Finds everything the ledger knows about one item, whichever of its names is given. */
import { type Alert, SOURCES, TOCSIN } from '../../alert.ts';
import { chunksOf } from '../../chunks.ts';
import { alertId, deliveryId } from '../../identity.ts';
import type { DeadDelivery, DeadLetters } from '../../ledger/dead-letters.ts';
import type { AlertIndex } from '../../ledger/index-by-date.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { type AlertRecord, type DeliveryRecord, NO_DESTINATION, targetOf } from '../../ledger/record.ts';
import type { BatchLookup } from '../../queue/batch-store.ts';
import { withName } from '../names/show.ts';
import type { NameStore } from '../names/store.ts';

export interface TracedDelivery extends DeliveryRecord {
  /** The delivery's id: what a webhook carries as `webhook-id`. */
  id: string;
  /** The dead letter is still there, to be retried or dropped. */
  isKept: boolean;
  /** While it waits: for its destination to be approved, or for its send slot, in a batch with others. */
  waitsFor?: 'approval' | 'turn';
}

/** Who acknowledged an alert: a name and, of a messenger, its id of the person; a channel kind, a destination's label, ISO 8601. */
export interface TracedAcknowledgement {
  by: string;
  userId?: string;
  via: string;
  to: string;
  at: string;
}

export interface Trace {
  alert: AlertRecord['alert'];
  /** Absent where nobody did. */
  acknowledged?: TracedAcknowledgement;
  /** In the order the ledger has them. */
  deliveries: TracedDelivery[];
}

const HASH = /^0x[0-9a-f]+$/i;

/** A webhook's `webhook-id`; in a Message-ID it stands before the `@`. */
const MESSAGE = /^<?(msg_[0-9a-f]{32})(?:@[^>]*)?>?$/;

export const messageIn = (name: string): string | undefined => MESSAGE.exec(name)?.[1];

const READ_AT_ONCE = 500;

export interface TraceDependencies {
  ledger: Pick<Ledger, 'read' | 'byTransaction'>;
  dead: Pick<DeadLetters, 'ids' | 'get'>;
  alertIndex: Pick<AlertIndex, 'between' | 'destinations'>;
  /** Ids of those of `alerts` that wait until a destination is approved. */
  held: { waiting(destination: string, alerts: readonly Alert['id'][]): Promise<ReadonlySet<string>> };
  batches: Pick<BatchLookup, 'isInBatch'>;
  /** What providers call destinations. Default: nobody knows. */
  names?: Pick<NameStore, 'all'>;
  acknowledgements: {
    acknowledged(alerts: readonly Alert['id'][]): Promise<ReadonlyMap<Alert['id'], TracedAcknowledgement>>;
  };
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
  return {
    alert: summary,
    deliveries: [
      { id, isKept: true, state: 'dead', destination: targetOf(destination ?? NO_DESTINATION), at, attempts },
    ],
  };
};

/**
 * The alert of a delivery's id. No index has it, as keeping one would make every delivery cost more: the ids are derived
 * again for the whole ledger, latest first, which takes seconds when it is full.
 */
const findDelivery = async (
  { alertIndex }: Pick<TraceDependencies, 'alertIndex'>,
  name: string,
): Promise<Alert['id'][]> => {
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
    return letter ? [letter.alert.id] : findDelivery(dependencies, message);
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
    const [traces, names] = await Promise.all([find(name), dependencies.names?.all() ?? new Map<string, string>()]);
    return traces.map((one) => ({
      ...one,
      deliveries: one.deliveries.map((each) => ({ ...each, destination: withName(each.destination, names) })),
    }));
  };
};
