/** Telegram through a bot: one `sendMessage`, `sendDocument` or `editMessageText` for each attempt. */
import type { Telegram } from 'telegraf';
import type { ChannelEntry } from '../../alert.ts';
import { quoteContact } from '../address.ts';
import type { Addresses, Channel, ChannelModule, Message, Receipt } from '../channel.ts';
import type { DigestFile } from '../digest-file.ts';
import { formatChatAddress, parseChatAddress } from './address.ts';
import { createTelegramClient } from './client.ts';
import type { TelegramConfig } from './config.ts';
import { composeTelegram, type TelegramBody } from './message.ts';
import { notAmendable, unlessUnchanged } from './verdicts.ts';

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

interface Sent {
  /** Of the first part. */
  messageId: number;
  /** Parts that Telegram took. */
  parts: number;
}

const chatOf = (address: string): string => parseChatAddress(address)?.chat ?? address;

const handleOf = (address: string, messageId: number): string => `${chatOf(address)}:${messageId}`;

/** Message ids are valid in one chat: those of a group mean nothing in the supergroup that it became. */
const idIn = (address: string, handle: string | undefined): number | undefined => {
  const [, chat, id] = /^(.+):(\d+)$/.exec(handle ?? '') ?? [];
  return chat === chatOf(address) ? Number(id) : undefined;
};

const NO_PREVIEW = { link_preview_options: { is_disabled: true } };

/** The chat, and the message that this one replies to: part 0 replies to `replyTo`, the other parts to part 0. */
const placeOf = ({ destination: { address }, replyTo }: Message<TelegramBody>, sent: Sent | undefined) => {
  const { chat = address, topic } = parseChatAddress(address) ?? {};
  const answers = sent?.messageId ?? idIn(address, replyTo);
  return {
    chat_id: chat,
    ...(topic === undefined ? {} : { message_thread_id: topic }),
    ...(answers === undefined ? {} : { reply_parameters: { message_id: answers, allow_sending_without_reply: true } }),
  };
};

const textPayload = (message: Message<TelegramBody>, sent: Sent | undefined) => {
  const { continuations = [], text: first, file: _file, ...markup } = message.body;
  const text = sent === undefined ? first : (continuations[sent.parts - 1] ?? '');
  return { ...placeOf(message, sent), ...NO_PREVIEW, ...markup, text };
};

type DocumentPayload = Parameters<typeof Telegram.prototype.callApi<'sendDocument'>>[1];

/** Telegraf silently drops objects from a form, but the Bot API takes them as JSON. */
const documentPayload = (message: Message<TelegramBody>, file: DigestFile): DocumentPayload => {
  const { reply_parameters, ...place } = placeOf(message, undefined);
  const { text: caption, parse_mode } = message.body;
  return {
    ...place,
    ...(reply_parameters ? { reply_parameters: JSON.stringify(reply_parameters) as never } : {}),
    caption,
    ...(parse_mode ? { parse_mode } : {}),
    document: { source: Buffer.from(file.text), filename: file.name },
  };
};

const receiptOf = ({ destination }: Message, messageId: unknown): Receipt =>
  typeof messageId === 'number'
    ? { providerId: String(messageId), handle: handleOf(destination.address, messageId) }
    : {};

/** The progress in the last part's receipt. */
const sentOf = (progress: string | undefined): Sent | undefined =>
  progress === undefined ? undefined : (JSON.parse(progress) as Sent);

const create = (config: TelegramConfig): Channel<TelegramBody> => {
  const client = createTelegramClient(config);

  const sendPart = (message: Message<TelegramBody>, sent: Sent | undefined, signal: AbortSignal) =>
    client.call<{ message_id: number }>(message.destination.address, signal, (api, options) =>
      message.body.file
        ? api.callApi('sendDocument', documentPayload(message, message.body.file), options)
        : api.callApi('sendMessage', textPayload(message, sent), options),
    );

  return {
    kind: 'telegram',
    compose: composeTelegram,
    send: async (message, signal) => {
      const parts = 1 + (message.body.continuations?.length ?? 0);
      const before = sentOf(message.progress);
      const { message_id } = await sendPart(message, before, signal);
      const sent: Sent = { messageId: before?.messageId ?? message_id, parts: (before?.parts ?? 0) + 1 };
      const receipt = receiptOf(message, sent.messageId);
      return sent.parts < parts ? { ...receipt, progress: JSON.stringify(sent) } : receipt;
    },
    amend: async (handle, message, signal) => {
      const { address } = message.destination;
      const { text, continuations, file, ...markup } = message.body;
      const messageId = idIn(address, handle);
      if (messageId === undefined || continuations || file) throw notAmendable();
      const payload = { chat_id: chatOf(address), message_id: messageId, ...NO_PREVIEW, ...markup, text };
      await client.call(address, signal, (api, options) =>
        api.callApi('editMessageText', payload, options).catch(unlessUnchanged),
      );
      return receiptOf(message, messageId);
    },
    verify: async (signal) => {
      const bot = await client.call('', signal, (api, options) => api.callApi('getMe', {}, options));
      return `sends as @${bot.username}`;
    },
    close: async () => client.close(),
  };
};

/** People have positive ids; groups and channels have negative ones, or names. */
const isPrivateChat = (address: string): boolean => /^\d/.test(address);

/** Telegram, for the registry. */
export const telegram: ChannelModule<TelegramConfig> = {
  kind: 'telegram',
  addressesOf,
  labelOf: (address) => address,
  isBatched: true,
  sharesSender: () => true,
  givesHandle: () => true,
  rateOf: (address, { perMinute, ...rate }) =>
    perMinute === undefined || isPrivateChat(address) ? rate : { ...rate, perMinute },
  // The limits are those of the chat, and topics are places in one chat.
  sharesRateWith: (address) => parseChatAddress(address)?.chat ?? address,
  create,
};
