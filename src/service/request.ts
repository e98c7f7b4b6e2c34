/** The transport to the monitoring service: one HTTP request a call, bounded in time and size, never repeated or redirected. */
import { Readable } from 'node:stream';
import { Pool } from 'undici';
import type { JsonValue } from '../alert.ts';
import type { ConnectionSettings } from '../connection/settings.ts';
import { createConnector } from '../connection/tunnel.ts';
import { type ServiceBound, ServiceError, UsageError } from '../errors.ts';
import { startTimeLimit } from '../net.ts';
import type { Secret } from '../secret.ts';
import { version } from '../version.ts';
import {
  ACCEPTED_ENCODINGS,
  type BodyStart,
  decodeText,
  encodingOf,
  exchange,
  headerOf,
  MOST_VALUES,
  openBody,
  type Response,
  readBody,
  tooManyValuesAt,
} from './exchange.ts';
import {
  classify,
  createFailer,
  excerptOf,
  type Fail,
  httpDateMs,
  jsonOf,
  type RequestLabel,
  refusal,
  statedWaitMs,
} from './failure.ts';

/** A longer wait is taken for a mistake of the service: it is asked again after this time. */
const LONGEST_HOLD_MS = 24 * 3_600_000;

/** A wait that the service named holds for every request of its key, not only for the refused one. */
export const createHold = (monotonic: () => number) => {
  let endsAt = Number.NEGATIVE_INFINITY;
  return {
    /** Notes the wait that an answer named, in milliseconds; absent: none. */
    observe: (waitMs: number | undefined): void => {
      if (waitMs !== undefined) endsAt = Math.max(endsAt, monotonic() + Math.min(waitMs, LONGEST_HOLD_MS));
    },
    leftMs: (): number => Math.max(0, Math.ceil(endsAt - monotonic())),
  };
};

export interface TransportSettings {
  service: {
    /** Name of the `services` entry, for error messages. */
    name: string;
    /** Absolute; a path is kept, a trailing slash makes no difference. */
    baseUrl: string;
    apiKey: Secret;
    /** Milliseconds for one request, from waiting for a connection to the last byte of the answer. */
    timeout: number;
  };
  connection?: ConnectionSettings;
  /** Connections at most; further requests wait, within their own timeout. Default 20. */
  connections?: number;
  /** Largest answer that is read, in bytes after decompression. Default 20 MB. */
  maxBodyBytes?: number;
  /** Default: the process' own clocks. */
  now?(): number;
  monotonic?(): number;
}

const DEFAULT_CONNECTIONS = 20;
const DEFAULT_MAX_BODY_BYTES = 20_000_000;

interface ServiceRequest extends RequestLabel {
  /** Below the base URL, encoded, with its query. */
  path: string;
  body?: object;
}

/** What a decoder makes of an answer, or why it cannot. */
export type Reading<T> = { ok: true; value: T } | { ok: false; problem: string; bound?: ServiceBound };

/** `serverTime`: the answer's `Date` header in epoch milliseconds, where there is one. */
export type Decode<T> = (json: JsonValue, serverTime: number | undefined) => Reading<T>;

/** Why an answer is not read, and the beginning of it that is within the bound. */
export interface Excess {
  start: string;
  problem: string;
  bound: ServiceBound;
}

/** What can be made of an answer that is too large; undefined: nothing. */
export type Salvage<T> = (excess: Excess) => T | undefined;

const excessOf = ({ text, isWhole }: BodyStart, maxBytes: number): Excess | undefined => {
  if (!isWhole) return { start: text, problem: `larger than ${maxBytes} bytes`, bound: 'answer-bytes' };
  const at = tooManyValuesAt(text);
  if (at === undefined) return undefined;
  return { start: text.slice(0, at), problem: `more than ${MOST_VALUES} values`, bound: 'answer-values' };
};

/** The content decides, not the content type. */
const readJson = (text: string, status: number, fail: Fail): JsonValue => {
  const json = jsonOf(text);
  if (typeof json === 'object' && json !== null) return json as JsonValue;
  const what = text.trim() === '' ? 'an empty body' : `no JSON object or array: ${excerptOf(text)}`;
  throw fail('unreadable', `${status} with ${what}`, { status });
};

const requestHeaders = (name: string, apiKey: Secret): Record<string, string> => {
  const key = apiKey.reveal();
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new UsageError(`the API key of service "${name}" is empty or holds characters that no header can carry`);
  return {
    authorization: `Bearer ${key}`,
    accept: 'application/json',
    'accept-encoding': ACCEPTED_ENCODINGS,
    'user-agent': `tocsin/${version}`,
  };
};

const createPool = (origin: string, connections: number, timeoutMs: number, connection: ConnectionSettings) => {
  const connector = createConnector(connection, timeoutMs);
  const pool = new Pool(origin, {
    connections,
    allowH2: false,
    // The deadline bounds a request; a connection attempt goes on without its request and needs a bound of its own.
    connect: connector?.connect ?? { timeout: timeoutMs },
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const close = async (): Promise<void> => {
    await pool.close();
    await connector?.close();
  };
  return { pool, close };
};

const textOf = async (response: Response, maxBytes: number, fail: Fail): Promise<BodyStart> => {
  if (Buffer.isBuffer(response.body)) return { text: decodeText(response.body), isWhole: true };
  const { statusCode: status } = response;
  const body = openBody(response);
  if (body === undefined)
    throw fail('unreadable', `${status} in an encoding that is not known: ${encodingOf(response)}`, { status });
  return readBody(body, maxBytes);
};

/** Opens no connection yet. Throws a `UsageError` where the key cannot be sent. */
export const createTransport = (settings: TransportSettings) => {
  const { name, apiKey, timeout: timeoutMs } = settings.service;
  const { connection = {}, connections = DEFAULT_CONNECTIONS, maxBodyBytes = DEFAULT_MAX_BODY_BYTES } = settings;
  const { now = Date.now, monotonic = () => performance.now() } = settings;
  const base = new URL(settings.service.baseUrl);
  const prefix = base.pathname.replace(/\/+$/, '');
  const headers = requestHeaders(name, apiKey);
  const failer = createFailer(name, apiKey);
  const { pool, close } = createPool(base.origin, connections, timeoutMs, connection);
  const hold = createHold(monotonic);
  let closing: Promise<void> | undefined;

  const send = ({ method, path, body }: ServiceRequest) => {
    const request = { method, path: `${prefix}${path}`, headers };
    if (body === undefined) return exchange(pool, request, maxBodyBytes);
    const withType = { ...headers, 'content-type': 'application/json' };
    return exchange(pool, { ...request, headers: withType, body: JSON.stringify(body) }, maxBodyBytes);
  };

  /** Decodes an answer. Throws what `fail` makes of one that cannot be used. */
  const read = async <T>(
    response: Response,
    decode: Decode<T>,
    salvage: Salvage<T> | undefined,
    fail: Fail,
  ): Promise<T> => {
    const { statusCode: status } = response;
    if (status < 200 || status > 299) {
      // Before the body, which may never end: until then the others would go on asking.
      hold.observe(statedWaitMs(response, now()));
      throw await refusal(response, now(), base.href, fail);
    }
    const body = await textOf(response, maxBodyBytes, fail);
    const excess = excessOf(body, maxBodyBytes);
    if (excess !== undefined) {
      const salvaged = salvage?.(excess);
      if (salvaged !== undefined) return salvaged;
      const { bound, problem } = excess;
      const what = bound === 'answer-bytes' ? 'the answer is too large' : `the answer has ${problem}`;
      throw fail('unreadable', what, { status, bound });
    }
    const json = readJson(body.text, status, fail);
    const reading = decode(json, httpDateMs(headerOf(response, 'date')));
    if (reading.ok) return reading.value;
    const { problem, bound } = reading;
    throw fail('unreadable', `${status}, but ${problem}`, { status, ...(bound === undefined ? {} : { bound }) });
  };

  return {
    /** Throws a `ServiceError` for every answer that cannot be used. */
    ask: async <T>(
      request: ServiceRequest,
      decode: Decode<T>,
      signal: AbortSignal,
      salvage?: Salvage<T>,
    ): Promise<T> => {
      const fail = failer(request);
      if (signal.aborted) throw fail('aborted', 'stopped by the caller');
      const retryAfterMs = hold.leftMs();
      if (retryAfterMs > 0)
        throw fail('held', `not asked: the service named a wait of ${retryAfterMs} ms more`, { retryAfterMs });
      const sent = send(request);
      const deadline = startTimeLimit(signal, timeoutMs, sent.abort);
      let response: Response | undefined;
      try {
        response = await sent.response;
        return await read(response, decode, salvage, fail);
      } catch (error) {
        if (error instanceof ServiceError && deadline.ended() !== 'aborted') throw error;
        throw fail(...classify(error, deadline, timeoutMs, connection.names));
      } finally {
        deadline.end();
        // What was not read to its end would keep its connection.
        if (response?.body instanceof Readable) response.body.destroy();
      }
    },
    /** Milliseconds until the wait that the service named is over; 0 where there is none. Until then nothing is asked. */
    heldForMs: hold.leftMs,
    /** Takes no new request and lets those in flight end, each within its own deadline. Idempotent. */
    close: (): Promise<void> => {
      closing ??= close();
      return closing;
    },
  };
};

export type Transport = ReturnType<typeof createTransport>;
