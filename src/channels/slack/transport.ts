/** Slack: channels with the bot token, incoming webhooks through the guard. */
import { Agent } from 'undici';
import { type ConnectionTo, createConnections, settingsIn } from '../../connection/settings.ts';
import { createConnector } from '../../connection/tunnel.ts';
import { DeliveryError } from '../../errors.ts';
import { cleanLine, shorten } from '../../text.ts';
import { webLabel } from '../address.ts';
import type { Channel, CreateChannel } from '../channel.ts';
import { type GuardedPost, retryAfterMs } from '../http.ts';
import { isChannelName, isHook } from './address.ts';
import type { SlackBody } from './blocks.ts';
import { createBot, createFilePermits, createFiles, WITHOUT_PREVIEWS } from './bot.ts';
import { type Call, type CallDependencies, createCall, hookFailure } from './call.ts';
import { NO_TOKEN } from './codes.ts';
import type { SlackConfig } from './config.ts';
import { createSlackButtons } from './listen.ts';
import { composeSlack } from './message.ts';

const ANSWER_LIMIT_BYTES = 1024 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
const SECTION = 'channels.slack';

const noToken = (): DeliveryError =>
  new DeliveryError('sender-misconfigured', 'no bot token is configured for Slack channels', {
    code: 'no_token',
    explanation: NO_TOKEN,
  });

/** Presses come by the app's own connection. */
const buttonsOf = (
  config: SlackConfig,
  {
    call,
    post,
    connectionTo,
    ...dependencies
  }: Omit<CallDependencies, 'token'> & { call: Call; post: GuardedPost; connectionTo: ConnectionTo },
): Pick<Channel<SlackBody>, 'buttons'> => {
  const { appToken, botToken, apiUrl, timeout } = config;
  if (appToken === undefined || botToken === undefined) return {};
  const callApp = createCall(config, { ...dependencies, token: appToken.reveal() });
  const isPlain = new URL(apiUrl).protocol === 'http:';
  const { now } = dependencies;
  return { buttons: createSlackButtons({ callApp, call, post, connectionTo, isPlain, timeoutMs: timeout, now }) };
};

interface Hooks {
  post: GuardedPost;
  connectionTo: ConnectionTo;
  now(): number;
}

const sendToHook = async (url: string, body: SlackBody, signal: AbortSignal, { post, connectionTo, now }: Hooks) => {
  const { file: _file, ...content } = body;
  const response = await post({
    url,
    headers: { 'content-type': 'application/json', 'user-agent': 'tocsin' },
    body: JSON.stringify({ ...content, ...WITHOUT_PREVIEWS }),
    signal,
    connection: connectionTo(url),
  });
  if (response.status >= 200 && response.status < 300) return;
  throw hookFailure(response, webLabel(url), retryAfterMs(response.headers['retry-after'], now()));
};

const noThreads = (): DeliveryError =>
  new DeliveryError('bad-message', 'an incoming webhook cannot change a message', { code: 'not_amended' });

export const createSlackChannel: CreateChannel<SlackConfig> = (config, { post, now, proxyFor }): Channel<SlackBody> => {
  const settings = settingsIn(config);
  // Of incoming webhooks and of files the address comes from outside.
  const connectionTo = createConnections(settings, { section: SECTION }, proxyFor);
  const api = createConnections(settings, { section: SECTION, address: `${SECTION}.apiUrl` }, proxyFor)(config.apiUrl);
  const connector = createConnector(api, CONNECT_TIMEOUT_MS);
  const agent = new Agent({
    allowH2: false,
    connections: config.concurrency,
    maxResponseSize: ANSWER_LIMIT_BYTES,
    ...(connector && { connect: connector.connect }),
  });
  const permits = createFilePermits(now);
  const call: Call =
    config.botToken === undefined
      ? () => Promise.reject(noToken())
      : createCall(config, { token: config.botToken.reveal(), agent, names: api.names, now, onScopes: permits.learn });
  /** To an address that Slack named. */
  const postOutside: GuardedPost = (request) => post({ ...request, connection: connectionTo(request.url) });
  // Of the app's token the scopes say nothing about files.
  const shared = { agent, names: api.names, now, onScopes: () => {} };
  const bot = createBot({ call, files: createFiles(call, postOutside, config.timeout), permits });

  return {
    kind: 'slack',
    ...buttonsOf(config, { ...shared, call, post: postOutside, connectionTo }),
    compose: (parcel, context) => composeSlack(parcel, context, permits.may(parcel.destination.address)),
    send: async (message, signal) => {
      const { address } = message.destination;
      if (!isHook(address)) return bot.send(message, signal);
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(config.timeout)]);
      await sendToHook(address, message.body, deadline, { post, connectionTo, now });
      return {};
    },
    amend: async (handle, message, signal) => {
      if (isHook(message.destination.address)) throw noThreads();
      return bot.amend(handle, message, signal);
    },
    nameOf: async (address, signal) => {
      if (isHook(address) || isChannelName(address)) return undefined;
      // Source: docs.slack.dev/reference/methods/conversations.info
      const { channel } = await call('conversations.info', { channel: address }, signal);
      const name = typeof channel === 'object' && channel !== null && 'name' in channel ? channel.name : undefined;
      return typeof name === 'string' && name !== '' ? `#${name}` : undefined;
    },
    async verify(signal) {
      if (config.botToken === undefined) return 'has no bot token: only incoming webhooks can be sent to';
      const { user, team } = await call('auth.test', {}, signal);
      const who = `posts as ${user ?? 'an unnamed user'} in ${team ?? 'an unnamed workspace'}`;
      const lacking = permits.may('') ? '' : '; without the scope files:write, large digests come as several messages';
      return `${shorten(cleanLine(who), 200)}${lacking}`;
    },
    close: async () => {
      await agent.destroy();
      await connector?.close();
    },
  };
};
