/** Finds everything the books know of one item, however it is named. */
import { type Alert, alertId, deliveryId, SOURCES, TOCSIN } from '../../alert.ts';
import type { Store } from '../../app/store.ts';
import type { DeadDelivery } from '../../ledger/dead-letters.ts';
import { type AlertRecord, type DeliveryRecord, NO_DESTINATION, targetOf } from '../../ledger/record.ts';

export interface TracedDelivery extends DeliveryRecord {
  /** The delivery's id: what a webhook carries as `webhook-id`. */
  id: string;
  /** The dead letter is still there, to be retried or dropped. */
  isKept: boolean;
  /** Of one that waits: for its destination to be approved, or for its turn, together with others. */
  waitsFor?: 'approval' | 'turn';
}

export interface Trace {
  alert: AlertRecord['alert'];
  /** In the order they were noted. */
  deliveries: TracedDelivery[];
}

const HASH = /^0x[0-9a-f]+$/i;

/** A webhook's `webhook-id`; in a Message-ID it stands before the `@`. */
const MESSAGE = /^<?(msg_[0-9a-f]{32})(?:@[^>]*)?>?$/;

export const messageIn = (name: string): string | undefined => MESSAGE.exec(name)?.[1];

const READ_AT_ONCE = 500;

/** True where `id` names the letter, its alert, its item or its transaction. */
export const isNamed = ({ id, alert }: DeadDelivery, name: string): boolean =>
  [id, alert.id, alert.itemId].includes(name) || alert.txHash === name.toLowerCase();

/** Every dead letter, some at a time. */
export async function* readLetters({ dead }: Pick<Store, 'dead'>): AsyncGenerator<DeadDelivery[]> {
  const ids = await dead.ids();
  for (let start = 0; start < ids.length; start += READ_AT_ONCE) {
    yield await dead.get(ids.slice(start, start + READ_AT_ONCE));
  }
}

/** What a letter tells after the ledger has forgotten its alert. */
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
 * The alert that is told under a delivery's id. Nothing notes it on the way, so that deliveries cost no more: it is
 * derived again for everything in the books, the latest first, which takes seconds for all that they hold.
 */
const findDelivery = async ({ alertIndex }: Pick<Store, 'alertIndex'>, name: string): Promise<Alert['id'][]> => {
  const ids = (await alertIndex.between(0, Number.MAX_SAFE_INTEGER)).reverse();
  for (let start = 0; start < ids.length; start += READ_AT_ONCE) {
    const some = ids.slice(start, start + READ_AT_ONCE);
    const destinations = await alertIndex.destinations(some);
    const isNamed = (id: string, index: number): boolean =>
      destinations[index]?.some((destination) => deliveryId(id, destination) === name) === true;
    const found = some.find(isNamed);
    if (found !== undefined) return [found];
  }
  return [];
};

const waitOf = async (
  { held, batches }: Pick<Store, 'held' | 'batches'>,
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
export const createTracer = (
  store: Pick<Store, 'ledger' | 'dead' | 'alertIndex' | 'held' | 'batches'>,
  services: readonly string[],
) => {
  const named = (name: string): Alert['id'][] => [
    name,
    ...[...services, TOCSIN].flatMap((service) => SOURCES.map((source) => alertId(service, source, name))),
  ];

  const trace = async (id: Alert['id']): Promise<Trace[]> => {
    const record = await store.ledger.read(id);
    if (!record) return [];
    const ids = record.deliveries.map(({ destination }) => deliveryId(id, destination.id));
    const kept = new Set((await store.dead.get(ids)).map((letter) => letter.id));
    const deliveries = record.deliveries.map(async (delivery, index): Promise<TracedDelivery> => {
      const own = ids[index] ?? '';
      return { id: own, isKept: kept.has(own), ...delivery, ...(await waitOf(store, id, delivery)) };
    });
    return [{ alert: record.alert, deliveries: await Promise.all(deliveries) }];
  };

  const traceLetters = async (name: string): Promise<Trace[]> => {
    const found: DeadDelivery[] = [];
    for await (const letters of readLetters(store)) found.push(...letters.filter((each) => isNamed(each, name)));
    return found.map(fromLetter);
  };

  /** Follow-ups are alerts of their own; they share the item, and are found by its transaction. */
  const followUps = async ({ alert }: Trace): Promise<Trace[]> => {
    const ids = alert.txHash === undefined ? [] : await store.ledger.byTransaction(alert.txHash);
    const others = await Promise.all(ids.filter((id) => id !== alert.id).map(trace));
    return others.flat().filter((other) => other.alert.followUp?.of === alert.id);
  };

  /** By a dead letter's id or, which takes longer, that of any other delivery. */
  const byDelivery = async (name: string): Promise<Alert['id'][]> => {
    const message = messageIn(name);
    if (message === undefined) return [];
    const [letter] = await store.dead.get([message]);
    return letter ? [letter.alert.id] : findDelivery(store, message);
  };

  return async (name: string): Promise<Trace[]> => {
    const byHash = HASH.test(name) ? await store.ledger.byTransaction(name) : [];
    const ids = new Set([...named(name), ...byHash, ...(await byDelivery(name))]);
    const traces = (await Promise.all([...ids].map(trace))).flat();
    const followed = (await Promise.all(traces.map(followUps))).flat();
    const unique = new Map([...traces, ...followed].map((each) => [each.alert.id, each]));
    if (unique.size === 0) return traceLetters(messageIn(name) ?? name);
    return [...unique.values()].sort((a, b) => a.alert.at.localeCompare(b.alert.at));
  };
};
