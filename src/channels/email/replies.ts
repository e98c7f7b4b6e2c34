/**
 * What a mail server's refusal means for a delivery, by its reply, and in words for people. Sources: those of `verdicts.ts`.
 */
import type { DeliveryReason, Explanation } from '../../errors.ts';

interface Verdict {
  /** SMTP reply code. */
  reply: RegExp;
  /** Enhanced status code: a row with one does not match a reply without. */
  enhanced?: RegExp;
  /** The command that the relay answered, as nodemailer names it; `DATA` also stands for the text itself. */
  command?: RegExp;
  /** The reply's words. */
  says?: RegExp;
  reason: DeliveryReason;
  /** SMTP names no wait; this one is ours, where an immediate retry would make it worse. */
  waitMs?: number;
  /** What is wrong with the mailbox or with how we send, and what mends it. */
  explanation?: Explanation;
}

const MINUTE_MS = 60_000;

const server = (is: string, todo: string): Explanation => ({ who: 'the mail server', is, todo });

const NO_LOGIN = server(
  'does not take our user name and password',
  'correct user and pass (or oauth2) under channels.email.smtp',
);
const NEEDS_LOGIN = server(
  'wants us to log in, or to use TLS first',
  'set user and pass (or oauth2), and tls, under channels.email.smtp',
);
const NOT_UNDERSTOOD = server('does not understand us', 'correct host and port under channels.email.smtp');
const NOT_ADMITTED = server(
  'does not let us in',
  'have the mail server admit this machine, or correct channels.email.smtp (host, port, tls, user, pass)',
);
const NO_SENDER = server(
  'does not take our sender address',
  'correct channels.email.from, or have the mail server allow that address to us',
);
const NO_TRUST = server(
  'does not trust mail from our sender address',
  'correct SPF, DKIM and DMARC of the domain in channels.email.from, or send through its own mail server',
);
const NO_RELAY = server(
  'does not pass on mail of ours',
  'have the mail server relay for this machine, or correct user, pass and from under channels.email',
);

const CORRECT = 'correct the address, at the service or in the config';
const NO_MAILBOX: Explanation = { is: 'does not exist', todo: CORRECT };
const NOT_TAKEN: Explanation = { is: 'is refused by the mail server', todo: CORRECT };

const mailbox = (enhanced: RegExp, is: string, todo: string): Verdict => ({
  ...{ reply: /^5/, enhanced, reason: 'destination-dead' },
  explanation: { is, todo },
});

/** The first row that matches decides. */
export const REPLIES: readonly Verdict[] = [
  // A full mailbox and a throttled sender both mention quotas, so the mailbox comes first.
  { reply: /^4/, enhanced: /^4\.2\.2$/, reason: 'unavailable', waitMs: 5 * MINUTE_MS },
  // Amazon SES 454 "Throttling failure"; Gmail 421-4.7.28, 450-4.2.1 "at a rate that"; Exchange 4.7.x "too many"
  {
    reply: /^4/,
    says: /throttl|at a rate|rate limit|rate exceeded|too (many|fast)|quota exceeded|unusual rate/i,
    reason: 'rate-limited',
    waitMs: MINUTE_MS,
  },
  // Greylisting: the relay takes the same mail in one to five minutes.
  { reply: /^4/, enhanced: /^4\.7\.1$/, reason: 'unavailable', waitMs: MINUTE_MS },
  { reply: /^4/, says: /gr[ae]y-?list/i, reason: 'unavailable', waitMs: MINUTE_MS },
  { reply: /^4/, reason: 'unavailable' },
  // Bad sequence: something is wrong with the session, not with the mail.
  { reply: /^503$/, reason: 'unavailable' },

  // RFC 4954: no or wrong credentials, a mechanism too weak, TLS needed first
  { reply: /^53[08]$/, reason: 'sender-misconfigured', explanation: NEEDS_LOGIN },
  { reply: /^53[45]$/, reason: 'sender-misconfigured', explanation: NO_LOGIN },
  {
    reply: /^5/,
    command: /^(CONN|EHLO|HELO|STARTTLS|AUTH)/,
    reason: 'sender-misconfigured',
    explanation: NOT_ADMITTED,
  },
  // Size, on MAIL FROM or after the text
  { reply: /^5/, enhanced: /^5\.(3\.4|2\.3)$/, reason: 'bad-message' },
  { reply: /^5/, command: /^MAIL/, reason: 'sender-misconfigured', explanation: NO_SENDER },
  // RFC 3463 bad sender address
  { reply: /^5/, enhanced: /^5\.1\.[78]$/, reason: 'sender-misconfigured', explanation: NO_SENDER },
  // RFC 7372 SPF, DKIM, DMARC, reverse DNS
  { reply: /^5/, enhanced: /^5\.7\.2\d$/, reason: 'sender-misconfigured', explanation: NO_TRUST },
  { reply: /^5/, says: /\b(spf|dkim|dmarc)\b/i, reason: 'sender-misconfigured', explanation: NO_TRUST },
  {
    reply: /^5/,
    says: /not verified|sender (address )?(rejected|denied)/i,
    reason: 'sender-misconfigured',
    explanation: NO_SENDER,
  },
  {
    reply: /^5/,
    says: /relay|authenticat|client host|blocked using/i,
    reason: 'sender-misconfigured',
    explanation: NO_RELAY,
  },

  { reply: /^5/, enhanced: /^5\.6\.\d+$/, reason: 'bad-message' },
  // RFC 3463: .1 addresses, .2 mailboxes, .4 routes; RFC 7505 null MX (5.1.10)
  mailbox(/^5\.1\.1$/, NO_MAILBOX.is, CORRECT),
  mailbox(/^5\.1\.(2|10)$/, 'is at a domain that takes no mail', CORRECT),
  mailbox(/^5\.1\.6$/, 'has moved, and the mail server does not say where', CORRECT),
  mailbox(/^5\.2\.1$/, 'is disabled', 'ask its owner, or list another address'),
  mailbox(/^5\.2\.2$/, 'is full', 'ask its owner to make room, or list another address'),
  mailbox(/^5\.4\.\d+$/, 'cannot be reached from the mail server', CORRECT),
  mailbox(/^5\.[124]\.\d+$/, NOT_TAKEN.is, NOT_TAKEN.todo),
  { reply: /^55[01346]$|^552$|^521$/, command: /^RCPT/, reason: 'destination-dead', explanation: NOT_TAKEN },
  // Refused after reading the text: content, spam policy
  { reply: /^55[0-6]$/, command: /^DATA/, reason: 'bad-message' },
  // The relay does not understand our commands.
  { reply: /^(50[0124]|555)$/, reason: 'sender-misconfigured', explanation: NOT_UNDERSTOOD },
  { reply: /^/, reason: 'unknown' },
];

/** What failures at the login mean, by nodemailer's code. */
export const LOGIN_FAILURES: Readonly<Record<string, Explanation>> = {
  EAUTH: NO_LOGIN,
  ENOAUTH: NEEDS_LOGIN,
  EOAUTH2: NO_LOGIN,
};
