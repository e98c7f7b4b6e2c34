/**
 * Calls of Slack's Web API, one request each, and what Slack's answers mean for a delivery. The client's own retries, waits
 * and logs are off.
 */
import {
  LogLevel,
  type WebAPICallResult,
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebClient,
  type WebClientOptions,
} from '@slack/web-api';
import { type Agent, fetch } from 'undici';
import { DeliveryError, type DeliveryReason, isPassing } from '../../errors.ts';
import { type ConnectionNames, statusText } from '../../net.ts';
import { explainedError, networkFailure, stoppedWaiting } from '../failures.ts';
import { type PostResponse, retryAfterMs } from '../http.ts';
import { hookMeaningOf, meaningOf, WORTHLESS_TOKEN } from './codes.ts';
import type { SlackConfig } from './config.ts';

/** Returns the fields of an `ok` answer; throws a `DeliveryError` otherwise. */
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

/**
 * Each call has a client of its own: the client takes no signal for a call, but it takes a `fetch`. There we also see the
 * whole answer, of which the client reports only a part.
 */
export const createCall = (
  { apiUrl, timeout }: Pick<SlackConfig, 'apiUrl' | 'timeout'>,
  { token, agent, names, now, onScopes }: CallSettings,
): Call => {
  const peer = new URL(apiUrl).host;
  return async (method, args, signal) => {
    if (signal.aborted) throw stoppedWaiting(signal, peer, false);
    let seen: SeenAnswer | undefined;
    const observedFetch: NonNullable<WebClientOptions['fetch']> = async (url, init) => {
      const response = await fetch(url, {
        method: 'POST',
        headers: init?.headers ?? {},
        body: String(init?.body ?? ''),
        // Following a redirect would send the token to the host that it names.
        redirect: 'manual',
        signal: AbortSignal.any([signal, ...(init?.signal ? [init.signal] : [])]),
        dispatcher: agent,
      });
      seen = {
        status: response.status,
        waitMs: retryAfterMs(response.headers.get('retry-after') ?? undefined, now()),
      };
      const scopes = response.headers.get('x-oauth-scopes');
      if (scopes !== null) onScopes(scopes.trim().split(/\s*,\s*/));
      return response;
    };
    const client = new WebClient(token, {
      slackApiUrl: apiUrl,
      allowAbsoluteUrls: false,
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      timeout,
      logger: SILENT,
      fetch: observedFetch,
    });
    try {
      return { ...(await client.apiCall(method, args)) };
    } catch (error) {
      throw signal.aborted ? stoppedWaiting(signal, peer, true) : apiFailure(error, peer, seen, names);
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

/** What the HTTP answer said; the client reports only a part of it. */
interface SeenAnswer {
  status: number;
  waitMs: number | undefined;
}

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
