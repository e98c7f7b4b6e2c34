/** Calls of Slack's Web API: one request each, without the client's own retries, waits and logs. */
import { LogLevel, WebClient, type WebClientOptions } from '@slack/web-api';
import { type Agent, fetch } from 'undici';
import { retryAfterMs } from '../http.ts';
import { stoppedWaiting } from '../network.ts';
import type { SlackConfig } from './config.ts';
import { apiFailure, type SeenAnswer } from './verdicts.ts';

type Logger = NonNullable<WebClientOptions['logger']>;
type FetchFunction = NonNullable<WebClientOptions['fetch']>;

/** Gives the fields of an answer that is `ok`; throws a `DeliveryError` for every other outcome. */
export type Call = (
  method: string,
  args: Record<string, unknown>,
  signal: AbortSignal,
) => Promise<Record<string, unknown>>;

export interface CallDependencies {
  token: string;
  agent: Agent;
  now(): number;
  /** What the token may do, as an answer tells it. */
  onScopes(scopes: readonly string[]): void;
}

/** The client logs whole requests and answers; what is worth a line is in our errors. */
const SILENT: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  setLevel: () => {},
  getLevel: () => LogLevel.ERROR,
  setName: () => {},
};

/**
 * Each call has a client of its own, because the client takes no signal for a call but takes a `fetch`; that is also
 * where the answer is seen of which the client tells only a part.
 */
export const createCall = (
  { apiUrl, timeout }: Pick<SlackConfig, 'apiUrl' | 'timeout'>,
  { token, agent, now, onScopes }: CallDependencies,
): Call => {
  const peer = new URL(apiUrl).host;
  return async (method, args, signal) => {
    if (signal.aborted) throw stoppedWaiting(signal, peer, false);
    let seen: SeenAnswer | undefined;
    const observedFetch: FetchFunction = async (url, init) => {
      const response = await fetch(url, {
        method: 'POST',
        headers: init?.headers ?? {},
        body: String(init?.body ?? ''),
        // Following one would hand the token to whoever it names.
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
      throw signal.aborted ? stoppedWaiting(signal, peer, true) : apiFailure(error, peer, seen);
    }
  };
};
