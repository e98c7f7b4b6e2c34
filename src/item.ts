/** An item as it was read: its fields, its size, and the identities of what comes of it. Pure. */

import { hash } from 'node:crypto';
import {
  type Change,
  type ChannelKind,
  hasFired,
  isObject,
  type JsonObject,
  type JsonValue,
  type Source,
} from './alert.ts';
import { getOrCreate } from './bounded-map.ts';
import type { ServiceBound } from './errors.ts';
import { beginningOf } from './text.ts';

/** A channel as the service and the config spell it; `name` is a channel kind, or a word we do not know. */
export interface ChannelEntry {
  name: string;
  contacts?: string[];
  url?: string;
}

/** An item's dates in epoch milliseconds; each absent where the service gave none that can be read. */
export interface ItemDates {
  createdAt?: number;
  updatedAt?: number;
  /** Of the transaction; inspections only. */
  txTimestamp?: number;
}

/** The last of them; 0 where there is none. */
export const latestDate = ({ createdAt = 0, updatedAt = 0, txTimestamp = 0 }: ItemDates): number =>
  Math.max(createdAt, updatedAt, txTimestamp);

/** An inspection or a stored notification, as far as polling has to understand it. */
export interface Item {
  source: Source;
  protocol: string;
  /** The service's own id of the item; for items without one, derived from their content. */
  itemId: string;
  /** Inspections only: `ok`, `suspecious`, `critical`, or a word nobody documented. */
  assessment?: string;
  /** Lower-cased. */
  txHash?: string;
  dates: ItemDates;
  /** Exactly as the service gave it. */
  raw: JsonObject;
}

/** An item that cannot be understood: counted and shown, never a reason to stop. */
export interface MalformedItem {
  problem: string;
  raw: JsonValue;
  /** The bound that cut it off, where one did. */
  bound?: ServiceBound;
}

/** One answer of the service to one poll. */
export interface ItemPage {
  items: Item[];
  malformed: MalformedItem[];
  /** Those that were left out, because they name another protocol: they come with that one. */
  foreign?: Item[];
}

/** Of one key; a listing that names more is read so far. */
export const MOST_PROTOCOLS = 10_000;

/** A protocol as the service lists it, as far as forwarding needs it. */
export interface ListedProtocol {
  name: string;
  protocolId?: string;
  channels: ChannelEntry[];
  /** Assessments whose trigger asks for a notification. */
  notifyOn: string[];
  /** Groups of detectors by assessment; absent in what an older daemon listed. */
  triggers?: Record<string, string[][]>;
}

/** A contract as the service lists it with a protocol, as far as it helps to judge a transaction. */
export interface ListedAsset {
  /** Lower-case. */
  address: string;
  chainId?: string;
  name?: string;
  /** Lower-case addresses; absent where the service lists none, or not in a way that can be read. */
  admins?: string[];
  /** Epoch milliseconds: since when each of them is one, of those that are since a day at most. */
  adminsSince?: Record<string, number>;
  /** Lower-case names without parameters, and selectors; absent likewise. */
  privileged?: string[];
}

/** In bytes, as JSON. An item goes into the job of each of its destinations, and into each of its messages. */
export const LARGEST_ITEM = 256 * 1024;

const sizes = new WeakMap<JsonObject, number>();

/** Bytes of its JSON. Each item is measured once. */
export const itemSize = (item: JsonObject): number =>
  getOrCreate(sizes, item, () => Buffer.byteLength(JSON.stringify(item)));

/** How much is kept of a text in it, and of a list. */
interface Room {
  text: number;
  list: number;
}

/** The first that makes it small enough. */
const ROOMS: readonly Room[] = [
  { text: 16_000, list: 1000 },
  { text: 4000, list: 200 },
  { text: 1000, list: 50 },
  { text: 250, list: 10 },
  { text: 250, list: 0 },
];

const cutText = (text: string, most: number): string =>
  text.length <= most ? text : `${beginningOf(text, most)}… (${text.length - most} characters left out)`;

const cutValue = (value: JsonValue, room: Room): JsonValue => {
  if (typeof value === 'string') return cutText(value, room.text);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.slice(0, room.list).map((one) => cutValue(one, room));
  return cutEntries(Object.entries(value), room);
};

/** `most`: how many are kept. */
const cutEntries = (entries: readonly [string, JsonValue][], room: Room, most = room.list): JsonObject =>
  Object.fromEntries(entries.slice(0, most).map(([key, value]) => [cutText(key, room.text), cutValue(value, room)]));

export const isScalar = (value: JsonValue): boolean => typeof value !== 'object' || value === null;

/** What names the item, and the detectors that fired, come first: what comes last is left out. */
const ordered = (item: JsonObject): JsonObject => {
  const { detections } = item;
  const fired = isObject(detections)
    ? Object.entries(detections).toSorted(([, one], [, other]) => Number(hasFired(other)) - Number(hasFired(one)))
    : [];
  const entries = Object.entries(isObject(detections) ? { ...item, detections: Object.fromEntries(fired) } : item);
  return Object.fromEntries(entries.toSorted(([, one], [, other]) => Number(isScalar(other)) - Number(isScalar(one))));
};

/** An item of at most `most` bytes: itself, or what is kept of it. */
export const boundItem = (item: JsonObject, most = LARGEST_ITEM): JsonObject => {
  if (itemSize(item) <= most) return item;
  const whole = ordered(item);
  // A list that has no room at all still leaves the item's own short fields.
  const own = Math.max(20, Math.min(Object.keys(whole).length, 200));
  for (const room of ROOMS) {
    const kept = cutEntries(Object.entries(whole), room, own);
    if (itemSize(kept) <= most) return kept;
  }
  return {};
};

const digest = (length: number, parts: readonly string[]): string =>
  hash('sha256', JSON.stringify(parts)).slice(0, length);

/** Identity of an item, the same on every daemon and however often it is read: 32 hex digits. Two keys of one service never share items, so the service's name is part of it. */
export const alertId = (service: string, source: Source, itemId: string): string =>
  digest(32, [service, source, itemId]);

/** Identity of an item whose id the service had given to another one: of another transaction or protocol. */
export const otherAlertId = (first: string, protocol: string, txHash = ''): string =>
  digest(32, ['other', first, protocol, txHash]);

/** Identity of the `count`th follow-up of an alert: the same however often the same change is noticed. */
export const followUpId = (first: string, change: Change, count: number): string =>
  digest(32, ['follow-up', first, change, String(count)]);

/** Identity for items that carry no id of their own: 32 hex digits over everything that distinguishes them. */
export const contentId = (...parts: string[]): string => digest(32, parts);

/** Identity of an address of one kind: `KIND-` and 12 hex digits. */
export const destinationId = (kind: ChannelKind, address: string): string => `${kind}-${digest(12, [kind, address])}`;

/** Identity of the sender (a token, a mail server) that the destinations of a kind share. */
export const senderId = (kind: string): string => `sender-${kind}`;

/** Identity of one alert at one destination, the same on every retry and replay; used as `webhook-id` and Message-ID. */
export const deliveryId = (alert: string, destination: string): string => `msg_${digest(32, [alert, destination])}`;

/** Identity of the incident that a destination keeps of `subject`: of a transaction, or of an alert that names none. */
export const incidentId = (subject: string, destination: string): string =>
  `incident_${digest(32, [subject, destination])}`;

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
