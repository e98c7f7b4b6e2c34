/**
 * The errors of one service: what was asked, what came back, and never the key. The HTTP client's own error is not kept
 * as a cause, because it may quote the answer; its code is in the message.
 */
import { errors } from 'undici';
import { codeOf } from '../connection/tunnel.ts';
import { orUndefined, type ServiceBound, ServiceError, type ServiceReason } from '../errors.ts';
import { type ConnectionNames, connectionFault, type Deadline, proxyFault, remedyOf, statusText } from '../net.ts';
import { createScrubber, type Secret } from '../secret.ts';
import { cleanLine, shorten, unquoted } from '../text.ts';
import { headerOf, openBody, type Response } from './exchange.ts';

const MESSAGE_LIMIT = 200;
/** The same where we name what mends a connection, in our own words. */
const UNREACHABLE_LIMIT = 300;
const PROTOCOL_LIMIT = 60;

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
  const of = protocol === undefined ? '' : ` of "${unquoted(shorten(cleanLine(protocol), PROTOCOL_LIMIT))}"`;
  return `${service}: ${method} ${endpoint}${of}`;
};

/** Makes the errors of one service; `service` is the name of its entry in the config. */
export const createFailer = (service: string, apiKey: Secret): ((label: RequestLabel) => Fail) => {
  const scrub = createScrubber([apiKey.reveal()]);
  return (label) => (reason, text, details) => {
    const message = scrub(`${describeRequest(service, label)}: ${cleanLine(text)}`);
    const limit = reason === 'unreachable' ? UNREACHABLE_LIMIT : MESSAGE_LIMIT;
    return new ServiceError(reason, shorten(message, limit), details);
  };
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

/** The beginning of a body that is searched, in UTF-16 units. */
export const EXCERPT_SOURCE_LIMIT = 16_384;

const MESSAGE_KEYS = ['message', 'error', 'detail', 'errors', 'title', 'reason', 'description'] as const;
const MAX_DEPTH = 4;

/** The first text that reads like a message, wherever the service put it: error bodies have no documented shape. */
const findMessage = (value: unknown, depth = 0): string | undefined => {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return undefined;
  const inner: unknown[] = Array.isArray(value)
    ? value
    : MESSAGE_KEYS.map((key) => (Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined));
  for (const part of inner) {
    const found = findMessage(part, depth + 1);
    if (found !== undefined && found.trim() !== '') return found;
  }
  return undefined;
};

const htmlText = (html: string): string => {
  const title = /<(?:title|h1)\b[^<>]*>([^<]+)</i.exec(html)?.[1] ?? '';
  return title.trim() === '' ? html.replace(/<[^<>]*>/g, ' ') : title;
};

/** Undefined where it is no JSON. */
export const jsonOf = (body: string): unknown => orUndefined<unknown>(() => JSON.parse(body));

/**
 * What a body says, in one line: a JSON message, an HTML title, or its text. May be empty. Not shortened, but only the
 * beginning of a large body is searched.
 */
export const excerptOf = (body: string): string => {
  const start = body.slice(0, EXCERPT_SOURCE_LIMIT);
  const json = jsonOf(start);
  if (json !== undefined) return cleanLine(findMessage(json) ?? start);
  return cleanLine(/^\s*</.test(start) ? htmlText(start) : start);
};

/** What many answers of one second say alike. */
let lastDate: { header: string; ms: number } = { header: '', ms: Number.NaN };

/** Milliseconds of an HTTP date, or `undefined`. */
export const httpDateMs = (header = ''): number | undefined => {
  if (header !== lastDate.header) lastDate = { header, ms: Date.parse(header) };
  return Number.isNaN(lastDate.ms) ? undefined : lastDate.ms;
};

/**
 * `Retry-After` in milliseconds from now: seconds or an HTTP date (RFC 9110, 10.2.3). A date is compared with the
 * service's own clock (`serverTimeMs`), so that a skew between the two machines does not lengthen or hide the wait.
 */
const retryAfterMs = (header: string | undefined, serverTimeMs: number): number | undefined => {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  // Only text with a month's name is a date: the runtime would make one of "-5" or "1.2.3" as well.
  const at = /[a-z]{3}/i.test(text) ? httpDateMs(text) : undefined;
  return at === undefined ? undefined : Math.max(0, at - serverTimeMs);
};

/** The reasons of `ServiceError`, by HTTP status. */
const reasonOf = (status: number): ServiceReason => {
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 404 || status === 410) return 'missing';
  if (status === 429) return 'limited';
  return status >= 500 ? 'failed' : 'rejected';
};

/** Where a redirect points to, by host only: its path and query may carry secrets. */
const describeRedirect = (location: string | undefined, base: string): string => {
  if (location === undefined) return 'a redirect that names no address';
  const host = URL.canParse(location, base) ? new URL(location, base).host : 'an unreadable address';
  return `a redirect to ${host} is not followed`;
};

/** The beginning of the body. The status matters, so a body that breaks off is no failure by itself. */
const readStart = async (response: Response): Promise<string> => {
  let text = '';
  try {
    for await (const chunk of openBody(response)?.setEncoding('utf8') ?? []) {
      text += chunk;
      if (text.length >= EXCERPT_SOURCE_LIMIT) break;
    }
  } catch {
    return text;
  }
  return text;
};

/** The wait that an answer names, in milliseconds; none for a redirect. `now` stands in where it has no `Date`. */
export const statedWaitMs = (response: Response, now: number): number | undefined => {
  if (response.statusCode < 400) return undefined;
  return retryAfterMs(headerOf(response, 'retry-after'), httpDateMs(headerOf(response, 'date')) ?? now);
};

/** The error of an answer that refuses. `now` as for `statedWaitMs`; `base` resolves a redirect. */
export const refusal = async (response: Response, now: number, base: string, fail: Fail): Promise<ServiceError> => {
  const { statusCode: status } = response;
  const wait = statedWaitMs(response, now);
  const excerpt = excerptOf(await readStart(response));
  if (status < 400) {
    return fail('rejected', `${status}: ${describeRedirect(headerOf(response, 'location'), base)}`, { status });
  }
  const details = wait === undefined ? { status } : { status, retryAfterMs: wait };
  return fail(reasonOf(status), excerpt === '' ? statusText(status) : `${status}: ${excerpt}`, details);
};
