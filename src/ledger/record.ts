/** What the ledger holds of one alert: one hash an alert, a field a destination. */
import { type Alert, type Destination, shownLabel } from '../alert.ts';

/** `waiting` is queued or held; the other three are final, but `dead` may be retried by hand. */
export type DeliveryState = 'waiting' | 'delivered' | 'muted' | 'dead';

export interface Attempt {
  /** ISO 8601. */
  at: string;
  outcome: 'delivered' | 'retrying' | 'dead';
  durationMs: number;
  reason?: string;
  code?: string;
  /** What went wrong, in a sentence without secrets. */
  message?: string;
  maybeDelivered?: boolean;
  /** The provider's id of the message, where it gave one. */
  providerId?: string;
  /** True where history was forwarded again on purpose. */
  replay?: boolean;
}

/** What an operator or a mute did with a delivery. */
export interface Act {
  /** ISO 8601. */
  at: string;
  /** A delivery that was `dropped` stays dead. */
  act: 'retried' | 'replayed' | 'dropped' | 'muted';
  /** Of one that was `muted`: the mute's id, and its reason. */
  by?: string;
  reason?: string;
}

/** A destination as it is recorded: without its address, which may hold a secret. */
export type Target = Pick<Destination, 'id' | 'label'> & {
  kind: string;
  /** What its provider calls it: found for a display, never recorded. */
  name?: string;
};

export interface DeliveryRecord {
  state: DeliveryState;
  destination: Target;
  /** ISO 8601 of the last change. */
  at: string;
  /** The provider's id of the last message. */
  providerId?: string;
  /** What a later message needs to refer to this one, see `channels/channel.ts`. */
  handle?: string;
  /** The last few, oldest first. */
  attempts: Attempt[];
  /** The last few, oldest first; absent where nobody changed anything. */
  acts?: Act[];
  /** The alert that covers this one there, so that nothing was sent; gone with the first attempt. */
  with?: string;
  /** What asked for it, where that is not the routes, see `features/announcements`; gone with the first attempt. */
  by?: string;
}

export interface AlertRecord {
  alert: Pick<
    Alert,
    'id' | 'service' | 'protocol' | 'source' | 'type' | 'itemId' | 'at' | 'readAt' | 'txHash' | 'followUp'
  > & {
    /** Of an announcement: its text, which nobody else has. */
    message?: string;
  };
  deliveries: DeliveryRecord[];
}

/** Recorded as the destination of an alert that had none. */
export const NO_DESTINATION: Target = { id: 'none', kind: 'none', label: 'no destination' };

export const RETENTION_SECONDS = 35 * 24 * 3600;
const KEPT = 10;

/** The last few entries of a list that only grows. */
export const lastFew = <T>(entries: readonly T[]): T[] => entries.slice(-KEPT);

export const ALERT_FIELD = 'alert';

export const ledgerKeys = (prefix: string) => ({
  alert: (id: string): string => `${prefix}:alert:${id}`,
  transactions: `${prefix}:txs`,
  /** Every alert in the ledger, by date. */
  index: `${prefix}:alerts`,
  /** Notifications that other alerts cover wherever they go, by date. */
  covered: `${prefix}:covered`,
  /** The latest date of an alert that was removed because there were too many. */
  trimmedTo: `${prefix}:alerts-trimmed-to`,
  /** How many deliveries wait, by destination. */
  waiting: `${prefix}:waiting`,
  /** Waiting deliveries of a track, by their alert's date, see `openMember`. */
  open: ({ service, source, protocol }: Pick<Alert, 'service' | 'source' | 'protocol'>): string =>
    `${prefix}:open:${JSON.stringify([service, source, protocol])}`,
});
/** A delivery among the open ones of its track. With `TRIED` behind it once an attempt at it is recorded. */
export const openMember = (alert: Alert['id'], destination: Destination['id']): string => `${alert} ${destination}`;
export const alertOfOpen = (member: string): Alert['id'] => member.slice(0, member.indexOf(' '));
export const TRIED = ' tried';
/** The text of a waiting delivery without any attempt: nothing of it lasts beyond the first, so nobody has to read it. */
export const UNTRIED = 'w';

export type LedgerKeys = ReturnType<typeof ledgerKeys>;

export const targetOf = ({ id, kind, label }: Target): Target => ({ id, kind, label });

/** A destination as people read it. */
export const nameOf = ({ kind, ...target }: Pick<Target, 'kind' | 'label' | 'name'>): string =>
  `${kind} ${shownLabel(target)}`;

/** How an attempt ended, with the ids of its receipt. */
export interface AttemptEnd extends Pick<DeliveryRecord, 'state' | 'providerId' | 'handle'> {
  attempt: Attempt;
}

export const isFinal = (state: DeliveryState): boolean => state !== 'waiting';

/**
 * The states that an attempt's end takes the place of. An end that was reached stays, even if another run of the same
 * job comes to another one; only that the receiver has the message is true in any case.
 */
const REPLACES: Readonly<Record<DeliveryState, readonly DeliveryState[]>> = {
  waiting: ['waiting'],
  muted: ['waiting', 'muted'],
  dead: ['waiting', 'dead'],
  delivered: ['waiting', 'muted', 'dead', 'delivered'],
};

/** The record after one more attempt. */
export const afterAttempt = (
  before: DeliveryRecord | undefined,
  target: Target,
  { attempt, ...end }: AttemptEnd,
): DeliveryRecord => {
  const attempts = lastFew([...(before?.attempts ?? []), attempt]);
  if (before && !REPLACES[end.state].includes(before.state)) return { ...before, attempts };
  return {
    ...end,
    destination: targetOf(target),
    at: attempt.at,
    attempts,
    ...(before?.acts === undefined ? {} : { acts: before.acts }),
  };
};
