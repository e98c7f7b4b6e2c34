/**
 * Calls of Slack's Web API, one request each, and what Slack's answers mean for a delivery. The client's own retries, waits
 * and logs are off.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  LogLevel,
  type WebAPICallResult,
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebClient,
  type WebClientOptions,
} from '@slack/web-api';
import { type Agent, request } from 'undici';
import { DeliveryError, type DeliveryReason, isPassing } from '../../errors.ts';
import { type ConnectionNames, statusText } from '../../net.ts';
import { explainedError, networkFailure, stoppedWaiting } from '../failures.ts';
import { type PostResponse, retryAfterMs } from '../http.ts';
import { hookMeaningOf, meaningOf, WORTHLESS_TOKEN } from './codes.ts';
import type { SlackConfig } from './config.ts';

/** Returns the fields of an `ok` answer; throws a `DeliveryError` otherwise. The signal limits its time. */
export type Call = (
  method: string,
  args: Record<string, unknown>,
  signal: AbortSignal,
) => Promise<Record<string, unknown>>;

interface CallSettings {
  token: string;
  agent: Agent;
  /** The keys of the config that would mend the connection. */
  names?: ConnectionNames | undefined;
  now(): number;
  /** Gets the scopes of the token, which Slack sends with its answers. */
  onScopes(scopes: readonly string[]): void;
}

/** The client logs whole requests and answers; our errors say what is needed. */
const SILENT: NonNullable<WebClientOptions['logger']> = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  setLevel: () => {},
  getLevel: () => LogLevel.ERROR,
  setName: () => {},
};

/** What the HTTP answer said; the client reports only a part of it. */
interface SeenAnswer {
  status: number;
  waitMs: number | undefined;
}

/** A call that is under way. */
interface Ongoing {
  signal: AbortSignal;
  seen?: SeenAnswer;
}

/** The client would write them as JSON, too, but it also copies and writes them for a log that nobody reads. */
const withoutObjects = (args: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, typeof value === 'object' ? JSON.stringify(value) : value]),
  );

/**
 * The client takes no signal for a call, but it takes a `fetch`, which finds the signal of its call. There we also see the
 * whole answer, of which the client reports only a part. No redirect is followed: the token would go to the host that it names.
 */
export const createCall = (
  { apiUrl }: Pick<SlackConfig, 'apiUrl'>,
  { token, agent, names, now, onScopes }: CallSettings,
): Call => {
  const peer = new URL(apiUrl).host;
  const calls = new AsyncLocalStorage<Ongoing>();

  const observedFetch: NonNullable<WebClientOptions['fetch']> = async (url, init) => {
    const ongoing = calls.getStore();
    if (ongoing === undefined) throw new Error('a request is part of a call');
    const {
      statusCode: status,
      headers,
      body,
    } = await request(url, {
      method: 'POST',
      headers: init?.headers ?? {},
      body: String(init?.body ?? ''),
      signal: ongoing.signal,
      dispatcher: agent,
    });
    const { 'x-oauth-scopes': scopes } = headers;
    const get = (name: string): string | null => [headers[name] ?? []].flat()[0] ?? null;
    ongoing.seen = { status, waitMs: retryAfterMs(headers['retry-after'], now()) };
    if (typeof scopes === 'string') onScopes(scopes.trim().split(/\s*,\s*/));
    const text = await body.text();
    return {
      ...{ ok: status >= 200 && status <= 299, status, statusText: '', url: String(url) },
      headers: { get, entries: () => [] },
      text: async () => text,
      json: async () => JSON.parse(text),
      arrayBuffer: async () => new TextEncoder().encode(text).buffer,
    };
  };

  const client = new WebClient(token, {
    slackApiUrl: apiUrl,
    allowAbsoluteUrls: false,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    // One that waited would be begun within the call that ended, with the signal of that one.
    maxRequestConcurrency: Number.POSITIVE_INFINITY,
    logger: SILENT,
    fetch: observedFetch,
  });

  return async (method, args, signal) => {
    if (signal.aborted) throw stoppedWaiting(signal, peer, false);
    const ongoing: Ongoing = { signal };
    try {
      return { ...(await calls.run(ongoing, () => client.apiCall(method, withoutObjects(args)))) };
    } catch (error) {
      throw signal.aborted ? stoppedWaiting(signal, peer, true) : apiFailure(error, peer, ongoing.seen, names);
    }
  };
};

export const isThreadRefusal = (error: unknown): boolean =>
  error instanceof DeliveryError && meaningOf(error.code)?.isOfThread === true;

/**
 * What a failed file means for its message. A token without `files:write`, or a channel that the bot may post to but is
 * not in, is no reason to give up on the token or the channel: the message goes without a file.
 */
export const fileFailure = (error: unknown, posted: boolean): unknown => {
  if (!(error instanceof DeliveryError)) return error;
  const { reason, code, retryAfterMs } = error;
  const passing = isPassing(error) || WORTHLESS_TOKEN.includes(code);
  const failure = { code, maybeDelivered: posted, retryAfterMs };
  return new DeliveryError(passing ? reason : 'bad-message', `Slack refused the file: ${error.message}`, failure);
};

interface Refusal extends WebAPICallResult {
  error: string;
  /** With `missing_scope`: the scope. */
  needed?: unknown;
}

/** Codes go into metrics and logs. A text that does not look like a code may be the page of a proxy. */
const codeOf = (text: unknown): string | undefined =>
  typeof text === 'string' && /^[a-z][a-z_]{1,60}$/.test(text.trim()) ? text.trim() : undefined;

const limited = (peer: string, waitMs: number | undefined): DeliveryError =>
  new DeliveryError('rate-limited', `${peer} answered 429`, { code: '429', retryAfterMs: waitMs });

/** The place in our blocks that Slack refused, or the scope that the token lacks; both are plain names. */
const detailOf = (data: Refusal): string => {
  const pointer = /json-pointer:(\/[\w/]{1,100})/.exec(data.response_metadata?.messages?.join(' ') ?? '')?.[1];
  const needed = typeof data.needed === 'string' && /^[\w:.,-]{1,100}$/.test(data.needed) ? data.needed : undefined;
  return `${pointer === undefined ? '' : ` at ${pointer}`}${needed === undefined ? '' : `, needs ${needed}`}`;
};

const platformFailure = (
  data: WebAPIPlatformError['data'],
  peer: string,
  waitMs: number | undefined,
): DeliveryError => {
  const code = codeOf(data.error);
  // The client reports a body that is no JSON as an error code: Slack may well have taken the message.
  if (code === undefined) {
    const failure = { code: 'unreadable', maybeDelivered: true };
    return new DeliveryError('unknown', `${peer} gave an unreadable answer`, failure);
  }
  const meaning = meaningOf(code) ?? { reason: 'unknown' };
  const said = `${peer} answered ${code}${detailOf(data)}`;
  const failure = { destination: 'the channel', said, code, retryAfterMs: waitMs ?? meaning.retryAfterMs };
  return explainedError(meaning, failure);
};

/** Slack's API itself answers 200 and 429. Other statuses come from a server in front of it, or from a wrong `apiUrl`. */
const apiStatusReason = (status: number): DeliveryReason => {
  if (status >= 500 || status === 408 || status === 425) return 'unavailable';
  return status < 400 || [401, 403, 404, 405, 407, 410].includes(status) ? 'sender-misconfigured' : 'unknown';
};

const apiFailure = (
  error: unknown,
  peer: string,
  seen: SeenAnswer | undefined,
  names?: ConnectionNames,
): DeliveryError => {
  if (seen?.status === 429) return limited(peer, seen.waitMs);
  if (error instanceof WebAPIPlatformError) return platformFailure(error.data, peer, seen?.waitMs);
  if (!(error instanceof WebAPIHTTPError)) return networkFailure(error, peer, undefined, names);
  const { statusCode } = error;
  return new DeliveryError(apiStatusReason(statusCode), `${peer} answered ${statusText(statusCode)}`, {
    code: String(statusCode),
    maybeDelivered: statusCode >= 500 && statusCode !== 503,
    retryAfterMs: seen?.waitMs,
  });
};

/** For a text without a documented code. An undocumented 403 or 404 may come from a proxy, so it is `unknown`. */
const hookStatusReason = (status: number): DeliveryReason => {
  if (status >= 500 || status === 408 || status === 425) return 'unavailable';
  if (status === 400 || status === 413) return 'bad-message';
  return status === 410 || status < 400 ? 'destination-dead' : 'unknown';
};

/** An incoming webhook that did not answer 2xx: a status, and a code as plain text. */
export const hookFailure = ({ status, text }: PostResponse, peer: string, waitMs?: number): DeliveryError => {
  if (status === 429) return limited(peer, waitMs);
  const word = codeOf(text);
  const { reason = hookStatusReason(status), explanation } = hookMeaningOf(word) ?? {};
  return explainedError(
    { reason, explanation, maybeDelivered: status >= 500 && status !== 503, retryAfterMs: waitMs },
    {
      destination: 'the channel',
      said: `${peer} answered ${statusText(status)}${word ? ` ${word}` : ''}`,
      code: hookMeaningOf(word) === undefined ? String(status) : `${word}`,
    },
  );
};
