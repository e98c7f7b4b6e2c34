/** The kinds of channel there are. A kind without a module does not compile. */
import type { ChannelEntry, ChannelKind } from '../alert.ts';
import type { Addresses, Channel, ChannelDependencies, ChannelModule } from './channel.ts';
import type { EmailConfig } from './email/config.ts';
import { email } from './email/transport.ts';
import type { RateLimit } from './options.ts';
import type { SlackConfig } from './slack/config.ts';
import { slack } from './slack/transport.ts';
import type { TelegramConfig } from './telegram/config.ts';
import { telegram } from './telegram/transport.ts';
import type { WebhookConfig } from './webhook/config.ts';
import { webhook } from './webhook/transport.ts';

/** The `channels` section of the config: a kind left out is not sent. */
export interface ChannelConfigs {
  email?: EmailConfig;
  telegram?: TelegramConfig;
  slack?: SlackConfig;
  webhook?: WebhookConfig;
}

const modules = { email, telegram, slack, webhook } satisfies {
  [Kind in ChannelKind]: ChannelModule<NonNullable<ChannelConfigs[Kind]>>;
};

export const addressesOf = (kind: ChannelKind, entry: ChannelEntry): Addresses => modules[kind].addressesOf(entry);

export const labelOf = (kind: ChannelKind, address: string): string => modules[kind].labelOf(address);

/** The pace of one address of a kind. */
export const rateOf = (kind: ChannelKind, address: string, configured: RateLimit): RateLimit => {
  const module: Pick<ChannelModule<never>, 'rateOf'> = modules[kind];
  return module.rateOf?.(address, configured) ?? configured;
};

/** The address whose pace this one shares. */
export const pacedAs = (kind: ChannelKind, address: string): string => {
  const module: Pick<ChannelModule<never>, 'pacedAs'> = modules[kind];
  return module.pacedAs?.(address) ?? address;
};

/** Opens every kind that the config sets up. */
export const openChannels = (configs: ChannelConfigs, dependencies: ChannelDependencies): Channel[] => {
  const open = <Config>(module: ChannelModule<Config>, config: Config | undefined): Channel[] =>
    config === undefined ? [] : [module.create(config, dependencies)];
  return [
    ...open(email, configs.email),
    ...open(telegram, configs.telegram),
    ...open(slack, configs.slack),
    ...open(webhook, configs.webhook),
  ];
};
