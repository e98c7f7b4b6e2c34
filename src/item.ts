/** What is read of a service: items, and what it lists of its protocols. */
import type { JsonObject, JsonValue, Source } from './alert.ts';
import type { ServiceBound } from './errors.ts';

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
  /** The protocols of items that were left out, because they come with their own protocol; one name an item. */
  foreign?: string[];
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
  /** Lower-case names without parameters, and selectors; absent likewise. */
  privileged?: string[];
}
