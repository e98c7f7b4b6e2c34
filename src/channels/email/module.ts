/** What is true of e-mail as a kind. Its transport, and with it nodemailer, is loaded where e-mail is configured. */
import { parseHostPort } from '../../schema/fields.ts';
import { addressesIn } from '../address.ts';
import type { ChannelModule } from '../channel.ts';
import { parseAddress, parseMailbox } from './address.ts';
import type { EmailConfig } from './config.ts';

const SUBMISSION_PORT = 587;
const NOT_ASKED_YET = 'tocsin@localhost';

/** The port may be left out. */
const relayOf = (text: string) => parseHostPort(text.includes(':') ? text : `${text}:${SUBMISSION_PORT}`);

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
  // The limits are those of the mailbox: that of `Vault+1@example.com` is `vault@example.com`.
  sharesRateWith: (address) => address.toLowerCase().replace(/^([^+]+)\+.*@/, '$1@'),
  senderKey: 'channels.email.smtp',
  acknowledgedBy: { way: 'link' },
  setup: {
    title: 'E-mail',
    hangsOn: 'one mail relay',
    questions: [
      {
        id: 'relay',
        name: "the relay's host and port",
        text: 'Mail relay as HOST:PORT, like smtp.example.com:587',
        todo: 'Whoever runs your mail knows both: the port is 587 mostly, else 465 or 25. A firewall may be in between.',
        option: { name: 'smtp', flag: '--smtp HOST:PORT' },
        rule: (answer) => (relayOf(answer) === undefined ? 'must be HOST:PORT, like smtp.example.com:587' : undefined),
        blamedBy: /channels\.email\.smtp\.(host|port|secure)/,
      },
      {
        id: 'tls',
        name: 'the encryption to the relay',
        text: 'Encryption to the relay: verify, opportunistic, off',
        todo: 'A relay that refuses STARTTLS has no TLS at this port. opportunistic takes any certificate, and off sends in the clear: both are only for a relay without a password, or on this machine.',
        option: { name: 'smtpTls', flag: '--smtp-tls MODE' },
        standard: 'verify',
        blamedBy: /channels\.email\.smtp\.(tls|ca|cert)/,
        onlyWhenBlamed: true,
      },
      {
        id: 'from',
        name: 'the sender',
        text: 'Sender, like Tocsin <tocsin@example.com>',
        todo: 'It is one address that the relay lets this machine send from, with or without a name before it.',
        option: { name: 'from', flag: '--from ADDRESS' },
        rule: (answer) =>
          parseMailbox(answer) === undefined
            ? 'must be one address, or a name and an address: Tocsin <tocsin@example.com>'
            : undefined,
        blamedBy: /channels\.email\.from/,
        isUntried: true,
      },
      {
        id: 'user',
        name: 'the user at the relay',
        text: 'User at the relay, if it wants one',
        todo: 'It is the one that the relay knows, often a whole address.',
        option: { name: 'smtpUser', flag: '--smtp-user NAME' },
        standard: '',
        blamedBy: /user and pass|user, pass and from/,
        isUntried: true,
      },
      {
        id: 'pass',
        name: 'the password at the relay',
        text: 'Password at the relay (does not show)',
        todo: 'Type it again; many providers want a password of its own for each program.',
        variable: 'SMTP_PASSWORD',
        isHidden: true,
        blamedBy: /user and pass|user, pass and from/,
        isDue: ({ user = '' }) => user !== '',
      },
    ],
    address: {
      name: 'the mailbox',
      text: 'Mailbox to send to, like oncall@example.com',
      todo: 'It is one address, without a name.',
      like: /^\S+@\S+\.\S+$/,
    },
    linesOf: ({ relay = '', from = NOT_ASKED_YET, tls, user = '', pass }, { quoted, secret }) => {
      const { host, port } = relayOf(relay) ?? { host: relay, port: SUBMISSION_PORT };
      return [
        '  # E-mail through an SMTP relay. It must accept this sender. Its connection is encrypted and verified; for a relay with a',
        '  # certificate of its own, or without TLS, see tls and ca in docs/every-key.yaml.',
        '  email:',
        `    from: ${quoted(from)}`,
        '    smtp:',
        `      host: ${quoted(host)}`,
        `      port: ${port}`,
        ...(port === 465 ? ['      secure: true'] : []),
        ...(tls === undefined ? [] : [`      tls: ${quoted(tls)}`]),
        ...(user === '' || pass === undefined
          ? []
          : [`      user: ${quoted(user)}`, `      pass: ${secret('SMTP_PASSWORD')}`]),
      ];
    },
  },
  summaryOf: ({ smtp: { host, port } }) => `email by ${host}:${port}`,
  connectionsOf: ({ smtp }) => [
    ['smtp', smtp],
    ['smtp.oauth2', smtp.oauth2 ?? {}],
  ],
  preview: { address: 'you@example.com', load: async () => (await import('./message.ts')).previewEmail },
  load: async () => (await import('./transport.ts')).createEmailChannel,
};
