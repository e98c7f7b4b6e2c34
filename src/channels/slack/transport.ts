/** Slack: channels with the bot token, incoming webhooks through the guard. */
import { Agent } from 'undici';
import type { ChannelEntry } from '../../alert.ts';
import { DeliveryError } from '../../errors.ts';
import { cleanLine, shorten } from '../../text.ts';
import { quoteContact, webAddress, webLabel } from '../address.ts';
import type { Addresses, Channel, ChannelDependencies, ChannelModule } from '../channel.ts';
import { type GuardedPost, retryAfterMs } from '../http.ts';
import { isHook, parseChannel } from './address.ts';
import type { SlackBody } from './body.ts';
import { createBot, WITHOUT_PREVIEWS } from './bot.ts';
import { type Call, createCall } from './call.ts';
import type { SlackConfig } from './config.ts';
import { createFilePermits, createFiles } from './files.ts';
import { composeSlack } from './message.ts';
import { hookFailure } from './verdicts.ts';

const ANSWER_LIMIT_BYTES = 1024 * 1024;

const noToken = (): DeliveryError =>
  new DeliveryError('sender-misconfigured', 'no bot token is configured for Slack channels', { code: 'no_token' });

const sendToHook = async (post: GuardedPost, url: string, body: SlackBody, signal: AbortSignal, now: () => number) => {
  const { file: _file, ...content } = body;
  const response = await post({
    url,
    headers: { 'content-type': 'application/json', 'user-agent': 'tocsin' },
    body: JSON.stringify({ ...content, ...WITHOUT_PREVIEWS }),
    signal,
  });
  if (response.status >= 200 && response.status < 300) return;
  throw hookFailure(response, webLabel(url), retryAfterMs(response.headers['retry-after'], now()));
};

const noThreads = (): DeliveryError =>
  new DeliveryError('bad-message', 'an incoming webhook cannot change a message', { code: 'not_amended' });

const create = (config: SlackConfig, { post, now }: ChannelDependencies): Channel<SlackBody> => {
  const agent = new Agent({ allowH2: false, connections: config.concurrency, maxResponseSize: ANSWER_LIMIT_BYTES });
  const permits = createFilePermits(now);
  const call: Call =
    config.botToken === undefined
      ? () => Promise.reject(noToken())
      : createCall(config, { token: config.botToken.reveal(), agent, now, onScopes: permits.learn });
  const bot = createBot({ call, files: createFiles(call, post, config.timeout), permits });

  return {
    kind: 'slack',
    compose: (parcel, context) => composeSlack(parcel, context, permits.may(parcel.destination.address)),
    send: async (message, signal) => {
      const { address } = message.destination;
      if (!isHook(address)) return bot.send(message, signal);
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(config.timeout)]);
      await sendToHook(post, address, message.body, deadline, now);
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
    close: () => agent.destroy(),
  };
};

const addressesOf = ({ contacts = [], url = '' }: ChannelEntry): Addresses => {
  const channels = contacts.filter((text) => text.trim() !== '');
  const hooks = [url].filter((text) => text.trim() !== '');
  if (channels.length + hooks.length === 0) {
    return { addresses: [], problems: ['the slack entry has nothing to send to'] };
  }
  const found = [...channels.map(parseChannel), ...hooks.map(webAddress)].filter((address) => address !== undefined);
  const noChannel = channels.filter((text) => parseChannel(text) === undefined);
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

/** Slack, for the registry. */
export const slack: ChannelModule<SlackConfig> = {
  kind: 'slack',
  addressesOf,
  labelOf,
  isBatched: true,
  // An incoming webhook has a key of its own, and its answer names no message.
  sharesSender: (address) => !isHook(address),
  givesHandle: (address) => !isHook(address),
  create,
};
