/** All kinds of channel. A kind without a module does not compile. */
import type { ChannelKind, Destination } from '../alert.ts';
import type { ChannelEntry } from '../item.ts';
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
