/** All kinds of channel, and what is asked of a kind by its name. A kind without a module does not compile. */
import { CHANNEL_KINDS, type ChannelKind, type Destination, isChannelKind, isHuman, shownLabel } from '../alert.ts';
import { type ChannelEntry, destinationId, senderId } from '../item.ts';
import { cleanLine, shorten } from '../text.ts';
import { quoteContact } from './address.ts';
import type { Addresses, Certificates, Channel, ChannelDependencies, ChannelModule, Reader } from './channel.ts';
import type { EmailConfig } from './email/config.ts';
import { email } from './email/module.ts';
import type { RateLimit } from './options.ts';
import type { SlackConfig } from './slack/config.ts';
import { slack } from './slack/module.ts';
import type { TelegramConfig } from './telegram/config.ts';
import { telegram } from './telegram/module.ts';
import type { WebhookConfig } from './webhook/config.ts';
import { webhook } from './webhook/module.ts';

interface Configs {
  email: EmailConfig;
  telegram: TelegramConfig;
  slack: SlackConfig;
  webhook: WebhookConfig;
}

/** The `channels` section of the config. Nothing is sent by a kind that is left out. */
export type ChannelConfigs = Partial<Configs>;

const modules: { readonly [Kind in ChannelKind]: ChannelModule<Configs[Kind]> } = { email, telegram, slack, webhook };

/** What is true of a kind with any config. */
export const kindFacts = (kind: ChannelKind): Omit<ChannelModule<never>, 'load' | 'summaryOf' | 'connectionsOf'> =>
  modules[kind];

/** A destination as its readers call it, for the middle of a sentence: `Slack channel #alerts (C024BE91L)`. */
export const placeOf = ({ kind, ...target }: Pick<Destination, 'label'> & { kind: string; name?: string }): string =>
  `${isChannelKind(kind) ? kindFacts(kind).words.place : kind} ${shownLabel(target)}`;

/** Its readers acknowledge by a link: their messages cannot be changed. */
export const acknowledgesByLink = (kind: string): kind is ChannelKind =>
  isChannelKind(kind) && kindFacts(kind).acknowledgedBy?.way === 'link';

/** Who reads what a channel sends to an address. */
export const readerAt = ({ kind, readerAt: at }: Pick<Channel, 'kind' | 'readerAt'>, address: string): Reader =>
  at?.(address) ?? (isHuman({ kind }) ? 'people' : 'programs');

/** What each kind that is set up answers, in the order of `CHANNEL_KINDS`. */
const ofConfigured = <T>(
  configs: ChannelConfigs,
  ask: <Config>(module: ChannelModule<Config>, config: Config) => T,
): T[] => {
  const askKind = <Kind extends ChannelKind>(kind: Kind): T[] => {
    const config = configs[kind];
    return config === undefined ? [] : [ask<Configs[Kind]>(modules[kind], config)];
  };
  return CHANNEL_KINDS.flatMap(askKind);
};

/** Each kind that is set up, in a few words. */
export const summariesOf = (configs: ChannelConfigs): string[] =>
  ofConfigured(configs, (module, config) => module.summaryOf(config));

/** Every section of a channel that may have certificates, by its path in the config. */
export const connectionsOf = (configs: ChannelConfigs): [path: string, certificates: Certificates][] =>
  ofConfigured(configs, (module, config) =>
    module
      .connectionsOf(config)
      .map(([path, certificates]): [string, Certificates] => [
        ['channels', module.kind, ...(path === '' ? [] : [path])].join('.'),
        certificates,
      ]),
  ).flat();

export const addressesOf = (kind: ChannelKind, entry: ChannelEntry): Addresses => modules[kind].addressesOf(entry);

export const labelOf = (kind: ChannelKind, address: string): string => modules[kind].labelOf(address);

/** Loads and opens every kind that the config sets up, and no other. */
export const openChannels = (configs: ChannelConfigs, dependencies: ChannelDependencies): Promise<Channel[]> =>
  Promise.all(ofConfigured(configs, async (module, config) => (await module.load())(config, dependencies)));

/** What a kind's section of the config says of rates: of a sender where a kind has one, and of waiting for more messages. */
type RateOptions = Pick<EmailConfig, 'rateLimit'> & Partial<Pick<EmailConfig, 'senderRateLimit' | 'groupWait'>>;

/**
 * Each destination has a rate of its own, and all that share a sender have the sender's as well; `id`: under which messages
 * count towards it. `groupWaitMs`: how long messages wait for more.
 */
export const pacingOf = ({ rateLimit, senderRateLimit, groupWait = 0 }: RateOptions) => ({
  paceOf: ({ id, kind, address }: Destination): { id: string; rate: RateLimit } => {
    const { sharesRateWith, rateOf } = kindFacts(kind);
    const shared = sharesRateWith?.(address) ?? address;
    return {
      id: shared === address ? id : destinationId(kind, shared),
      rate: rateOf?.(address, rateLimit) ?? rateLimit,
    };
  },
  senderOf: ({ kind, address }: Destination): { id: string; rate: RateLimit } | undefined =>
    senderRateLimit !== undefined && kindFacts(kind).sharesSender(address)
      ? { id: senderId(kind), rate: senderRateLimit }
      : undefined,
  groupWaitMs: groupWait,
});

/** An address of a channel entry as people are shown it, without what may be secret in it. */
export interface ChannelRow {
  kind: string;
  /** The address's label, or what is wrong with the entry. */
  address: string;
}

const KIND_MAX = 20;

const unknownRows = ({ name, contacts = [], url }: ChannelEntry): ChannelRow[] => {
  const kind = shorten(cleanLine(name), KIND_MAX) || 'unnamed';
  const addresses = [...contacts, ...(url === undefined ? [] : [url])].map(quoteContact);
  return [{ kind, address: `a kind nobody knows: ${addresses.join(', ') || 'without addresses'}` }];
};

const rowsOf = (entry: ChannelEntry): ChannelRow[] => {
  const { name: kind } = entry;
  if (!isChannelKind(kind)) return unknownRows(entry);
  const { addresses, problems } = addressesOf(kind, entry);
  return [
    ...addresses.map((address) => ({ kind, address: labelOf(kind, address) })),
    ...problems.map((problem) => ({ kind, address: `not usable: ${problem}` })),
  ];
};

export const channelRows = (entries: readonly ChannelEntry[]): ChannelRow[] => entries.flatMap(rowsOf);
