/** All kinds of channel, and what is asked of a kind by its name: addresses, facts, rates, rows for people. A kind without a module does not compile. */
import { CHANNEL_KINDS, type ChannelKind, type Destination } from '../alert.ts';
import { type ChannelEntry, destinationId, senderId } from '../item.ts';
import { cleanLine, shorten } from '../text.ts';
import { quoteContact } from './address.ts';
import type { Addresses, Channel, ChannelDependencies, ChannelModule } from './channel.ts';
import type { EmailConfig } from './email/config.ts';
import { email } from './email/module.ts';
import type { RateLimit } from './options.ts';
import type { SlackConfig } from './slack/config.ts';
import { slack } from './slack/module.ts';
import type { TelegramConfig } from './telegram/config.ts';
import { telegram } from './telegram/module.ts';
import type { WebhookConfig } from './webhook/config.ts';
import { webhook } from './webhook/module.ts';

// All kinds of channel. A kind without a module does not compile.

/** The `channels` section of the config. Nothing is sent by a kind that is left out. */
export interface ChannelConfigs {
  email?: EmailConfig;
  telegram?: TelegramConfig;
  slack?: SlackConfig;
  webhook?: WebhookConfig;
}

type Address = Pick<Destination, 'kind' | 'address'>;

const modules = { email, telegram, slack, webhook } satisfies {
  [Kind in ChannelKind]: ChannelModule<NonNullable<ChannelConfigs[Kind]>>;
};

export const addressesOf = (kind: ChannelKind, entry: ChannelEntry): Addresses => modules[kind].addressesOf(entry);

export const labelOf = (kind: ChannelKind, address: string): string => modules[kind].labelOf(address);

const factsOf = (kind: ChannelKind): Omit<ChannelModule<never>, 'load'> => modules[kind];

export const isBatched = (kind: ChannelKind): boolean => factsOf(kind).isBatched;

export const canBeDisabled = (kind: ChannelKind): boolean => factsOf(kind).canBeDisabled ?? false;

export const givesHandle = ({ kind, address }: Address): boolean => factsOf(kind).givesHandle(address);

export const sharesSender = ({ kind, address }: Address): boolean => factsOf(kind).sharesSender(address);

export const rateOf = ({ kind, address }: Address, configured: RateLimit): RateLimit =>
  factsOf(kind).rateOf?.(address, configured) ?? configured;

/** The address whose rate this one shares: usually itself. */
export const sharesRateWith = ({ kind, address }: Address): string =>
  factsOf(kind).sharesRateWith?.(address) ?? address;

/** Loads and opens every kind that the config sets up, and no other. */
export const openChannels = async (configs: ChannelConfigs, dependencies: ChannelDependencies): Promise<Channel[]> => {
  const open = async <Config>(module: ChannelModule<Config>, config: Config | undefined): Promise<Channel[]> =>
    config === undefined ? [] : [(await module.load())(config, dependencies)];
  const opened = await Promise.all([
    open(email, configs.email),
    open(telegram, configs.telegram),
    open(slack, configs.slack),
    open(webhook, configs.webhook),
  ]);
  return opened.flat();
};

// Rate limits: each destination has its own, and all that share a sender have the sender's as well.

/** What a kind's section of the config says of rates. */
export interface RateOptions {
  rateLimit: RateLimit;
  /** Only where a kind has a sender. */
  senderRateLimit?: RateLimit;
  /** Only where messages of a kind wait for more. */
  groupWait?: number;
}

/** A rate, and the id under which messages count towards it. */
export interface Pace {
  id: string;
  rate: RateLimit;
}

export interface Pacing {
  paceOf(destination: Destination): Pace;
  /** Undefined where the destination shares no sender with others. */
  senderOf(destination: Destination): Pace | undefined;
  /** How long messages wait for more, in milliseconds. */
  groupWaitMs: number;
}

export const pacingOf = ({ rateLimit, senderRateLimit, groupWait = 0 }: RateOptions): Pacing => ({
  paceOf: (destination) => {
    const { id, kind, address } = destination;
    const shared = sharesRateWith(destination);
    return { id: shared === address ? id : destinationId(kind, shared), rate: rateOf(destination, rateLimit) };
  },
  senderOf: (destination) =>
    senderRateLimit !== undefined && sharesSender(destination)
      ? { id: senderId(destination.kind), rate: senderRateLimit }
      : undefined,
  groupWaitMs: groupWait,
});

// Channel entries as people are shown them: an address a row, without what may be secret in it.

export interface ChannelRow {
  kind: string;
  /** The address's label, or what is wrong with the entry. */
  address: string;
}

const KIND_MAX = 20;

const isKind = (name: string): name is ChannelKind => CHANNEL_KINDS.some((kind) => kind === name);

const unknownRows = ({ name, contacts = [], url }: ChannelEntry): ChannelRow[] => {
  const kind = shorten(cleanLine(name), KIND_MAX) || 'unnamed';
  const addresses = [...contacts, ...(url === undefined ? [] : [url])].map(quoteContact);
  return [{ kind, address: `a kind nobody knows: ${addresses.join(', ') || 'without addresses'}` }];
};

const rowsOf = (entry: ChannelEntry): ChannelRow[] => {
  const { name: kind } = entry;
  if (!isKind(kind)) return unknownRows(entry);
  const { addresses, problems } = addressesOf(kind, entry);
  return [
    ...addresses.map((address) => ({ kind, address: labelOf(kind, address) })),
    ...problems.map((problem) => ({ kind, address: `not usable: ${problem}` })),
  ];
};

export const channelRows = (entries: readonly ChannelEntry[]): ChannelRow[] => entries.flatMap(rowsOf);
