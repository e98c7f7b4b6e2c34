/** Telegram through a bot: one `sendMessage`, `sendDocument` or `editMessageText` for each attempt. */
import type { Telegram } from 'telegraf';
import { cleanLine, shorten } from '../../text.ts';
import type { Channel, CreateChannel, Message, Receipt } from '../channel.ts';
import { objectIn, textIn } from '../content/foreign.ts';
import type { DigestFile } from '../digest-content.ts';
import { parseChatAddress } from './address.ts';
import { createTelegramClient } from './client.ts';
import type { TelegramConfig } from './config.ts';
import { withoutTimes } from './lines.ts';
import { createTelegramButtons } from './listen.ts';
import { composeTelegram, type TelegramBody } from './message.ts';
import { knowsNoTimes, notAmendable, unlessUnchanged } from './verdicts.ts';

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

/** The buttons are below the first part. */
const textPayload = (message: Message<TelegramBody>, sent: Sent | undefined) => {
  const { continuations = [], text: first, file: _file, isCaption: _is, reply_markup, ...markup } = message.body;
  const text = sent === undefined ? first : (continuations[sent.parts - 1] ?? '');
  const buttons = sent === undefined && reply_markup ? { reply_markup } : {};
  return { ...placeOf(message, sent), ...NO_PREVIEW, ...markup, ...buttons, text };
};

type DocumentPayload = Parameters<typeof Telegram.prototype.callApi<'sendDocument'>>[1];

/** Telegraf silently drops objects from a form, but the Bot API takes them as JSON. */
const documentPayload = (message: Message<TelegramBody>, file: DigestFile): DocumentPayload => {
  const { reply_parameters, ...place } = placeOf(message, undefined);
  const { text: caption, parse_mode, reply_markup, disable_notification } = message.body;
  return {
    ...place,
    ...(reply_parameters ? { reply_parameters: JSON.stringify(reply_parameters) as never } : {}),
    ...(reply_markup ? { reply_markup: JSON.stringify(reply_markup) as never } : {}),
    ...(disable_notification ? { disable_notification } : {}),
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

const timeless = (message: Message<TelegramBody>): Message<TelegramBody> => {
  const { text, continuations } = message.body;
  if (message.body.parse_mode === undefined) return message;
  const parts = continuations === undefined ? {} : { continuations: continuations.map(withoutTimes) };
  return { ...message, body: { ...message.body, text: withoutTimes(text), ...parts } };
};

export const createTelegramChannel: CreateChannel<TelegramConfig> = (config, { proxyFor }): Channel<TelegramBody> => {
  const client = createTelegramClient(config, proxyFor);
  let serverKnowsTimes = true;

  /** A server that has refused a time once gets none again: only the first message is sent more plainly for it. */
  const inItsWords = async <T>(
    message: Message<TelegramBody>,
    run: (said: Message<TelegramBody>) => Promise<T>,
  ): Promise<T> => {
    try {
      return await run(serverKnowsTimes ? message : timeless(message));
    } catch (error) {
      if (knowsNoTimes(error)) serverKnowsTimes = false;
      throw error;
    }
  };

  const sendPart = (message: Message<TelegramBody>, sent: Sent | undefined, signal: AbortSignal) =>
    client.call<{ message_id: number }>(message.destination.address, signal, (api, options) =>
      message.body.file
        ? api.callApi('sendDocument', documentPayload(message, message.body.file), options)
        : api.callApi('sendMessage', textPayload(message, sent), options),
    );

  const edit = async (handle: string, message: Message<TelegramBody>, signal: AbortSignal): Promise<Receipt> => {
    const { address } = message.destination;
    const { text, continuations, file, isCaption = false, disable_notification: _sound, ...markup } = message.body;
    const messageId = idIn(address, handle);
    if (messageId === undefined || continuations || file) throw notAmendable();
    const payload = { chat_id: chatOf(address), message_id: messageId, ...markup };
    await client.call<unknown>(address, signal, (api, options) =>
      (isCaption
        ? api.callApi('editMessageCaption', { ...payload, caption: text }, options)
        : api.callApi('editMessageText', { ...payload, ...NO_PREVIEW, text }, options)
      ).catch(unlessUnchanged),
    );
    return receiptOf(message, messageId);
  };

  return {
    kind: 'telegram',
    buttons: createTelegramButtons({ client, timeoutMs: config.timeout }),
    compose: composeTelegram,
    send: async (message, signal) => {
      const parts = 1 + (message.body.continuations?.length ?? 0);
      const before = sentOf(message.progress);
      const { message_id } = await inItsWords(message, (said) => sendPart(said, before, signal));
      const sent: Sent = { messageId: before?.messageId ?? message_id, parts: (before?.parts ?? 0) + 1 };
      const receipt = receiptOf(message, sent.messageId);
      return sent.parts < parts ? { ...receipt, progress: JSON.stringify(sent) } : receipt;
    },
    amend: (handle, message, signal) => inItsWords(message, (said) => edit(handle, said, signal)),
    verify: async (signal) => {
      const bot = await client.call('', signal, (api, options) => api.callApi('getMe', {}, options));
      return `sends as @${bot.username}`;
    },
    nameOf: async (address, signal) => {
      const chat = chatOf(address);
      // A public name says itself what it is called.
      if (chat.startsWith('@')) return undefined;
      return chatName(
        await client.call(address, signal, (api, options) => api.callApi('getChat', { chat_id: chat }, options)),
      );
    },
    close: client.close,
  };
};

// What people call a chat, from the answer to `getChat`: text from outside. Pure.

const NAME_LIMIT = 60;

const lineIn = (value: unknown): string => cleanLine(textIn(value));

/** The title of a group or channel, the name of a person. Source: https://core.telegram.org/bots/api#chatfullinfo */
export const chatName = (chat: unknown): string | undefined => {
  const { title, first_name, last_name, username } = objectIn(chat);
  const person = [first_name, last_name]
    .map(lineIn)
    .filter((part) => part !== '')
    .join(' ');
  const handle = lineIn(username);
  const name = lineIn(title) || person || (handle === '' ? '' : `@${handle}`);
  return name === '' ? undefined : shorten(name, NAME_LIMIT);
};
