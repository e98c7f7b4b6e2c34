/** Slack: channels with the bot token, incoming webhooks through the guard. */
import { createConnections, settingsIn } from '../../connection/settings.ts';
import { createAgent } from '../../connection/tunnel.ts';
import { DeliveryError } from '../../errors.ts';
import type { Secret } from '../../secret.ts';
import { cleanLine, shorten } from '../../text.ts';
import { webLabel } from '../address.ts';
import type { Channel, ChannelDependencies, CreateChannel } from '../channel.ts';
import { objectIn, textIn } from '../content/foreign.ts';
import { type GuardedPost, retryAfterMs } from '../http.ts';
import { isChannelName, isHook } from './address.ts';
import type { SlackBody } from './blocks.ts';
import { createBot, createFilePermits, createFiles, WITHOUT_PREVIEWS } from './bot.ts';
import { type Call, createCall, hookFailure } from './call.ts';
import { NO_TOKEN } from './codes.ts';
import type { SlackConfig } from './config.ts';
import { createSlackButtons } from './listen.ts';
import { composeSlack } from './message.ts';

const ANSWER_LIMIT_BYTES = 1024 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
const SECTION = 'channels.slack';

/** Where no bot token is configured. */
const refuseCall: Call = async () => {
  const failure = { code: 'no_token', explanation: NO_TOKEN };
  throw new DeliveryError('sender-misconfigured', 'no bot token is configured for Slack channels', failure);
};

/** `post`: through the operator's connection for that URL. */
const sendToHook = async (
  url: string,
  { file: _file, ...content }: SlackBody,
  signal: AbortSignal,
  { post, now }: Pick<ChannelDependencies, 'post' | 'now'>,
): Promise<void> => {
  const headers = { 'content-type': 'application/json', 'user-agent': 'tocsin' };
  const response = await post({ url, headers, body: JSON.stringify({ ...content, ...WITHOUT_PREVIEWS }), signal });
  if (response.status >= 200 && response.status < 300) return;
  throw hookFailure(response, webLabel(url), retryAfterMs(response.headers['retry-after'], now()));
};

export const createSlackChannel: CreateChannel<SlackConfig> = (config, { post, now, proxyFor }): Channel<SlackBody> => {
  const settings = settingsIn(config);
  // Of incoming webhooks and of files the address comes from outside.
  const connectionTo = createConnections(settings, { section: SECTION }, proxyFor);
  const api = createConnections(settings, { section: SECTION, address: `${SECTION}.apiUrl` }, proxyFor)(config.apiUrl);
  const limits = { connections: config.concurrency, maxResponseSize: ANSWER_LIMIT_BYTES };
  const { agent, close } = createAgent(api, CONNECT_TIMEOUT_MS, limits);
  const permits = createFilePermits(now);
  const { appToken, botToken, timeout } = config;
  const callWith = (token: Secret, onScopes: (scopes: readonly string[]) => void): Call =>
    createCall(config, { token: token.reveal(), agent, names: api.names, now, onScopes });
  const call = botToken === undefined ? refuseCall : callWith(botToken, permits.learn);
  /** To an incoming webhook, or to an address that Slack named. */
  const postOutside: GuardedPost = (request) => post({ ...request, connection: connectionTo(request.url) });
  const bot = createBot(call, createFiles(call, postOutside, timeout), permits);
  // Of the app's token the scopes say nothing about files.
  const callApp = appToken && botToken && callWith(appToken, () => {});
  const buttons = callApp && createSlackButtons(config, { callApp, call, post: postOutside, connectionTo }, now);

  return {
    kind: 'slack',
    ...(buttons === undefined ? {} : { buttons }),
    givesHandle: (address) => !isHook(address),
    compose: (parcel, context) => composeSlack(parcel, context, permits.may(parcel.destination.address)),
    send: async (message, signal) => {
      const { address } = message.destination;
      if (!isHook(address)) return bot.send(message, signal);
      await sendToHook(address, message.body, signal, { post: postOutside, now });
      return {};
    },
    amend: async (handle, message, signal) => {
      if (!isHook(message.destination.address)) return bot.amend(handle, message, signal);
      throw new DeliveryError('bad-message', 'an incoming webhook cannot change a message', { code: 'not_amended' });
    },
    nameOf: async (address, signal) => {
      if (isHook(address) || isChannelName(address)) return undefined;
      // Source: docs.slack.dev/reference/methods/conversations.info
      const { channel } = await call('conversations.info', { channel: address }, signal);
      const name = textIn(objectIn(channel).name);
      return name === '' ? undefined : `#${name}`;
    },
    async verify(signal) {
      if (botToken === undefined) return 'has no bot token: only incoming webhooks can be sent to';
      const { user, team } = await call('auth.test', {}, signal);
      const who = `posts as ${user ?? 'an unnamed user'} in ${team ?? 'an unnamed workspace'}`;
      const lacking = permits.may('') ? '' : '; without the scope files:write, large digests come as several messages';
      return `${shorten(cleanLine(who), 200)}${lacking}`;
    },
    close,
  };
};
