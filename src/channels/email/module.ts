/** What is true of e-mail as a kind. Its transport, and with it nodemailer, is loaded where e-mail is configured. */
import { addressesIn } from '../address.ts';
import type { ChannelModule } from '../channel.ts';
import { parseAddress } from './address.ts';
import type { EmailConfig } from './config.ts';

/** E-mail, for the registry. */
export const email: ChannelModule<EmailConfig> = {
  kind: 'email',
  addressesOf: ({ contacts = [], url = '' }) =>
    addressesIn('email', [
      {
        texts: contacts,
        // Spaces around an address are a slip of the hand; a line break may be an attempt to inject headers.
        parse: (text) => parseAddress(text.replace(/^ +| +$/g, '')),
        problem: (shown) => `the email contact ${shown} is no plain address like oncall@example.com`,
      },
      {
        texts: [url],
        parse: () => undefined,
        problem: () => 'the email entry has a url, which is not used: addresses go into contacts',
      },
    ]),
  labelOf: (address) => address,
  words: { place: 'mailbox', every: 'e-mail to every mailbox', none: 'no mailbox gets alerts' },
  entry: {
    keys: ['contacts'],
    contactsAre: 'mailboxes',
    missing: 'list mailboxes in contacts',
    contact: {
      isPossible: (contact) => /^[^\s@<>()[\],;:"]+@[^\s@<>()[\],;:"]+$/.test(contact),
      rule: 'must be one plain address: name@example.com',
    },
  },
  ignoresCase: true,
  canBeDisabled: false,
  sharesSender: () => true,
  senderKey: 'channels.email.smtp',
  acknowledgedBy: { way: 'link' },
  setup: {
    question: 'Mailbox to send to, like oncall@example.com: ',
    secret: { variable: 'SMTP_PASSWORD', question: 'Password at the relay (does not show): ' },
    hasRelay: true,
    linesOf: ({ relay }, { quoted, secret }) => [
      '  # E-mail through an SMTP relay. It must accept this sender. Its connection is encrypted and verified; for a relay with a',
      '  # certificate of its own, or without TLS, see tls and ca in docs/every-key.yaml.',
      '  email:',
      `    from: ${quoted(relay?.from ?? '')}`,
      '    smtp:',
      `      host: ${quoted(relay?.host ?? '')}`,
      `      port: ${relay?.port ?? 587}`,
      ...(relay?.port === 465 ? ['      secure: true'] : []),
      ...(relay?.tls === undefined ? [] : [`      tls: ${relay.tls}`]),
      ...(relay?.user === undefined ? [] : [`      user: ${quoted(relay.user)}`, `      pass: ${secret}`]),
    ],
  },
  summaryOf: ({ smtp: { host, port } }) => `email by ${host}:${port}`,
  connectionsOf: ({ smtp }) => [
    ['smtp', smtp],
    ['smtp.oauth2', smtp.oauth2 ?? {}],
  ],
  preview: { address: 'you@example.com', load: async () => (await import('./message.ts')).previewEmail },
  load: async () => (await import('./transport.ts')).createEmailChannel,
};
