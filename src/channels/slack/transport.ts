/** Slack: to channels with the bot token, to incoming webhooks through the guard. */
import { LogLevel, WebClient, type WebClientOptions } from '@slack/web-api';
import { Agent, fetch } from 'undici';
import type { ChannelEntry } from '../../alert.ts';
import { DeliveryError } from '../../errors.ts';
import { quoteContact, webAddress, webLabel } from '../address.ts';
import type { Addresses, Channel, ChannelDependencies, ChannelModule, Receipt } from '../channel.ts';
import { type GuardedPost, retryAfterMs } from '../http.ts';
import { stoppedWaiting } from '../network.ts';
import { cleanLine, shorten } from '../text.ts';
import type { SlackConfig } from './config.ts';
import { composeSlack, type SlackBody } from './message.ts';
import { apiFailure, hookFailure, type SeenAnswer } from './verdicts.ts';

type Logger = NonNullable<WebClientOptions['logger']>;
type FetchFunction = NonNullable<WebClientOptions['fetch']>;
type Call = (method: string, args: Record<string, unknown>, signal: AbortSignal) => Promise<Record<string, unknown>>;

const ANSWER_LIMIT_BYTES = 1024 * 1024;

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

/** No previews of what a message links to, and no reading of names into it. */
const AS_WRITTEN = { unfurl_links: false, unfurl_media: false, parse: 'none', link_names: false };

/**
 * Calls of the Web API. Each call has a client of its own, because the client takes no signal for a call but takes a
 * `fetch`; that is also where the answer is seen of which the client tells only a part.
 */
const createCall = ({ apiUrl, timeout }: SlackConfig, token: string, agent: Agent, now: () => number): Call => {
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

const noToken = (): DeliveryError =>
  new DeliveryError('sender-misconfigured', 'no bot token is configured for Slack channels', { code: 'no_token' });

const sendToHook = async (post: GuardedPost, url: string, body: SlackBody, signal: AbortSignal, now: () => number) => {
  const response = await post({
    url,
    headers: { 'content-type': 'application/json', 'user-agent': 'tocsin' },
    body: JSON.stringify({ ...body, ...AS_WRITTEN }),
    signal,
  });
  if (response.status >= 200 && response.status < 300) return;
  throw hookFailure(response, webLabel(url), retryAfterMs(response.headers['retry-after'], now()));
};

const create = (config: SlackConfig, { post, now }: ChannelDependencies): Channel<SlackBody> => {
  const agent = new Agent({ allowH2: false, connections: config.concurrency, maxResponseSize: ANSWER_LIMIT_BYTES });
  const call: Call =
    config.botToken === undefined
      ? () => Promise.reject(noToken())
      : createCall(config, config.botToken.reveal(), agent, now);

  const send = async (address: string, body: SlackBody, signal: AbortSignal): Promise<Receipt> => {
    if (webAddress(address) !== undefined) {
      await sendToHook(post, address, body, AbortSignal.any([signal, AbortSignal.timeout(config.timeout)]), now);
      return {};
    }
    const { ts } = await call('chat.postMessage', { channel: address, ...body, ...AS_WRITTEN }, signal);
    return typeof ts === 'string' ? { providerId: ts } : {};
  };

  return {
    kind: 'slack',
    compose: composeSlack,
    send: ({ destination, body }, signal) => send(destination.address, body, signal),
    async verify(signal) {
      if (config.botToken === undefined) return 'has no bot token: only incoming webhooks can be sent to';
      const { user, team } = await call('auth.test', {}, signal);
      return shorten(cleanLine(`posts as ${user ?? 'an unnamed user'} in ${team ?? 'an unnamed workspace'}`), 200);
    },
    close: () => agent.destroy(),
  };
};

/**
 * Channels by id (public, private, direct), or by name with or without `#`, but no token that was pasted by mistake.
 * Source: docs.slack.dev, "Conversations API".
 */
const CHANNEL_ID = /^[CGD][A-Z0-9]{7,20}$/;
const CHANNEL_NAME = /^#?((?!xox[a-z]-)[\p{Ll}\p{Lo}\p{Lm}\p{M}\p{N}_-]{1,80})$/u;

const channelOf = (text: string): string | undefined => {
  const contact = text.trim();
  if (CHANNEL_ID.test(contact)) return contact;
  const name = CHANNEL_NAME.exec(contact)?.[1];
  return name === undefined ? undefined : `#${name}`;
};

const addressesOf = ({ contacts = [], url = '' }: ChannelEntry): Addresses => {
  const channels = contacts.filter((text) => text.trim() !== '');
  const hooks = [url].filter((text) => text.trim() !== '');
  if (channels.length + hooks.length === 0) {
    return { addresses: [], problems: ['the slack entry has nothing to send to'] };
  }
  const found = [...channels.map(channelOf), ...hooks.map(webAddress)].filter((address) => address !== undefined);
  const noChannel = channels.filter((text) => channelOf(text) === undefined);
  const noHook = hooks.filter((text) => webAddress(text) === undefined);
  return {
    addresses: [...new Set(found)],
    problems: [
      ...noChannel.map((text) => `the slack contact ${quoteContact(text)} is no channel id (C...) or name (#name)`),
      ...noHook.map((text) => `the slack url ${quoteContact(text)} is no http or https URL`),
    ],
  };
};

const labelOf = (address: string): string => (webAddress(address) === undefined ? address : webLabel(address));

/** Slack, one Block Kit message for each alert. */
export const slack: ChannelModule<SlackConfig> = { kind: 'slack', addressesOf, labelOf, create };
