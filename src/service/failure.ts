/**
 * The errors of one service: what was asked, what came back, and never the key. The HTTP client's own error is not kept
 * as a cause, because it may quote the answer; its code is in the message.
 */
import { errors } from 'undici';
import { type ConnectionNames, connectionFault, proxyFault, remedyOf } from '../connection-fault.ts';
import type { Deadline } from '../deadline.ts';
import { type ServiceBound, ServiceError, type ServiceReason } from '../errors.ts';
import { createScrubber, type Secret } from '../secret.ts';
import { cleanLine, shorten } from '../text.ts';

/** Longest message, in UTF-16 units. */
const MESSAGE_LIMIT = 200;
/** The same where we name what mends a connection, in our own words. */
const UNREACHABLE_LIMIT = 300;
const PROTOCOL_LIMIT = 60;

/** What an error says of the request it belongs to. */
export interface RequestLabel {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  /** What is asked for, e.g. `inspections/stats`. */
  endpoint: string;
  /** Name or id of the protocol it is asked of. */
  protocol?: string;
}

export type Fail = (
  reason: ServiceReason,
  text: string,
  details?: { status?: number; retryAfterMs?: number; bound?: ServiceBound },
) => ServiceError;

const describeRequest = (service: string, { method, endpoint, protocol }: RequestLabel): string => {
  const of = protocol === undefined ? '' : ` of "${shorten(cleanLine(protocol), PROTOCOL_LIMIT)}"`;
  return `${service}: ${method} ${endpoint}${of}`;
};

/** Makes the errors of one service; `service` is the name of its entry in the config. */
export const createFailer = (service: string, apiKey: Secret): ((label: RequestLabel) => Fail) => {
  const scrub = createScrubber([apiKey.reveal()]);
  return (label) => (reason, text, details) => {
    const message = scrub(`${describeRequest(service, label)}: ${cleanLine(text)}`);
    return new ServiceError(
      reason,
      shorten(message, reason === 'unreachable' ? UNREACHABLE_LIMIT : MESSAGE_LIMIT),
      details,
    );
  };
};

/** undici's code, an errno, a TLS code, or the error's class. */
const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  const code: unknown = Reflect.get(error, 'code');
  return typeof code === 'string' ? code : error.name;
};

/** What the codes of zlib's and brotli's own errors begin with. */
const DECOMPRESSION = /^(Z_|ERR__)/;

/** What went wrong below HTTP. Source: the error classes in undici's documentation. */
export const classify = (
  error: unknown,
  deadline: Deadline,
  timeoutMs: number,
  names: ConnectionNames = { ca: 'ca' },
): [ServiceReason, string] => {
  if (deadline.ended() === 'aborted') return ['aborted', 'stopped by the caller'];
  if (deadline.ended() === 'expired') return ['unreachable', `no complete answer within ${timeoutMs} ms`];
  if (error instanceof errors.ClientClosedError || error instanceof errors.ClientDestroyedError)
    return ['aborted', 'the client is closed'];
  if (error instanceof errors.HeadersOverflowError) return ['unreadable', "the answer's headers are too large"];
  if (error instanceof errors.HTTPParserError) return ['unreadable', `the answer is not HTTP (${codeOf(error)})`];
  if (DECOMPRESSION.test(codeOf(error))) return ['unreadable', `the answer cannot be decompressed (${codeOf(error)})`];
  const code = codeOf(error);
  const proxy = proxyFault(code, names);
  if (proxy !== undefined) return ['unreachable', `no answer: ${proxy}`];
  const fault = connectionFault(code);
  if (fault === undefined) return ['unreachable', `no answer (${code})`];
  const remedy = remedyOf(code, names);
  return ['unreachable', `no answer: the server ${fault}${remedy === undefined ? '' : `: ${remedy}`}`];
};
