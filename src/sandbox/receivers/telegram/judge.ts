/** What the Bot API would say to a message. Error texts: `Client.cpp` of https://github.com/tdlib/telegram-bot-api. */
import { isDeepStrictEqual } from 'node:util';
import { createJournal } from '../../journal.ts';
import { isObject, type JsonObject, parseJson } from '../../json.ts';
import type { Form, FormFile } from '../form.ts';
import type { HttpAnswer, Judgement } from '../http-receiver.ts';
import { type Chats, createChats } from './chats.ts';
import type { TelegramEntity } from './html.ts';
import { fieldText, Refusal, readText } from './text.ts';

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

/** An accepted change of a message that was sent before. */
export interface TelegramEdit {
  /** Epoch milliseconds. */
  at: number;
  /** Of the message: `CHAT` or `CHAT/TOPIC`. */
  destination: string;
  messageId: number;
  /** What the message says from now on. */
  text: string;
  /** As sent, before parsing. */
  source: string;
  entities: TelegramEntity[];
}

export interface TelegramRules {
  chats: readonly string[] | undefined;
  /** Topics that exist, as `CHAT/TOPIC`. Undefined: all but the General topic, which cannot be named. */
  topics: readonly string[] | undefined;
  now(): number;
}

const GENERAL_TOPIC = '1';
const EDITS_KEPT = 10_000;
const NOT_MODIFIED =
  'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message';

export const telegramError = (code: number, description: string, parameters?: JsonObject): HttpAnswer => ({
  status: code,
  body: { ok: false, error_code: code, description, ...(parameters && { parameters }) },
});

const CHAT = /^-?\d{1,20}$|^@\w{4,32}$/;

/** `CHAT` or `CHAT/TOPIC`. */
export const destinationOf = ({ fields }: Form): string => {
  const topic = fieldText(fields.message_thread_id);
  return topic === '' ? fieldText(fields.chat_id) : `${fieldText(fields.chat_id)}/${topic}`;
};

const documentOf = ({ fields, files }: Form): FormFile => {
  const name = fieldText(fields.document).replace(/^attach:\/\//, '') || 'document';
  const file = files.find(({ field }) => field === name);
  if (!file) throw new Refusal('there is no document in the request');
  if (file.content.length === 0) throw new Refusal('file must be non-empty');
  return file;
};

const messageResult = (messageId: number, chatId: string, now: number, content: JsonObject): JsonObject => ({
  message_id: messageId,
  date: Math.floor(now / 1000),
  chat: { id: Number(chatId) || 0, type: 'supergroup' },
  ...content,
});

/** What `check` gives, or the 400 that its `Refusal` stands for. */
const orRefusal = <T>(check: () => T): T | { refused: string } => {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { refused: `Bad Request: ${error.message}` };
  }
};

export interface TelegramJudge {
  judge(method: TelegramRaw['method'], form: Form): Judgement<TelegramRaw>;
  /** Answers editMessageText. */
  edit(form: Form): HttpAnswer;
  /** Accepted edits, oldest first. */
  edits(): TelegramEdit[];
  forgetEdits(): void;
  isChat(chatId: string): boolean;
}

const isChat = (rules: TelegramRules, chatId: string): boolean => rules.chats?.includes(chatId) ?? CHAT.test(chatId);

const checkPlace = (rules: TelegramRules, { fields }: Form): { chatId: string; threadId?: string } => {
  const chatId = fieldText(fields.chat_id);
  if (chatId === '') throw new Refusal('chat_id is empty');
  if (!isChat(rules, chatId)) throw new Refusal('chat not found');
  const threadId = fieldText(fields.message_thread_id);
  if (threadId === '') return { chatId };
  const known =
    rules.topics?.includes(`${chatId}/${threadId}`) ?? (threadId !== GENERAL_TOPIC && /^\d+$/.test(threadId));
  if (!known) throw new Refusal('message thread not found');
  return { chatId, threadId };
};

const checkReply = (chats: Chats, { fields }: Form, chatId: string): { replyTo?: number } => {
  const given = fields.reply_parameters;
  const parameters = typeof given === 'string' ? parseJson(given) : given;
  if (given === undefined) return {};
  if (!isObject(parameters)) throw new Refusal('object expected as reply parameters');
  const replyTo = Number(parameters.message_id);
  if (chats.get(chatId, replyTo)) return { replyTo };
  if (parameters.allow_sending_without_reply === true) return {};
  throw new Refusal('message to be replied not found');
};

export const createTelegramJudge = (rules: TelegramRules): TelegramJudge => {
  const chats = createChats();
  const edits = createJournal<TelegramEdit>(EDITS_KEPT);

  const accept = (method: TelegramRaw['method'], form: Form): Judgement<TelegramRaw> => {
    const place = checkPlace(rules, form);
    const { text, entities, source } = readText(method, form);
    const reply = checkReply(chats, form, place.chatId);
    const file = method === 'sendDocument' ? documentOf(form) : undefined;
    const document = file && { filename: file.filename, content: file.content };
    const held = { destination: destinationOf(form), text, entities, isDocument: document !== undefined };
    const messageId = chats.add(place.chatId, held);
    const raw: TelegramRaw = { method, messageId, ...place, ...reply, source, entities, ...(document && { document }) };
    const content = document
      ? { caption: text, document: { file_name: document.filename, file_size: document.content.length } }
      : { text };
    return {
      answer: { status: 200, body: { ok: true, result: messageResult(messageId, place.chatId, rules.now(), content) } },
      code: 'ok',
      accepted: { id: String(messageId), text: document ? `${text}\n${document.content.toString()}` : text, raw },
    };
  };

  const acceptEdit = (form: Form): JsonObject => {
    const { chatId } = checkPlace(rules, form);
    const { text, entities, source } = readText('editMessageText', form);
    const messageId = Number(fieldText(form.fields.message_id));
    const held = chats.get(chatId, messageId);
    if (!held) throw new Refusal('message to edit not found');
    if (held.isDocument) throw new Refusal('there is no text in the message to edit');
    if (isDeepStrictEqual([held.text, held.entities], [text, entities])) throw new Refusal(NOT_MODIFIED);
    Object.assign(held, { text, entities });
    edits.add({ at: rules.now(), destination: held.destination, messageId, text, source, entities });
    return messageResult(messageId, chatId, rules.now(), { text });
  };

  return {
    isChat: (chatId) => isChat(rules, chatId),
    judge: (method, form) => {
      const judgement = orRefusal(() => accept(method, form));
      if (!('refused' in judgement)) return judgement;
      return { answer: telegramError(400, judgement.refused), code: judgement.refused };
    },
    edit: (form) => {
      const edited = orRefusal(() => ({ result: acceptEdit(form) }));
      if ('refused' in edited) return telegramError(400, edited.refused);
      return { status: 200, body: { ok: true, result: edited.result } };
    },
    edits: edits.list,
    forgetEdits: edits.clear,
  };
};
