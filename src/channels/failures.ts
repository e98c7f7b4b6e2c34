/** Failures of an attempt: in words for people, and one table of what a network error means for a delivery. */
import { DeliveryError, type DeliveryFailure, type DeliveryReason } from '../errors.ts';
import {
  type ConnectionNames,
  connectionFault,
  isProxyRefusal,
  NOT_TLS_CODES,
  proxyFault,
  remedyOf,
  UNSHOWN_CODES,
  UNTRUSTED_CODES,
} from '../net.ts';

/** What an answer means for the delivery and to people. Each kind has a table of them. */
export interface Verdict extends Pick<DeliveryFailure, 'retryAfterMs' | 'maybeDelivered' | 'explanation'> {
  reason: DeliveryReason;
}

/** This destination takes nothing from us. */
export const dead = (is: string, todo: string): Verdict => ({ reason: 'destination-dead', explanation: { is, todo } });

/** Our token or login is at fault, so all destinations of the sender wait. */
export const misconfigured = (who: string, is: string, todo: string): Verdict => ({
  reason: 'sender-misconfigured',
  explanation: { who, is, todo },
});

/**
 * A failure in words first, and in the provider's own behind them: `the channel is archived (slack.com answered
 * is_archived)`. In the provider's alone where nothing explains it. `destination`: what the kind calls one; `said`: the
 * answer in a sentence without secrets.
 */
export const explainedError = (
  { reason, explanation, retryAfterMs, maybeDelivered = false }: Verdict,
  { destination, said, ...failure }: DeliveryFailure & { destination: string; said: string },
): DeliveryError => {
  const known = { retryAfterMs, maybeDelivered, ...failure };
  if (explanation === undefined) return new DeliveryError(reason, said, known);
  const { who = destination, is } = explanation;
  return new DeliveryError(reason, `${who} ${is} (${said})`, { ...known, explanation, said });
};

interface Meaning {
  reason: DeliveryReason;
  /** Whether the message may have arrived, if the caller does not know whether it was sent. */
  maybeDelivered: boolean;
  says: string;
  unreached: boolean;
}

const meaning = (reason: DeliveryReason, maybeDelivered: boolean, says: string): Meaning => ({
  ...{ reason, maybeDelivered, says, unreached: false },
});
const unreached = (says: string): Meaning => ({ ...meaning('unavailable', false, says), unreached: true });

/** By error code, or by the error's name if it has none; the codes of one meaning beside each other. */
const GROUPS: readonly (readonly [Meaning, ...string[]])[] = [
  [unreached('refuses connections'), 'ECONNREFUSED'],
  [unreached('cannot be reached'), ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'EADDRNOTAVAIL']],
  // A name that does not resolve is as often our resolver's fault as a wrong name.
  [unreached('cannot be found by name'), 'ENOTFOUND', 'EAI_AGAIN'],
  // These two are our own resolver's.
  [unreached('cannot be found by name in time'), 'ETIMEOUT'],
  [meaning('unavailable', false, 'was not looked up: too many other names are'), 'DNS_BUSY'],
  [unreached('took too long to connect'), ...['UND_ERR_CONNECT_TIMEOUT', 'ERR_TLS_HANDSHAKE_TIMEOUT']],
  [
    meaning('unavailable', true, 'dropped the connection before it answered'),
    ...['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'],
  ],
  [
    meaning('unavailable', true, 'took too long to answer'),
    ...['ETIMEDOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'TimeoutError'],
  ],
  [meaning('unavailable', true, 'did not answer before the attempt was stopped'), 'AbortError', 'UND_ERR_ABORTED'],
  [meaning('unavailable', false, 'was not asked: we are shutting down'), 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED'],
  [
    meaning('unknown', true, 'gave an answer that is not HTTP'),
    ...['HTTPParserError', 'UND_ERR_HEADERS_OVERFLOW', 'UND_ERR_RES_EXCEEDED_MAX_SIZE'],
  ],
  // Renewing a certificate takes people hours, so the delivery is retried as after any other passing fault.
  [
    unreached('has no certificate that we trust'),
    ...['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID', 'CERT_REVOKED', 'ERR_TLS_CERT_ALTNAME_INVALID', ...UNTRUSTED_CODES],
  ],
  // With TLS 1.3 we may have sent already by then, but a receiver that ends the handshake has not read it.
  [unreached('ended the TLS handshake'), ...UNSHOWN_CODES],
  [unreached('does not speak TLS as expected'), ...NOT_TLS_CODES],
  [
    meaning('destination-dead', false, 'cannot be sent to: the address or a header is malformed'),
    ...['UND_ERR_INVALID_ARG', 'ERR_INVALID_URL', 'ERR_INVALID_CHAR'],
  ],
];

const MEANINGS: ReadonlyMap<string, Meaning> = new Map(
  GROUPS.flatMap(([one, ...codes]) => codes.map((code) => [code, one] as const)),
);

const UNDOCUMENTED = meaning('unknown', true, 'failed with an error that we do not know');

/** Libraries wrap errors: fetch in `cause`, Slack's client in `original`, happy eyeballs in `errors`. Outermost first. */
const wrappedIn = (error: object): unknown[] => {
  const { cause, original, errors } = error as { cause?: unknown; original?: unknown; errors?: unknown };
  return [cause, original, ...(Array.isArray(errors) ? errors : [])];
};

const isKnown = (word: string): boolean => MEANINGS.has(word) || word.startsWith('proxy-');

/** The errno, library code or name that says most about a network error; undefined if none is in the table. */
export const networkCodeOf = (error: unknown, depth = 0): string | undefined => {
  if (typeof error !== 'object' || error === null || depth > 4) return undefined;
  const { code, name } = error as { code?: unknown; name?: unknown };
  // The code of a DOMException is a number; only its name distinguishes an abort from a timeout.
  for (const word of [code, name]) if (typeof word === 'string' && isKnown(word)) return word;
  for (const inner of wrappedIn(error)) {
    const found = networkCodeOf(inner, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** Where an undocumented error was thrown: its name and stack frames, but not its text, which may quote an address. */
const traceOf = (error: unknown): Error => {
  const trace = new Error('undocumented');
  if (error instanceof Error) {
    const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
    trace.name = error.name;
    trace.stack = [error.name, ...frames].join('\n');
  }
  return trace;
};

/**
 * The failure of a request that got no answer. `peer` names whom we asked, without secrets (a host). `sent`: whether the
 * message left us, if the caller knows. The original error is not kept, because it may quote the address.
 * `names`: the keys that would mend the connection.
 */
export const networkFailure = (
  error: unknown,
  peer: string,
  sent?: boolean,
  names?: ConnectionNames,
): DeliveryError => {
  const code = networkCodeOf(error);
  const proxy = code === undefined ? undefined : proxyFault(code, names ?? { ca: 'ca' });
  if (code !== undefined && proxy !== undefined) {
    // It counts against the sender, never the receiver: nothing was sent, and the destination stays alive.
    const reason = isProxyRefusal(code) ? 'sender-misconfigured' : 'unavailable';
    return new DeliveryError(reason, proxy, { code, unreached: true });
  }
  const { reason, maybeDelivered, says, unreached } = MEANINGS.get(code ?? '') ?? UNDOCUMENTED;
  const remedy = code && names && remedyOf(code, names);
  const fault = code && remedy ? `${connectionFault(code)}: ${remedy}` : `${says} (${code ?? 'no code'})`;
  return new DeliveryError(reason, `${peer} ${fault}`, {
    code: code ?? 'unknown',
    maybeDelivered: sent ?? maybeDelivered,
    unreached,
    cause: code === undefined ? traceOf(error) : undefined,
  });
};

/** The failure of a request that its signal ended: our deadline passed, or we are stopping. */
export const stoppedWaiting = (signal: AbortSignal, peer: string, sent: boolean): DeliveryError => {
  const timedOut = signal.reason instanceof Error && signal.reason.name === 'TimeoutError';
  return networkFailure({ name: timedOut ? 'TimeoutError' : 'AbortError' }, peer, sent);
};
