/** What is true of Telegram as a kind. Its transport, and with it telegraf, is loaded where Telegram is configured. */
import type { ChannelEntry } from '../../item.ts';
import { quoteContact } from '../address.ts';
import type { Addresses, ChannelModule } from '../channel.ts';
import { formatChatAddress, parseChatAddress } from './address.ts';
import type { TelegramConfig } from './config.ts';

const addressesOf = ({ contacts = [], url = '' }: ChannelEntry): Addresses => {
  const named = contacts.map((contact) => contact.trim()).filter((contact) => contact !== '');
  const parsed = named.map((contact) => ({ contact, address: parseChatAddress(contact) }));
  const problems = parsed
    .filter(({ address }) => address === undefined)
    .map(
      ({ contact }) => `the telegram contact ${quoteContact(contact)} is no chat id or @name, with or without /TOPIC`,
    );
  if (url.trim() !== '') problems.push('the telegram entry has a url, which is not used: chats go into contacts');
  if (named.length === 0 && url.trim() === '') problems.push('the telegram entry has nothing to send to');
  const addresses = parsed.flatMap(({ address }) => (address === undefined ? [] : [formatChatAddress(address)]));
  return { addresses: [...new Set(addresses)], problems };
};

/** People have positive ids; groups and channels have negative ones, or names. */
const isPrivateChat = (address: string): boolean => /^\d/.test(address);

/** Telegram, for the registry. */
export const telegram: ChannelModule<TelegramConfig> = {
  kind: 'telegram',
  addressesOf,
  labelOf: (address) => address,
  isBatched: true,
  sharesSender: () => true,
  givesHandle: () => true,
  rateOf: (address, { perMinute, ...rate }) =>
    perMinute === undefined || isPrivateChat(address) ? rate : { ...rate, perMinute },
  // The limits are those of the chat, and topics are places in one chat.
  sharesRateWith: (address) => parseChatAddress(address)?.chat ?? address,
  load: async () => (await import('./transport.ts')).createTelegramChannel,
};
