/**
 * What a failed attempt at the relay means for a delivery: by the SMTP reply where there is one, else by nodemailer's
 * error code. Sources: RFC 5321 (replies), RFC 3463, 5248, 7372, 7504 and the IANA registry (enhanced codes),
 * nodemailer 10.6 `errors.d.ts`, https://docs.aws.amazon.com/ses (throttling), https://support.google.com/a/answer/3726730
 */
import { allOf, connectionFault, NOT_TLS_CODES, UNSHOWN_CODES, UNTRUSTED_CODES } from '../../connection-fault.ts';
import { DeliveryError, type DeliveryReason } from '../../errors.ts';
import { cleanLine, shorten } from '../../text.ts';
import { explainedError } from '../explained.ts';
import { networkCodeOf, networkFailure } from '../network.ts';
import { LOGIN_FAILURES, REPLIES } from './replies.ts';

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
  const names = stringOf((certificate as { subjectaltname?: unknown } | undefined)?.subjectaltname);
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
  });
};

interface Meaning {
  reason: DeliveryReason;
  says: string;
}

/** Failures without a reply, by nodemailer's code. */
const CODES: Readonly<Record<string, Meaning>> = {
  EAUTH: { reason: 'sender-misconfigured', says: 'does not take our credentials' },
  ENOAUTH: { reason: 'sender-misconfigured', says: 'needs credentials' },
  EOAUTH2: { reason: 'sender-misconfigured', says: 'does not take our credentials' },
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
export interface Asked {
  /** Host and port of the relay. */
  peer: string;
  /** The whole text had left us. */
  sent: boolean;
  /** Removes the password from a text. */
  scrub(text: string): string;
}

const REPLY_LIMIT = 200;

const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A reply decides alone: it says that the relay has not taken the mail. */
const refused = (reply: string, command: string, { peer, scrub }: Asked): DeliveryError => {
  const words = shorten(scrub(cleanLine(reply.replace(/^(\d{3})-/gm, '$1 '))), REPLY_LIMIT);
  const [, code = '', enhanced = ''] = /^(\d{3})(?: (\d\.\d{1,3}\.\d{1,3})(?!\S))?/.exec(words) ?? [];
  // Such a relay has no TLS, or somebody on the way has taken it out.
  const hasNoTls = command === 'STARTTLS' && code.startsWith('5');
  const remedy = hasNoTls
    ? '; if the relay is known to have no TLS, channels.email.smtp.tls: off sends without it'
    : '';
  const { reason, waitMs, explanation } = REPLIES.find(
    (row) =>
      row.reply.test(code) &&
      (row.enhanced?.test(enhanced) ?? true) &&
      (row.command?.test(command) ?? true) &&
      (row.says?.test(words) ?? true),
  ) ?? { reason: 'unknown' as const };
  const said = `${peer} refused ${command || 'us'}: ${words}${remedy}`;
  return explainedError(
    reason,
    { destination: 'the mailbox', said, explanation },
    {
      code: enhanced === '' ? code || 'reply' : `${code}-${enhanced}`,
      ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
    },
  );
};

/** What a failure without a refusal means; undefined if the network's own code says more, or if it is unknown. */
const meaningOf = ({ code, originalCode, response, command }: Record<string, unknown>): Meaning | undefined => {
  // An answer that is neither yes nor no, at any step.
  if (stringOf(response) !== '') return CODES.EPROTOCOL;
  // The connection was cut in the middle of the handshake, not refused: a retry may pass.
  if (code === 'ETLS' && command === 'CONN') return CODES.ECONNECTION;
  if (networkCodeOf({ code: originalCode }) !== undefined) return undefined;
  return CODES[stringOf(code)];
};

/** The failure of one attempt. Nodemailer's error is not kept: it holds the whole session, without limit. */
export const smtpFailure = (error: unknown, asked: Asked): DeliveryError => {
  const details = (error ?? {}) as Record<string, unknown>;
  // There was no access token to log in with.
  if (details.failure instanceof DeliveryError) return details.failure;
  const [code, response] = [stringOf(details.code), stringOf(details.response)];
  if (/^[45]\d\d(?!\d)/.test(response)) return refused(response, stringOf(details.command), asked);
  const { peer, sent } = asked;
  const meaning = meaningOf(details);
  if (meaning === undefined) {
    const cause = stringOf(details.originalCode) || code;
    return tlsFailure(cause, details.cert, asked) ?? networkFailure({ code: cause }, peer, sent);
  }
  const explanation = Object.hasOwn(LOGIN_FAILURES, code) ? LOGIN_FAILURES[code] : undefined;
  return explainedError(
    meaning.reason,
    { destination: 'the mailbox', said: `${peer} ${meaning.says} (${code})`, explanation },
    { code, maybeDelivered: sent && meaning.reason === 'unavailable' },
  );
};
