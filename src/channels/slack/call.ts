/** Calls of Slack's Web API: one request each. The client's own retries, waits and logs are off. */
import { LogLevel, WebClient, type WebClientOptions } from '@slack/web-api';
import { type Agent, fetch } from 'undici';
import type { ConnectionNames } from '../../connection-fault.ts';
import { retryAfterMs } from '../http.ts';
import { stoppedWaiting } from '../network.ts';
import type { SlackConfig } from './config.ts';
import { apiFailure, type SeenAnswer } from './verdicts.ts';

type Logger = NonNullable<WebClientOptions['logger']>;
type FetchFunction = NonNullable<WebClientOptions['fetch']>;

/** Returns the fields of an `ok` answer; throws a `DeliveryError` otherwise. */
export type Call = (
  method: string,
  args: Record<string, unknown>,
  signal: AbortSignal,
) => Promise<Record<string, unknown>>;

export interface CallDependencies {
  token: string;
  agent: Agent;
  /** The keys of the config that would mend the connection. */
  names?: ConnectionNames | undefined;
  now(): number;
  /** Gets the scopes of the token, which Slack sends with its answers. */
  onScopes(scopes: readonly string[]): void;
}

/** The client logs whole requests and answers; our errors say what is needed. */
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
 * Each call has a client of its own: the client takes no signal for a call, but it takes a `fetch`. There we also see the
 * whole answer, of which the client reports only a part.
 */
export const createCall = (
  { apiUrl, timeout }: Pick<SlackConfig, 'apiUrl' | 'timeout'>,
  { token, agent, names, now, onScopes }: CallDependencies,
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
        // Following a redirect would send the token to whatever host it names.
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
