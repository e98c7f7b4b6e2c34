/** What is true of webhooks as a kind. Their transport is loaded where webhooks are configured. */
import type { ChannelEntry } from '../../item.ts';
import { quoteContact, webAddress, webLabel } from '../address.ts';
import type { Addresses, ChannelModule } from '../channel.ts';
import type { WebhookConfig } from './config.ts';

const addressesOf = ({ contacts = [], url }: ChannelEntry): Addresses => {
  const named = [...(url === undefined ? [] : [url]), ...contacts].filter((text) => text.trim() !== '');
  if (named.length === 0) return { addresses: [], problems: ['the webhook entry has nothing to send to'] };
  const problems = named
    .filter((text) => webAddress(text) === undefined)
    .map((text) => `the webhook address ${quoteContact(text)} is no http or https URL`);
  return { addresses: [...new Set(named.map(webAddress).filter((address) => address !== undefined))], problems };
};

/** Webhooks, one signed JSON for each alert. */
export const webhook: ChannelModule<WebhookConfig> = {
  kind: 'webhook',
  addressesOf,
  labelOf: webLabel,
  isBatched: false,
  // By answering 410.
  canBeDisabled: true,
  // Receivers have nothing in common but the program that sends.
  sharesSender: () => false,
  givesHandle: () => false,
  load: async () => (await import('./transport.ts')).createWebhookChannel,
};
