import { emailConfig } from '../../src/channels/email/config.ts';
import { email } from '../../src/channels/email/module.ts';
import { createEmailChannel } from '../../src/channels/email/transport.ts';
import { destinationOf } from '../support/alerts.ts';
import { readMail } from '../support/mail-reader.ts';
import { type Reply, startSmtpRelay } from '../support/smtp-relay.ts';
import type { Contestant, Shown } from './contestant.ts';

const USER = 'tocsin-relay';
const PASS = 'pa55-s3cr3t+relay/password';

const reply = (at: Reply['at'], code: number, says: string): Reply => ({ at, code, says });

export const emailContestant: Contestant<Reply> = {
  kind: 'email',
  forPeople: true,
  written: (text) => text.replaceAll('evil.example', 'evil[.]example'),
  addressesOf: email.addressesOf,
  labelOf: email.labelOf,
  badEntries: [
    { name: 'email', contacts: ['ops'] },
    { name: 'email', contacts: ['ok@a.example', 'ok@a.example\r\nBcc: evil@b.example'] },
    { name: 'email', contacts: ['a@x.example, b@x.example'] },
    { name: 'email', contacts: ['Name <a@x.example>'] },
    { name: 'email', contacts: ['group: a@x.example;'] },
    { name: 'email', contacts: ['a(comment)@x.example'] },
    { name: 'email', contacts: ['"quoted part"@x.example'] },
    { name: 'email', contacts: ['a@[127.0.0.1]'] },
    { name: 'email', contacts: ['a@b@x.example'] },
    { name: 'email', url: 'mailto:ops@x.example' },
  ],
  async open({ timeoutMs }) {
    const shown: Shown[] = [];
    const relay = await startSmtpRelay({
      user: USER,
      pass: PASS,
      read: async ({ raw }) => {
        const { subject, plain, html, files } = await readMail(raw);
        shown.push({ text: `${subject}\n${html?.text ?? plain}`, active: html?.active ?? [], files });
      },
    });
    const smtp = { host: '127.0.0.1', port: relay.port, requireTLS: false, user: USER, pass: PASS };
    const config = { ...emailConfig.parse({ from: 'Tocsin <tocsin@example.com>', smtp }), timeout: timeoutMs };
    return {
      channel: createEmailChannel(config, { post: () => Promise.reject(new Error('not by this way')), now: Date.now }),
      destinations: [
        destinationOf('email', 'oncall@example.com'),
        destinationOf('email', "o'neill+pager@mail.example.org"),
      ],
      secrets: [PASS, 'pa55', 's3cr3t'],
      script: relay.script,
      arrivals: () => relay.arrived.length,
      accepted: () => shown,
      stopProvider: relay.close,
    };
  },
  refusals: [
    {
      says: 'greylisting',
      step: reply('rcpt', 451, '4.7.1 Greylisted, try again'),
      reason: 'unavailable',
      code: '451-4.7.1',
      retryAfterMs: 60_000,
      maybeDelivered: false,
    },
    { says: 'a mailbox that is busy', step: reply('rcpt', 450, 'mailbox busy'), reason: 'unavailable', code: '450' },
    {
      says: 'a mailbox that is full for now',
      step: reply('rcpt', 452, '4.2.2 Over quota exceeded'),
      reason: 'unavailable',
      code: '452-4.2.2',
    },
    {
      says: '421 after the text',
      step: reply('text', 421, '4.3.2 Closing'),
      reason: 'unavailable',
      maybeDelivered: false,
    },
    { says: '421 as the greeting', step: reply('connect', 421, 'Too busy'), reason: 'unavailable', code: '421' },
    { says: '503', step: reply('mail', 503, '5.5.1 Bad sequence'), reason: 'unavailable', code: '503-5.5.1' },
    {
      says: 'a throttled sender',
      step: reply('text', 454, 'Throttling failure: Maximum sending rate exceeded.'),
      reason: 'rate-limited',
      retryAfterMs: 60_000,
    },
    {
      says: 'a mailbox that gets too much',
      step: reply('rcpt', 450, '4.2.1 The user you are trying to contact is receiving mail at a rate that prevents...'),
      reason: 'rate-limited',
    },
    {
      says: 'no such user',
      step: reply('rcpt', 550, '5.1.1 No such user here'),
      reason: 'destination-dead',
      code: '550-5.1.1',
      maybeDelivered: false,
    },
    { says: 'no such user, without enhanced code', step: reply('rcpt', 550, 'unknown'), reason: 'destination-dead' },
    { says: 'null MX', step: reply('rcpt', 556, '5.1.10 takes no mail'), reason: 'destination-dead' },
    { says: 'a full mailbox', step: reply('rcpt', 552, '5.2.2 Mailbox full'), reason: 'destination-dead' },
    { says: 'spam', step: reply('text', 554, '5.7.1 Message looks like spam'), reason: 'bad-message' },
    { says: 'content', step: reply('text', 554, '5.6.0 Message is malformed'), reason: 'bad-message' },
    { says: 'size', step: reply('mail', 552, '5.3.4 Message size exceeds limit'), reason: 'bad-message' },
    {
      says: 'relaying denied',
      step: reply('rcpt', 550, '5.7.1 Relaying denied'),
      reason: 'sender-misconfigured',
      code: '550-5.7.1',
    },
    {
      says: 'an unverified sender',
      step: reply('text', 554, 'Email address is not verified.'),
      reason: 'sender-misconfigured',
    },
    { says: 'a refused sender', step: reply('mail', 550, '5.1.8 Bad sender'), reason: 'sender-misconfigured' },
    { says: 'DMARC', step: reply('text', 550, '5.7.26 Unauthenticated mail'), reason: 'sender-misconfigured' },
    { says: 'a wrong password', step: reply('auth', 535, '5.7.8 Bad login'), reason: 'sender-misconfigured' },
    { says: 'a login that fails for now', step: reply('auth', 454, '4.7.0 Try later'), reason: 'unavailable' },
    { says: 'no service for us', step: reply('connect', 554, 'No SMTP here'), reason: 'sender-misconfigured' },
    {
      says: 'a refusal that quotes the password',
      step: reply('text', 550, `5.7.8 Wrong ${PASS}`),
      reason: 'bad-message',
    },
    { says: 'a reply nobody knows', step: reply('rcpt', 599, 'Whatever'), reason: 'unknown', code: '599' },
  ],
};
