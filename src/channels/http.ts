/** POST to addresses from outside: resolves, checks every address, dials only what it checked, follows no redirect. */
import { Agent, type Dispatcher } from 'undici';
import { createBoundedMap, getOrCreate } from '../bounded-map.ts';
import type { ConnectionSettings } from '../connection/settings.ts';
import { DeliveryError } from '../errors.ts';
import { hostKey } from '../net.ts';
import { networkFailure, stoppedWaiting } from './failures.ts';
import {
  blocked,
  createDialer,
  createGuard,
  type DialOptions,
  type Guard,
  type GuardOptions,
  judgeHost,
} from './guard.ts';
import { createResolver, type Resolve } from './resolver.ts';

export interface PostRequest {
  url: string;
  /** Default: POST. A GET has no body. */
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH';
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
  /** Certificates and proxy. Connections are kept for each object, so pass the same object every time. Default: none. */
  connection?: ConnectionSettings;
}

export interface PostResponse {
  status: number;
  /** Lower-cased names; what was sent several times is a list. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** At most 16 KiB of the answer, decoded as UTF-8. */
  text: string;
}

/** Resolves for every HTTP status; throws a `DeliveryError` if there was no answer or the guard refused. */
export type GuardedPost = (request: PostRequest) => Promise<PostResponse>;

export interface GuardedPostOptions extends GuardOptions, Omit<DialOptions, 'guard' | 'resolve'> {
  /** Default: a resolver of its own. */
  resolve?: Resolve;
  /** To one origin. Default 50. */
  connections?: number;
}

const TEXT_LIMIT_BYTES = 16 * 1024;
/** Bounds an answer that arrives faster than we can stop it. */
const ANSWER_LIMIT_BYTES = 4 * TEXT_LIMIT_BYTES;
/** Callers set their deadline by signal; this only frees a socket that nobody is waiting for. */
const IDLE_LIMIT_MS = 120_000;

/** URLs that a process remembers to be allowed. */
const MOST_TARGETS = 1000;

const targetOf = (text: string, guard: Guard): URL => {
  const url = URL.parse(text);
  if (url === null) throw blocked('An address', 'is not a URL');
  const refusal = guard.refuseUrl(url);
  if (refusal !== undefined) throw blocked(url.hostname, refusal);
  return url;
};

/**
 * One request and its answer. The status decides the outcome: if the body then breaks off, stalls or never ends, only
 * the answer's text is lost.
 */
const exchange = (
  agent: Agent,
  url: URL,
  { method = 'POST', headers, body, signal, connection }: PostRequest,
): Promise<PostResponse> =>
  new Promise((resolve, reject) => {
    let request: Dispatcher.DispatchController | undefined;
    let answer: Omit<PostResponse, 'text'> | undefined;
    const chunks: Buffer[] = [];
    let sizeBytes = 0;

    const finish = (failure: () => DeliveryError): void => {
      signal.removeEventListener('abort', stop);
      if (!answer) reject(failure());
      else resolve({ ...answer, text: Buffer.concat(chunks).subarray(0, TEXT_LIMIT_BYTES).toString('utf8') });
    };
    const stop = (): void => {
      finish(() => stoppedWaiting(signal, url.hostname, request !== undefined));
      request?.abort(new Error('stopped'));
    };
    const fail = (error: unknown): void =>
      finish(() =>
        error instanceof DeliveryError
          ? error
          : networkFailure(error, url.hostname, request !== undefined, connection?.names),
      );

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(controller) {
        // Aborted while it waited for a connection: it must not be sent any more.
        if (signal.aborted) return controller.abort(new Error('stopped'));
        request = controller;
      },
      onResponseStart(_controller, status, responseHeaders) {
        if (status >= 200) answer = { status, headers: responseHeaders };
      },
      onResponseData(controller, chunk) {
        chunks.push(chunk);
        sizeBytes += chunk.length;
        if (sizeBytes >= TEXT_LIMIT_BYTES) controller.abort(new Error('enough'));
      },
      onResponseEnd: () => fail(undefined),
      onResponseError: (_controller, error) => fail(error),
    };

    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    try {
      const path = `${url.pathname}${url.search}`;
      agent.dispatch({ origin: url.origin, path, method, headers, body: method === 'GET' ? null : body }, handler);
    } catch (error) {
      fail(error);
    }
  });

const LONGEST_WAIT_MS = 3_600_000;

/** RFC 9110 section 5.6.7: the current form and the two old ones, of which asctime's names no zone and means GMT. */
const httpDate = (text: string): number =>
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) : Number.NaN;

/** `Retry-After` as milliseconds from `nowMs`: seconds or an HTTP date, from 0 to one hour; undefined for anything else. */
export const retryAfterMs = (header: string | string[] | undefined, nowMs: number): number | undefined => {
  const text = String(header ?? '').trim();
  const waitMs = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : httpDate(text) - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.ceil(Math.min(Math.max(waitMs, 0), LONGEST_WAIT_MS));
};

/** A POST that reaches public addresses only, over kept connections. Throws if `allowNetworks` is malformed. */
export const createGuardedPost = (options: GuardedPostOptions) => {
  const dial: DialOptions = { resolve: createResolver(), ...options, guard: createGuard(options) };
  const { guard } = dial;
  const targets = createBoundedMap<string, URL>(MOST_TARGETS);
  const opened = new Map<ConnectionSettings | undefined, { agent: Agent; close(): Promise<unknown> }>();
  let closed = false;

  const open = (settings: ConnectionSettings | undefined) => {
    const dialer = createDialer(dial, settings);
    const agent = new Agent({
      connect: dialer.connect,
      connections: options.connections ?? 50,
      allowH2: false,
      maxResponseSize: ANSWER_LIMIT_BYTES,
      headersTimeout: IDLE_LIMIT_MS,
      bodyTimeout: IDLE_LIMIT_MS,
    });
    const one = { agent, close: () => Promise.all([agent.destroy(), dialer.close()]) };
    opened.set(settings, one);
    return one;
  };

  return {
    post: async (request: PostRequest): Promise<PostResponse> => {
      const url = getOrCreate(targets, request.url, () => targetOf(request.url, guard));
      if (closed) throw networkFailure({ code: 'UND_ERR_CLOSED' }, url.hostname, false);
      return exchange((opened.get(request.connection) ?? open(request.connection)).agent, url, request);
    },
    /** Sends nothing; throws the `DeliveryError` that sending to this URL would meet. A name that does not resolve passes. */
    judge: async (url: string): Promise<void> => judgeHost(dial, hostKey(targetOf(url, guard).hostname)),
    close: async (): Promise<void> => {
      closed = true;
      await Promise.all([...opened.values()].map(({ close }) => close()));
    },
  };
};
