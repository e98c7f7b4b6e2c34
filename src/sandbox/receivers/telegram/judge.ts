/** What the Bot API would say to a message. Error texts: `Client.cpp` of https://github.com/tdlib/telegram-bot-api. */
import { isObject, type JsonObject, type JsonValue, parseJson } from '../../json.ts';
import type { HttpAnswer, Judgement } from '../desk.ts';
import type { Form, FormFile } from '../form.ts';
import { type ParsedHtml, parseTelegramHtml, type TelegramEntity } from './html.ts';

export interface TelegramRaw {
  method: 'sendMessage' | 'sendDocument';
  messageId: number;
  chatId: string;
  threadId?: string;
  /** The message this one answers. */
  replyTo?: number;
  /** As sent, before parsing. */
  source: string;
  entities: TelegramEntity[];
  /** Only with sendDocument. */
  document?: { filename: string; content: Buffer };
}

export interface TelegramRules {
  chats: readonly string[] | undefined;
  /** Topics that exist, as `CHAT/TOPIC`. Undefined: all but the General topic, which cannot be named. */
  topics: readonly string[] | undefined;
  now(): number;
}

const RAW_TEXT_MAX_BYTES = 32_768;
const TEXT_MAX = 4096;
const CAPTION_MAX = 1024;
const GENERAL_TOPIC = '1';

class Refusal extends Error {
  override readonly name = 'Refusal';
}

export const telegramError = (code: number, description: string, parameters?: JsonObject): HttpAnswer => ({
  status: code,
  body: { ok: false, error_code: code, description, ...(parameters && { parameters }) },
});

const CHAT = /^-?\d{1,20}$|^@\w{4,32}$/;

const textOf = (value: JsonValue | undefined): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/** `CHAT` or `CHAT/TOPIC`. */
export const destinationOf = ({ fields }: Form): string => {
  const topic = textOf(fields.message_thread_id);
  return topic === '' ? textOf(fields.chat_id) : `${textOf(fields.chat_id)}/${topic}`;
};

/** Telegram itself drops carriage returns and direction marks, and shows other control characters as spaces. */
const cleanAsTelegram = (text: string): string =>
  text
    .replace(/[\r\u2028-\u202e]/g, '')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: replacing them is the purpose
    .replace(/[\u0000-\u0009\u000b-\u001f]/g, ' ');

const parseText = (source: string, mode: JsonValue | undefined): ParsedHtml => {
  if (Buffer.byteLength(source) > RAW_TEXT_MAX_BYTES) throw new Refusal('text is too long');
  const clean = cleanAsTelegram(source);
  if (mode === undefined || mode === '') return { text: clean, entities: [] };
  if (String(mode).toLowerCase() !== 'html') throw new Refusal('unsupported parse_mode');
  const parsed = parseTelegramHtml(clean);
  if ('problem' in parsed) throw new Refusal(`can't parse entities: ${parsed.problem}`);
  return parsed;
};

const documentOf = ({ fields, files }: Form): FormFile => {
  const name = textOf(fields.document).replace(/^attach:\/\//, '') || 'document';
  const file = files.find(({ field }) => field === name);
  if (!file) throw new Refusal('there is no document in the request');
  if (file.content.length === 0) throw new Refusal('file must be non-empty');
  return file;
};

export interface TelegramJudge {
  judge(method: TelegramRaw['method'], form: Form): Judgement<TelegramRaw>;
  isChat(chatId: string): boolean;
}

export const createTelegramJudge = (rules: TelegramRules): TelegramJudge => {
  let lastMessageId = 0;
  const sentTo = new Map<string, number[]>();

  const isChat = (chatId: string): boolean => rules.chats?.includes(chatId) ?? CHAT.test(chatId);

  const checkPlace = ({ fields }: Form): { chatId: string; threadId?: string } => {
    const chatId = textOf(fields.chat_id);
    if (chatId === '') throw new Refusal('chat_id is empty');
    if (!isChat(chatId)) throw new Refusal('chat not found');
    const threadId = textOf(fields.message_thread_id);
    if (threadId === '') return { chatId };
    const known =
      rules.topics?.includes(`${chatId}/${threadId}`) ?? (threadId !== GENERAL_TOPIC && /^\d+$/.test(threadId));
    if (!known) throw new Refusal('message thread not found');
    return { chatId, threadId };
  };

  const checkReply = ({ fields }: Form, chatId: string): { replyTo?: number } => {
    const given = fields.reply_parameters;
    const parameters = typeof given === 'string' ? parseJson(given) : given;
    if (!isObject(parameters)) return {};
    const replyTo = Number(parameters.message_id);
    if (sentTo.get(chatId)?.includes(replyTo)) return { replyTo };
    if (parameters.allow_sending_without_reply === true) return {};
    throw new Refusal('message to be replied not found');
  };

  const readText = (method: TelegramRaw['method'], { fields }: Form): ParsedHtml & { source: string } => {
    const source = textOf(method === 'sendMessage' ? fields.text : fields.caption);
    const parsed = parseText(source, fields.parse_mode);
    if (method === 'sendMessage' && parsed.text.trim() === '') throw new Refusal('message text is empty');
    if (method === 'sendMessage' && parsed.text.length > TEXT_MAX) throw new Refusal('message is too long');
    if (method === 'sendDocument' && parsed.text.length > CAPTION_MAX) throw new Refusal('message caption is too long');
    return { ...parsed, source };
  };

  const remember = (chatId: string): number => {
    lastMessageId += 1;
    sentTo.set(chatId, [...(sentTo.get(chatId) ?? []).slice(-999), lastMessageId]);
    return lastMessageId;
  };

  const accept = (method: TelegramRaw['method'], form: Form): Judgement<TelegramRaw> => {
    const place = checkPlace(form);
    const { text, entities, source } = readText(method, form);
    const reply = checkReply(form, place.chatId);
    const file = method === 'sendDocument' ? documentOf(form) : undefined;
    const document = file && { filename: file.filename, content: file.content };
    const messageId = remember(place.chatId);
    const raw: TelegramRaw = { method, messageId, ...place, ...reply, source, entities, ...(document && { document }) };
    const result = {
      message_id: messageId,
      date: Math.floor(rules.now() / 1000),
      chat: { id: Number(place.chatId) || 0, type: 'supergroup' },
      ...(document
        ? { caption: text, document: { file_name: document.filename, file_size: document.content.length } }
        : { text }),
    };
    return {
      answer: { status: 200, body: { ok: true, result } },
      code: 'ok',
      accepted: { id: String(messageId), text: document ? `${text}\n${document.content.toString()}` : text, raw },
    };
  };

  return {
    isChat,
    judge: (method, form) => {
      try {
        return accept(method, form);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const description = `Bad Request: ${error.message}`;
        return { answer: telegramError(400, description), code: description };
      }
    },
  };
};
