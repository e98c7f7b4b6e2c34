/**
 * Follows the ledger from the watching side: the daemons do nothing for it. Each look reads the newest alerts of the
 * index, and again those of them that are on their way.
 */
import type { Alert } from '../../alert.ts';
import { createBoundedMap } from '../../bounded-map.ts';
import type { AlertIndex } from '../../ledger/index-by-date.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { AlertRecord, Attempt, DeliveryRecord, Target } from '../../ledger/record.ts';

type About = Pick<AlertRecord['alert'], 'id' | 'service' | 'protocol' | 'type' | 'itemId' | 'txHash'>;

export type AlertEvent = { at: string; alert: About } & (
  | { event: 'alert'; destinations: Target[] }
  | { event: 'delivered'; to: Target; durationMs: number; providerId?: string; replay?: boolean }
  | { event: 'failed' | 'dead'; to: Target; reason?: string; message?: string }
  | { event: 'muted' | 'covered'; to: Target; by?: string }
);

/** What was seen of an alert: of each destination its state and its last attempt. */
type Seen = ReadonlyMap<Target['id'], { state: DeliveryRecord['state']; at: string }>;

const aboutOf = ({ id, service, protocol, type, itemId, txHash }: AlertRecord['alert']): About => ({
  ...{ id, service, protocol, type, itemId },
  ...(txHash === undefined ? {} : { txHash }),
});

const lastAttempt = ({ attempts }: DeliveryRecord): string => attempts.at(-1)?.at ?? '';

const seenOf = ({ deliveries }: AlertRecord): Seen =>
  new Map(deliveries.map((one) => [one.destination.id, { state: one.state, at: lastAttempt(one) }]));

const isOpen = (seen: Seen): boolean => [...seen.values()].some(({ state }) => state === 'waiting');

const attemptEvent = (alert: About, to: Target, attempt: Attempt): AlertEvent => {
  const { at, outcome, durationMs, providerId, reason, message, replay } = attempt;
  if (outcome === 'delivered') {
    const id = providerId === undefined ? {} : { providerId };
    return { at, event: 'delivered', alert, to, durationMs, ...id, ...(replay === true ? { replay } : {}) };
  }
  const why = { ...(reason === undefined ? {} : { reason }), ...(message === undefined ? {} : { message }) };
  return { at, event: outcome === 'dead' ? 'dead' : 'failed', alert, to, ...why };
};

/** What was no attempt: a mute, or another alert that covers this one. */
const quietEvent = (alert: About, delivery: DeliveryRecord): AlertEvent[] => {
  const { state, at, destination: to, acts = [], with: other } = delivery;
  if (state === 'muted') {
    const by = acts.findLast(({ act }) => act === 'muted')?.by;
    return [{ at, event: 'muted', alert, to, ...(by === undefined ? {} : { by }) }];
  }
  if (state === 'delivered' && other !== undefined) return [{ at, event: 'covered', alert, to, by: other }];
  return state === 'dead' && delivery.attempts.length === 0 ? [{ at, event: 'dead', alert, to }] : [];
};

/** `before`: undefined for an alert that is new. */
const changesOf = (record: AlertRecord, before: Seen | undefined): AlertEvent[] => {
  const alert = aboutOf(record.alert);
  const { deliveries } = record;
  const changes = deliveries.flatMap((delivery) => {
    const known = before?.get(delivery.destination.id);
    const attempts = delivery.attempts.filter(({ at }) => at > (known?.at ?? ''));
    const isQuiet = attempts.length === 0 && delivery.state !== (known?.state ?? 'waiting');
    const events = attempts.map((attempt) => attemptEvent(alert, delivery.destination, attempt));
    return isQuiet ? quietEvent(alert, delivery) : events;
  });
  const isNew = before === undefined;
  const destinations = deliveries.map(({ destination }) => destination);
  const first: AlertEvent[] = isNew ? [{ at: record.alert.readAt, event: 'alert', alert, destinations }] : [];
  return [...first, ...changes.toSorted((a, b) => a.at.localeCompare(b.at))];
};

interface WatchDependencies {
  alertIndex: Pick<AlertIndex, 'newest'>;
  ledger: Pick<Ledger, 'read'>;
}

/** Alerts that are looked for, newest first by date. */
export const MOST_NEW = 300;
/** Alerts on their way that are read again at each look; the others have their turn at the next ones. */
const MOST_READ_AGAIN = 200;
/** Alerts on their way that are followed; the oldest are let go. */
const MOST_FOLLOWED = 2000;

interface Look {
  events: AlertEvent[];
  /** More came at once than are looked for, so that some are not among the events. */
  isCut: boolean;
}

export const createWatch = ({ alertIndex, ledger }: WatchDependencies, mostNew = MOST_NEW) => {
  let newest: ReadonlySet<Alert['id']> | undefined;
  /** Those on their way, in the order in which they were read last. */
  const followed = createBoundedMap<Alert['id'], Seen>(MOST_FOLLOWED);

  const follow = (id: Alert['id'], seen: Seen): void => {
    if (isOpen(seen)) followed.set(id, seen);
    else followed.delete(id);
  };

  /** The first look only learns what is there. */
  return async (): Promise<Look> => {
    const ids = await alertIndex.newest(mostNew);
    const isFirst = newest === undefined;
    const fresh = ids.filter((id) => newest?.has(id) !== true);
    const known = [...followed.entries()].map(([id]) => id);
    const again = known.filter((id) => !fresh.includes(id)).slice(0, MOST_READ_AGAIN);
    const isCut = !isFirst && ids.length === mostNew && fresh.length === mostNew;
    newest = new Set(ids);
    const records = await Promise.all([...fresh, ...again].map(async (id) => ({ id, record: await ledger.read(id) })));
    const events: AlertEvent[] = [];
    for (const { id, record } of records) {
      if (record === undefined) {
        followed.delete(id);
        continue;
      }
      if (!isFirst) events.push(...changesOf(record, followed.get(id)));
      follow(id, seenOf(record));
    }
    return { events: events.toSorted((a, b) => a.at.localeCompare(b.at)), isCut };
  };
};
