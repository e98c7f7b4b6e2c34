/** Telegram through a bot: one `sendMessage`, `sendDocument` or `editMessageText` for each attempt. */
import type { Telegram } from 'telegraf';
import type { Channel, CreateChannel, Message, Receipt } from '../channel.ts';
import type { DigestFile } from '../digest-file.ts';
import { parseChatAddress } from './address.ts';
import { createTelegramClient } from './client.ts';
import type { TelegramConfig } from './config.ts';
import { composeTelegram, type TelegramBody } from './message.ts';
import { notAmendable, unlessUnchanged } from './verdicts.ts';

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

export const createTelegramChannel: CreateChannel<TelegramConfig> = (config, { proxyFor }): Channel<TelegramBody> => {
  const client = createTelegramClient(config, proxyFor);

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
    close: client.close,
  };
};
