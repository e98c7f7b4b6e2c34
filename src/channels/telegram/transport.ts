/** Telegram through a bot: one `sendMessage`, `sendDocument` or `editMessageText` for each attempt. */
import { cleanLine, shorten } from '../../text.ts';
import type { Channel, CreateChannel, Message, Receipt } from '../channel.ts';
import { objectIn, textIn } from '../content/foreign.ts';
import type { DigestFile } from '../digest-content.ts';
import { parseChatAddress } from './address.ts';
import { createTelegramClient, type Payload } from './client.ts';
import type { TelegramConfig } from './config.ts';
import { withoutTimes } from './lines.ts';
import { createTelegramButtons } from './listen.ts';
import { composeTelegram, type TelegramBody } from './message.ts';
import { isUnchanged, knowsNoTimes, notAmendable } from './verdicts.ts';

const chatOf = (address: string): string => parseChatAddress(address)?.chat ?? address;

const handleOf = (address: string, messageId: number): string => `${chatOf(address)}:${messageId}`;

/** Message ids are valid in one chat: those of a group mean nothing in the supergroup that it became. */
const idIn = (address: string, handle: string | undefined): number | undefined => {
  const [, chat, id] = /^(.+):(\d+)$/.exec(handle ?? '') ?? [];
  return chat === chatOf(address) ? Number(id) : undefined;
};

const NO_PREVIEW = { link_preview_options: { is_disabled: true } };

/** The chat, and the message that this one replies to. */
const placeOf = ({ destination: { address }, replyTo }: Message<TelegramBody>) => {
  const { chat = address, topic } = parseChatAddress(address) ?? {};
  const answers = idIn(address, replyTo);
  return {
    chat_id: chat,
    ...(topic === undefined ? {} : { message_thread_id: topic }),
    ...(answers === undefined ? {} : { reply_parameters: { message_id: answers, allow_sending_without_reply: true } }),
  };
};

const textPayload = (message: Message<TelegramBody>) => {
  const { file: _file, isCaption: _is, ...body } = message.body;
  return { ...placeOf(message), ...NO_PREVIEW, ...body };
};

/** Telegraf silently drops objects from a form, but the Bot API takes them as JSON. */
const documentPayload = (message: Message<TelegramBody>, file: DigestFile): Payload<'sendDocument'> => {
  const { reply_parameters, ...place } = placeOf(message);
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

const timeless = (message: Message<TelegramBody>): Message<TelegramBody> => {
  const { body } = message;
  return body.parse_mode === undefined ? message : { ...message, body: { ...body, text: withoutTimes(body.text) } };
};

export const createTelegramChannel: CreateChannel<TelegramConfig> = (config, { proxyFor }): Channel<TelegramBody> => {
  const client = createTelegramClient(config, proxyFor);
  const { call } = client;
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

  const edit = async (handle: string, message: Message<TelegramBody>, signal: AbortSignal): Promise<Receipt> => {
    const { address } = message.destination;
    const { text, file, isCaption = false, disable_notification: _sound, ...markup } = message.body;
    const messageId = idIn(address, handle);
    if (messageId === undefined || file) throw notAmendable();
    const payload = { chat_id: chatOf(address), message_id: messageId, ...markup };
    const edited: Promise<unknown> = isCaption
      ? call('editMessageCaption', { ...payload, caption: text }, signal, address)
      : call('editMessageText', { ...payload, ...NO_PREVIEW, text }, signal, address);
    await edited.catch((error: unknown) => {
      if (!isUnchanged(error)) throw error;
    });
    return receiptOf(message, messageId);
  };

  return {
    kind: 'telegram',
    buttons: createTelegramButtons(client, config.timeout),
    compose: composeTelegram,
    givesHandle: () => true,
    send: async (message, signal) => {
      const { file } = message.body;
      const { address } = message.destination;
      const { message_id } = await inItsWords(message, async (said): Promise<{ message_id: number }> => {
        if (file) return call('sendDocument', documentPayload(said, file), signal, address);
        return call('sendMessage', textPayload(said), signal, address);
      });
      return receiptOf(message, message_id);
    },
    amend: (handle, message, signal) => inItsWords(message, (said) => edit(handle, said, signal)),
    verify: async (signal) => {
      const { username } = await call('getMe', {}, signal);
      return `sends as @${username}`;
    },
    nameOf: async (address, signal) => {
      const chat = chatOf(address);
      // A public name says itself what it is called.
      if (chat.startsWith('@')) return undefined;
      return chatName(await call('getChat', { chat_id: chat }, signal, address));
    },
    close: client.close,
  };
};

const NAME_LIMIT = 60;

/**
 * What people call a chat: the title of a group or channel, the name of a person. From outside. Source:
 * https://core.telegram.org/bots/api#chatfullinfo
 */
export const chatName = (chat: unknown): string | undefined => {
  const { title, first_name, last_name, username } = objectIn(chat);
  const lineIn = (value: unknown): string => cleanLine(textIn(value));
  const person = cleanLine([first_name, last_name].map(lineIn).join(' '));
  const handle = lineIn(username);
  const name = lineIn(title) || person || (handle === '' ? '' : `@${handle}`);
  return name === '' ? undefined : shorten(name, NAME_LIMIT);
};
