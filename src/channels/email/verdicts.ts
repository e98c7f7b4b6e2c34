/**
 * What a failed attempt at the relay means for a delivery: by the SMTP reply where there is one, else by nodemailer's
 * error code. Sources: RFC 5321 (replies), RFC 3463, 5248, 7372, 7504 and the IANA registry (enhanced codes),
 * nodemailer 10.6 `errors.d.ts`, https://docs.aws.amazon.com/ses (throttling), https://support.google.com/a/answer/3726730
 */
import { DeliveryError, type Explanation } from '../../errors.ts';
import { allOf, connectionFault, NOT_TLS_CODES, UNSHOWN_CODES, UNTRUSTED_CODES } from '../../net.ts';
import { cleanLine, shorten } from '../../text.ts';
import { textIn } from '../content/foreign.ts';
import { dead, explainedError, networkCodeOf, networkFailure, type Verdict } from '../failures.ts';

/** `retryAfterMs`: SMTP names no wait; these are ours, where an immediate retry would make it worse. */
interface Row extends Verdict {
  /** SMTP reply code. */
  reply: RegExp;
  /** Enhanced status code: a row with one does not match a reply without. */
  enhanced?: RegExp;
  /** The command that the relay answered, as nodemailer names it; `DATA` also stands for the text itself. */
  command?: RegExp;
  /** The reply's words. */
  says?: RegExp;
}

const MINUTE_MS = 60_000;

const server = (is: string, todo: string): Explanation => ({ who: 'the mail server', is, todo });

const NO_LOGIN = server(
  'does not take the user name and password of Tocsin',
  'correct user and pass (or oauth2) under channels.email.smtp',
);
const NEEDS_LOGIN = server(
  'wants Tocsin to log in, or to use TLS first',
  'set user and pass (or oauth2), and tls, under channels.email.smtp',
);
const NOT_UNDERSTOOD = server('does not understand Tocsin', 'correct host and port under channels.email.smtp');
const NOT_ADMITTED = server(
  'does not let Tocsin in',
  'have the mail server admit this machine, or correct channels.email.smtp (host, port, tls, user, pass)',
);
const NO_SENDER = server(
  'does not take the sender address of Tocsin',
  'correct channels.email.from, or have the mail server allow that address to Tocsin',
);
const NO_TRUST = server(
  'does not trust mail from the sender address of Tocsin',
  'correct SPF, DKIM and DMARC of the domain in channels.email.from, or send through its own mail server',
);
const NO_RELAY = server(
  'does not pass on mail of ours',
  'have the mail server relay for this machine, or correct user, pass and from under channels.email',
);

const CORRECT = 'correct the address, at the monitoring service or in the config of Tocsin';
const NOT_TAKEN = dead('is refused by the mail server', CORRECT);

const sender = (reply: RegExp, explanation: Explanation, match: Omit<Row, 'reply' | 'reason'> = {}): Row => ({
  ...{ reply, ...match, reason: 'sender-misconfigured', explanation },
});

const mailbox = (enhanced: RegExp, is: string, todo: string): Row => ({ reply: /^5/, enhanced, ...dead(is, todo) });

/** The first row that matches decides. */
const REPLIES: readonly Row[] = [
  // A full mailbox and a throttled sender both mention quotas, so the mailbox comes first.
  { reply: /^4/, enhanced: /^4\.2\.2$/, reason: 'unavailable', retryAfterMs: 5 * MINUTE_MS },
  // Amazon SES 454 "Throttling failure"; Gmail 421-4.7.28, 450-4.2.1 "at a rate that"; Exchange 4.7.x "too many"
  {
    reply: /^4/,
    says: /throttl|at a rate|rate limit|rate exceeded|too (many|fast)|quota exceeded|unusual rate/i,
    reason: 'rate-limited',
    retryAfterMs: MINUTE_MS,
  },
  // Greylisting: the relay takes the same mail in one to five minutes.
  { reply: /^4/, enhanced: /^4\.7\.1$/, reason: 'unavailable', retryAfterMs: MINUTE_MS },
  { reply: /^4/, says: /gr[ae]y-?list/i, reason: 'unavailable', retryAfterMs: MINUTE_MS },
  { reply: /^4/, reason: 'unavailable' },
  // Bad sequence: something is wrong with the session, not with the mail.
  { reply: /^503$/, reason: 'unavailable' },

  // RFC 4954: no or wrong credentials, a mechanism too weak, TLS needed first
  sender(/^53[08]$/, NEEDS_LOGIN),
  sender(/^53[45]$/, NO_LOGIN),
  sender(/^5/, NOT_ADMITTED, { command: /^(CONN|EHLO|HELO|STARTTLS|AUTH)/ }),
  // Size, on MAIL FROM or after the text
  { reply: /^5/, enhanced: /^5\.(3\.4|2\.3)$/, reason: 'bad-message' },
  sender(/^5/, NO_SENDER, { command: /^MAIL/ }),
  // RFC 3463 bad sender address
  sender(/^5/, NO_SENDER, { enhanced: /^5\.1\.[78]$/ }),
  // RFC 7372 SPF, DKIM, DMARC, reverse DNS
  sender(/^5/, NO_TRUST, { enhanced: /^5\.7\.2\d$/ }),
  sender(/^5/, NO_TRUST, { says: /\b(spf|dkim|dmarc)\b/i }),
  sender(/^5/, NO_SENDER, { says: /not verified|sender (address )?(rejected|denied)/i }),
  sender(/^5/, NO_RELAY, { says: /relay|authenticat|client host|blocked using/i }),

  { reply: /^5/, enhanced: /^5\.6\.\d+$/, reason: 'bad-message' },
  // RFC 3463: .1 addresses, .2 mailboxes, .4 routes; RFC 7505 null MX (5.1.10)
  mailbox(/^5\.1\.1$/, 'does not exist', CORRECT),
  mailbox(/^5\.1\.(2|10)$/, 'is at a domain that takes no mail', CORRECT),
  mailbox(/^5\.1\.6$/, 'has moved, and the mail server does not say where', CORRECT),
  mailbox(/^5\.2\.1$/, 'is disabled', 'ask its owner, or list another address'),
  mailbox(/^5\.2\.2$/, 'is full', 'ask its owner to make room, or list another address'),
  mailbox(/^5\.4\.\d+$/, 'cannot be reached from the mail server', CORRECT),
  { reply: /^5/, enhanced: /^5\.[124]\.\d+$/, ...NOT_TAKEN },
  { reply: /^55[01346]$|^552$|^521$/, command: /^RCPT/, ...NOT_TAKEN },
  // Refused after reading the text: content, spam policy
  { reply: /^55[0-6]$/, command: /^DATA/, reason: 'bad-message' },
  // The relay does not understand our commands.
  sender(/^(50[0124]|555)$/, NOT_UNDERSTOOD),
  { reply: /^/, reason: 'unknown' },
];

/** What mends a connection without the TLS that the config wants, by Node's code. A certificate is renewed by people. */
const TLS_REMEDIES: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'renew it',
  CERT_NOT_YET_VALID: 'it or a clock is wrong',
  ...allOf(
    UNTRUSTED_CODES,
    "give the certificate of its issuer, or the relay's own, in channels.email.smtp.ca, or see channels.email.smtp.tls",
  ),
  ERR_TLS_CERT_ALTNAME_INVALID:
    "give a name that is in the certificate in channels.email.smtp.host, or the relay's own certificate in channels.email.smtp.ca",
  ...allOf(UNSHOWN_CODES, 'see channels.email.smtp.cert'),
  ...allOf(NOT_TLS_CODES, 'see channels.email.smtp.secure (true is for port 465) and channels.email.smtp.port'),
};

/** The names that the relay's certificate is for, where they are what is wrong with it. */
const namesIn = (certificate: unknown): string => {
  const names = textIn((certificate as { subjectaltname?: unknown } | undefined)?.subjectaltname);
  return names === '' ? '' : `, namely ${shorten(cleanLine(names), REPLY_LIMIT)}`;
};

/** A relay with a bad certificate may get a better one: such a delivery is retried. */
const tlsFailure = (code: string, certificate: unknown, { peer, sent }: Asked): DeliveryError | undefined => {
  const fault = connectionFault(code);
  const remedy = Object.hasOwn(TLS_REMEDIES, code) ? TLS_REMEDIES[code] : undefined;
  if (fault === undefined || remedy === undefined) return undefined;
  return new DeliveryError('unavailable', `${peer} ${fault}${namesIn(certificate)}: ${remedy}`, {
    code,
    maybeDelivered: sent,
    unreached: !sent,
  });
};

interface Meaning extends Verdict {
  says: string;
}

const NO_CREDENTIALS = 'does not take the credentials of Tocsin';

/** Failures without a reply, by nodemailer's code. */
const CODES: Readonly<Record<string, Meaning>> = {
  EAUTH: { reason: 'sender-misconfigured', says: NO_CREDENTIALS, explanation: NO_LOGIN },
  ENOAUTH: { reason: 'sender-misconfigured', says: 'needs credentials', explanation: NEEDS_LOGIN },
  EOAUTH2: { reason: 'sender-misconfigured', says: NO_CREDENTIALS, explanation: NO_LOGIN },
  ECONFIG: { reason: 'sender-misconfigured', says: 'cannot be used as configured' },
  ETLS: { reason: 'sender-misconfigured', says: 'does not offer the TLS that channels.email.smtp.tls requires' },
  EREQUIRETLS: { reason: 'sender-misconfigured', says: 'does not offer the TLS that channels.email.smtp.tls requires' },
  EMAXRECIPIENTS: { reason: 'sender-misconfigured', says: 'was not asked: more than one recipient' },
  EENVELOPE: { reason: 'destination-dead', says: 'was not asked: the address is no address' },
  EMESSAGE: { reason: 'bad-message', says: 'takes no mail of this size' },
  EPROTOCOL: { reason: 'unavailable', says: 'gave an answer that is not SMTP' },
  ECONNECTION: { reason: 'unavailable', says: 'closed the connection' },
  ETIMEDOUT: { reason: 'unavailable', says: 'took too long to answer' },
  ESTREAM: { reason: 'unavailable', says: 'did not take the whole mail' },
  EPROXY: { reason: 'unavailable', says: 'cannot be reached' },
  // Only if Node's own code is not in our table.
  ESOCKET: { reason: 'unavailable', says: 'lost the connection' },
  EDNS: { reason: 'unavailable', says: 'cannot be found by name' },
};

/** About the attempt that failed. */
interface Asked {
  /** Host and port of the relay. */
  peer: string;
  /** The whole text had left us. */
  sent: boolean;
  /** Removes the password from a text. */
  scrub(text: string): string;
}

const REPLY_LIMIT = 200;

/** A reply decides alone: it says that the relay has not taken the mail. */
const refused = (reply: string, command: string, { peer, scrub }: Asked): DeliveryError => {
  const words = shorten(scrub(cleanLine(reply.replace(/^(\d{3})-/gm, '$1 '))), REPLY_LIMIT);
  const [, code = '', enhanced = ''] = /^(\d{3})(?: (\d\.\d{1,3}\.\d{1,3})(?!\S))?/.exec(words) ?? [];
  // Such a relay has no TLS, or somebody on the way has taken it out.
  const hasNoTls = command === 'STARTTLS' && code.startsWith('5');
  const remedy = hasNoTls
    ? '; if the relay is known to have no TLS, channels.email.smtp.tls: off sends without it'
    : '';
  const verdict = REPLIES.find(
    (row) =>
      row.reply.test(code) &&
      (row.enhanced?.test(enhanced) ?? true) &&
      (row.command?.test(command) ?? true) &&
      (row.says?.test(words) ?? true),
  ) ?? { reason: 'unknown' };
  return explainedError(verdict, {
    destination: 'the mailbox',
    said: `${peer} refused ${command || 'us'}: ${words}${remedy}`,
    code: enhanced === '' ? code || 'reply' : `${code}-${enhanced}`,
  });
};

/** What a failure without a refusal means; undefined if the network's own code says more, or if it is unknown. */
const meaningOf = ({ code, originalCode, response, command }: Record<string, unknown>): Meaning | undefined => {
  // An answer that is neither yes nor no, at any step.
  if (textIn(response) !== '') return CODES.EPROTOCOL;
  // The connection was cut in the middle of the handshake, not refused: a retry may pass.
  if (code === 'ETLS' && command === 'CONN') return CODES.ECONNECTION;
  if (networkCodeOf({ code: originalCode }) !== undefined) return undefined;
  return CODES[textIn(code)];
};

/** The failure of one attempt. Nodemailer's error is not kept: it holds the whole session, without limit. */
export const smtpFailure = (error: unknown, asked: Asked): DeliveryError => {
  const details = (error ?? {}) as Record<string, unknown>;
  // There was no access token to log in with.
  if (details.failure instanceof DeliveryError) return details.failure;
  const [code, response] = [textIn(details.code), textIn(details.response)];
  if (/^[45]\d\d(?!\d)/.test(response)) return refused(response, textIn(details.command), asked);
  const { peer, sent } = asked;
  const meaning = meaningOf(details);
  if (meaning === undefined) {
    const cause = textIn(details.originalCode) || code;
    return tlsFailure(cause, details.cert, asked) ?? networkFailure({ code: cause }, peer, sent);
  }
  // An answer that is not SMTP may still have come at the login.
  return explainedError(
    { ...meaning, explanation: CODES[code]?.explanation },
    {
      destination: 'the mailbox',
      said: `${peer} ${meaning.says} (${code})`,
      code,
      maybeDelivered: sent && meaning.reason === 'unavailable',
      // It has not greeted us.
      unreached: details.command === 'CONN',
    },
  );
};
