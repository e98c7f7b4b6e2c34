/** What has happened to alerts since they were last looked at. Pure. */
import type { AlertRecord, Attempt, DeliveryRecord, Target } from '../../ledger/record.ts';

type About = Pick<AlertRecord['alert'], 'id' | 'service' | 'protocol' | 'type' | 'itemId' | 'txHash'>;

/** Times are ISO 8601. */
export type AlertEvent = { at: string; alert: About } & (
  | { event: 'alert'; destinations: Target[] }
  | { event: 'delivered'; to: Target; durationMs: number; providerId?: string; replay?: boolean }
  | { event: 'failed' | 'dead'; to: Target; reason?: string; message?: string }
  | { event: 'muted' | 'covered'; to: Target; by?: string }
);

/** What was seen of an alert: of each destination its state and its last attempt. */
export type Seen = ReadonlyMap<Target['id'], { state: DeliveryRecord['state']; at: string }>;

const aboutOf = ({ id, service, protocol, type, itemId, txHash }: AlertRecord['alert']): About => ({
  ...{ id, service, protocol, type, itemId },
  ...(txHash === undefined ? {} : { txHash }),
});

const lastAttempt = ({ attempts }: DeliveryRecord): string => attempts.at(-1)?.at ?? '';

export const seenOf = ({ deliveries }: AlertRecord): Seen =>
  new Map(deliveries.map((one) => [one.destination.id, { state: one.state, at: lastAttempt(one) }]));

export const isOpen = (seen: Seen): boolean => [...seen.values()].some(({ state }) => state === 'waiting');

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
export const changesOf = (record: AlertRecord, before: Seen | undefined): AlertEvent[] => {
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
