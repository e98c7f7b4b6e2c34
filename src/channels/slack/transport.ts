/** Slack: channels with the bot token, incoming webhooks through the guard. */
import { Agent } from 'undici';
import { type ConnectionTo, createConnections, settingsIn } from '../../connection/settings.ts';
import { createConnector } from '../../connection/tunnel.ts';
import { DeliveryError } from '../../errors.ts';
import { cleanLine, shorten } from '../../text.ts';
import { webLabel } from '../address.ts';
import type { Channel, CreateChannel } from '../channel.ts';
import { type GuardedPost, retryAfterMs } from '../http.ts';
import { isHook } from './address.ts';
import type { SlackBody } from './body.ts';
import { createBot, WITHOUT_PREVIEWS } from './bot.ts';
import { type Call, createCall } from './call.ts';
import type { SlackConfig } from './config.ts';
import { createFilePermits, createFiles } from './files.ts';
import { composeSlack } from './message.ts';
import { hookFailure } from './verdicts.ts';

const ANSWER_LIMIT_BYTES = 1024 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
const SECTION = 'channels.slack';

const noToken = (): DeliveryError =>
  new DeliveryError('sender-misconfigured', 'no bot token is configured for Slack channels', { code: 'no_token' });

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
  const postFile: GuardedPost = (request) => post({ ...request, connection: connectionTo(request.url) });
  const bot = createBot({ call, files: createFiles(call, postFile, config.timeout), permits });

  return {
    kind: 'slack',
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
