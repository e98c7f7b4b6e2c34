/** What is true of e-mail as a kind. Its transport, and with it nodemailer, is loaded where e-mail is configured. */
import type { ChannelEntry } from '../../item.ts';
import { quoteContact } from '../address.ts';
import type { Addresses, ChannelModule } from '../channel.ts';
import { parseAddress } from './address.ts';
import type { EmailConfig } from './config.ts';

const addressesOf = ({ contacts = [], url = '' }: ChannelEntry): Addresses => {
  const named = contacts.filter((contact) => contact.trim() !== '');
  // Spaces around an address are a slip of the hand; a line break may be an attempt to inject headers.
  const parsed = named.map((contact) => ({ contact, address: parseAddress(contact.replace(/^ +| +$/g, '')) }));
  const problems = parsed
    .filter(({ address }) => address === undefined)
    .map(({ contact }) => `the email contact ${quoteContact(contact)} is no plain address like oncall@example.com`);
  if (url.trim() !== '') problems.push('the email entry has a url, which is not used: addresses go into contacts');
  if (named.length === 0 && url.trim() === '') problems.push('the email entry has nothing to send to');
  const addresses = parsed.flatMap(({ address }) => (address === undefined ? [] : [address]));
  return { addresses: [...new Set(addresses)], problems };
};

/** E-mail, for the registry. */
export const email: ChannelModule<EmailConfig> = {
  kind: 'email',
  addressesOf,
  labelOf: (address) => address,
  isBatched: true,
  sharesSender: () => true,
  givesHandle: () => true,
  load: async () => (await import('./transport.ts')).createEmailChannel,
};
