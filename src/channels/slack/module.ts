/** What is true of Slack as a kind. Its transport, and with it Slack's client, is loaded where Slack is configured. */
import type { ChannelEntry } from '../../item.ts';
import { quoteContact, webAddress, webLabel } from '../address.ts';
import type { Addresses, ChannelModule } from '../channel.ts';
import { isHook, parseChannel } from './address.ts';
import type { SlackConfig } from './config.ts';

const addressesOf = ({ contacts = [], url = '' }: ChannelEntry): Addresses => {
  const channels = contacts.filter((text) => text.trim() !== '');
  const hooks = [url].filter((text) => text.trim() !== '');
  if (channels.length + hooks.length === 0) {
    return { addresses: [], problems: ['the slack entry has nothing to send to'] };
  }
  const found = [...channels.map(parseChannel), ...hooks.map(webAddress)].filter((address) => address !== undefined);
  const noChannel = channels.filter((text) => parseChannel(text) === undefined);
  const noHook = hooks.filter((text) => webAddress(text) === undefined);
  return {
    addresses: [...new Set(found)],
    problems: [
      ...noChannel.map((text) => `the slack contact ${quoteContact(text)} is no channel id (C...) or name (#name)`),
      ...noHook.map((text) => `the slack url ${quoteContact(text)} is no http or https URL`),
    ],
  };
};

const labelOf = (address: string): string => (webAddress(address) === undefined ? address : webLabel(address));

/** Slack, for the registry. */
export const slack: ChannelModule<SlackConfig> = {
  kind: 'slack',
  addressesOf,
  labelOf,
  isBatched: true,
  // An incoming webhook has a key of its own, and its answer names no message.
  sharesSender: (address) => !isHook(address),
  givesHandle: (address) => !isHook(address),
  load: async () => (await import('./transport.ts')).createSlackChannel,
};
