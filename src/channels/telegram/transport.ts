/** Telegram through a bot: one `sendMessage` an attempt. The library only speaks HTTP; it neither retries nor waits. */
import { Agent } from 'node:https';
import { Telegram } from 'telegraf';
import type { ChannelEntry } from '../../alert.ts';
import { createScrubber } from '../../secret.ts';
import { quoteContact } from '../address.ts';
import type { Addresses, Channel, ChannelModule, Message, Receipt } from '../channel.ts';
import { networkFailure } from '../network.ts';
import { formatChatAddress, parseChatAddress } from './address.ts';
import type { TelegramConfig } from './config.ts';
import { composeTelegram, type TelegramText } from './message.ts';
import { telegramFailure } from './verdicts.ts';

const addressesOf = ({ contacts = [], url = '' }: ChannelEntry): Addresses => {
  const named = contacts.map((contact) => contact.trim()).filter((contact) => contact !== '');
  const parsed = named.map((contact) => ({ contact, address: parseChatAddress(contact) }));
  const problems = parsed
    .filter(({ address }) => address === undefined)
    .map(
      ({ contact }) => `the telegram contact ${quoteContact(contact)} is no chat id or @name, with or without /TOPIC`,
    );
  if (url.trim() !== '') problems.push('the telegram entry has a url, which is not used: chats go into contacts');
  if (named.length === 0 && url.trim() === '') problems.push('the telegram entry has nothing to send to');
  const addresses = parsed.flatMap(({ address }) => (address === undefined ? [] : [formatChatAddress(address)]));
  return { addresses: [...new Set(addresses)], problems };
};

type CallOptions = NonNullable<Parameters<Telegram['callApi']>[2]>;

/** Telegram's client declares the signal of a polyfill, which has less than Node's; it only passes it on. */
const callOptions = (signal: AbortSignal): CallOptions => ({ signal: signal as NonNullable<CallOptions['signal']> });

/** `new URL('./bot…', root)` drops a path that does not end in a slash. */
const asRoot = (url: string): string => url.replace(/\/*$/, '/');

interface Sent {
  /** Of the first part. */
  messageId: number;
  /** Parts that Telegram took. */
  parts: number;
}

/** Part 0 is the message itself; the others reply to it. */
const payloadOf = ({ destination, body }: Message<TelegramText>, sent: Sent | undefined) => {
  const { chat = destination.address, topic } = parseChatAddress(destination.address) ?? {};
  const { continuations = [], text: first, ...markup } = body;
  const text = sent === undefined ? first : (continuations[sent.parts - 1] ?? '');
  return {
    chat_id: chat,
    ...(topic === undefined ? {} : { message_thread_id: topic }),
    ...(sent === undefined
      ? {}
      : { reply_parameters: { message_id: sent.messageId, allow_sending_without_reply: true } }),
    link_preview_options: { is_disabled: true },
    ...markup,
    text,
  };
};

/** Messages whose parts are remembered between two tries; beyond it the oldest start again from their first part. */
const REMEMBERED_MESSAGES = 500;

const create = (config: TelegramConfig): Channel<TelegramText> => {
  const token = config.botToken.reveal();
  const scrub = createScrubber([token]);
  const peer = new URL(config.apiRoot).host;
  const agent = new Agent({ keepAlive: true });
  const client = new Telegram(token, { apiRoot: asRoot(config.apiRoot), agent, webhookReply: false });

  /** Runs one call under the caller's signal and our own deadline, and turns whatever goes wrong into a clean error. */
  const call = async <T>(
    address: string,
    signal: AbortSignal,
    run: (options: CallOptions) => Promise<T>,
  ): Promise<T> => {
    if (signal.aborted) throw networkFailure({ name: 'AbortError' }, peer, false);
    const deadline = AbortSignal.timeout(config.timeout);
    try {
      return await run(callOptions(AbortSignal.any([signal, deadline])));
    } catch (error) {
      if (signal.aborted) throw networkFailure({ name: 'AbortError' }, peer);
      if (deadline.aborted) throw networkFailure({ name: 'TimeoutError' }, peer);
      throw telegramFailure(error, { peer, address, scrub });
    }
  };

  /** A part that was taken is not sent again when a later one fails. */
  const unfinished = new Map<string, Sent>();
  const remember = (id: string, sent: Sent, parts: number): void => {
    unfinished.delete(id);
    if (sent.parts < parts) unfinished.set(id, sent);
    for (const oldest of unfinished.keys()) if (unfinished.size > REMEMBERED_MESSAGES) unfinished.delete(oldest);
  };

  return {
    kind: 'telegram',
    compose: composeTelegram,
    send: async (message, signal): Promise<Receipt> => {
      const parts = 1 + (message.body.continuations?.length ?? 0);
      let sent = unfinished.get(message.id);
      while (sent === undefined || sent.parts < parts) {
        const payload = payloadOf(message, sent);
        const answer = await call(message.destination.address, signal, (options) =>
          client.callApi('sendMessage', payload, options),
        );
        sent = { messageId: sent?.messageId ?? answer.message_id, parts: (sent?.parts ?? 0) + 1 };
        remember(message.id, sent, parts);
      }
      return typeof sent.messageId === 'number' ? { providerId: String(sent.messageId) } : {};
    },
    verify: async (signal) => {
      const bot = await call('', signal, (options) => client.callApi('getMe', {}, options));
      return `sends as @${bot.username}`;
    },
    close: async () => agent.destroy(),
  };
};

/** People have positive ids; groups and channels negative ones or a name. */
const isPrivateChat = (address: string): boolean => /^\d/.test(address);

/** Telegram, for the registry. */
export const telegram: ChannelModule<TelegramConfig> = {
  kind: 'telegram',
  addressesOf,
  labelOf: (address) => address,
  rateOf: (address, { perMinute, ...rate }) =>
    perMinute === undefined || isPrivateChat(address) ? rate : { ...rate, perMinute },
  create,
};
