/** Identities: the same thing has the same identity on every daemon, however often it is read. Pure. */
import { hash } from 'node:crypto';
import type { Change, ChannelKind, Source } from './alert.ts';

const digest = (length: number, parts: readonly string[]): string =>
  hash('sha256', JSON.stringify(parts)).slice(0, length);

/** Identity of an item: 32 hex digits. Two keys of one service never share items, so the service's name is part of it. */
export const alertId = (service: string, source: Source, itemId: string): string =>
  digest(32, [service, source, itemId]);

/** Identity of the `count`th follow-up of an alert: the same however often the same change is noticed. */
export const followUpId = (first: string, change: Change, count: number): string =>
  digest(32, ['follow-up', first, change, String(count)]);

/** Identity for items that carry no id of their own: 32 hex digits over everything that distinguishes them. */
export const contentId = (...parts: string[]): string => digest(32, parts);

/** Identity of an address of one kind: `KIND-` and 12 hex digits. */
export const destinationId = (kind: ChannelKind, address: string): string => `${kind}-${digest(12, [kind, address])}`;

/** Identity of the sender (a token, a mail server) that the destinations of a kind share. */
export const senderId = (kind: string): string => `sender-${kind}`;

/** Identity of a protocol's share, see `queue/priority.ts`: 8 hex digits. */
export const shareId = (share: string): string => digest(8, [share]);

/** Identity of one alert at one destination, the same on every retry and replay; used as `webhook-id` and Message-ID. */
export const deliveryId = (alert: string, destination: string): string => `msg_${digest(32, [alert, destination])}`;

/** Identity of one message: of a single alert its delivery's, of several the same for the same alerts in any order. */
export const messageId = (alerts: readonly string[], destination: string): string => {
  const [only = '', ...others] = alerts;
  return others.length === 0
    ? deliveryId(only, destination)
    : `msg_${digest(32, ['several', ...alerts.toSorted(), destination])}`;
};

/** Identity of a parcel: the same alerts for the same destination are the same job, however often they are read. */
export const parcelId = (destination: string, alerts: readonly string[]): string =>
  `parcel_${digest(32, [destination, ...alerts.toSorted()])}`;
