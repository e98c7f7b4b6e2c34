/** What the contract suite needs to know of a channel kind, and of the provider's stand-in that it sends to. */
import type { ChannelKind, Destination } from '../../src/alert.ts';
import type { Addresses, Channel } from '../../src/channels/channel.ts';
import type { DeliveryReason } from '../../src/errors.ts';
import type { ChannelEntry } from '../../src/item.ts';

/** A message as its reader has it. */
export interface Shown {
  /** Everything readable, with the kind's escaping undone. */
  text: string;
  /** Targets of everything that can be clicked or that calls somebody: links, mentions. */
  active: string[];
  /** The texts of what is attached. */
  files?: string[];
}

/** What was shown stays so, and is asked for after every message: each is read once. */
export const readOnce = <Message extends object, Read>(
  read: (message: Message) => Read,
): ((message: Message) => Read) => {
  const known = new WeakMap<Message, Read>();
  return (message) => {
    const found = known.get(message) ?? read(message);
    known.set(message, found);
    return found;
  };
};

/** A provider's answer that is no acceptance, and what the channel has to make of it. */
export interface Refusal<Step> {
  says: string;
  step: Step;
  reason: DeliveryReason;
  code?: string;
  retryAfterMs?: number;
  newAddress?: string;
  maybeDelivered?: boolean;
  /** Which of the contestant's destinations it is for. Default 0. */
  to?: number;
}

/** One channel, opened, and its provider: a real server on loopback. */
export interface Bench<Step> {
  channel: Channel;
  /** At least two. Those of the list are all served by the stand-in. */
  destinations: readonly [Destination, Destination, ...Destination[]];
  /** Everything that no error may show: tokens, passwords, signing secrets, paths of URLs. */
  secrets: readonly string[];
  /** What the next messages meet; `hang` and `reset` take the whole message first. Then all are accepted. */
  script(...steps: (Step | 'hang' | 'reset')[]): void;
  /** How many whole messages reached the provider, accepted or not. */
  arrivals(): number;
  accepted(): Shown[];
  /** Nothing listens any more. Idempotent. */
  stopProvider(): Promise<void>;
}

export interface Contestant<Step> {
  kind: ChannelKind;
  /** Of webhooks: the format. */
  format?: string;
  /** The most alerts that it gets at once. Default: thousands. */
  largestParcel?: number;
  /** The provider gives its messages no ids. Default: it does. */
  givesNoId?: true;
  open(options: { timeoutMs: number }): Promise<Bench<Step>>;
  /** At least one for every reason that the provider can cause. */
  refusals: readonly Refusal<Step>[];
  /** People read it: names instead of ids, text made safe to show. */
  forPeople: boolean;
  /** How a text from outside reads there. Default: as it is. */
  written?(text: string): string;
  addressesOf(entry: ChannelEntry): Addresses;
  labelOf(address: string): string;
  /** Entries that name no usable address, in whole or in part. */
  badEntries: readonly ChannelEntry[];
}
