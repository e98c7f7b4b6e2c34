/** What the Bot API would say to a message. Error texts: `Client.cpp` of https://github.com/tdlib/telegram-bot-api. */
import { isDeepStrictEqual } from 'node:util';
import { createJournal } from '../../journal.ts';
import { isObject, type JsonObject, parseJson } from '../../json.ts';
import type { Form, FormFile } from '../form.ts';
import type { HttpAnswer, Judgement } from '../http-receiver.ts';
import { type Chats, createChats, type HeldMessage } from './chats.ts';
import type { TelegramEntity } from './html.ts';
import { readKeyboard, type TelegramButton } from './keyboard.ts';
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
  /** Markup that Telegram drops without a word. */
  lost: TelegramEntity[];
  /** Buttons below it, row by row. */
  keyboard?: TelegramButton[][];
  /** Arrives without a sound. */
  silent?: true;
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
  /** Buttons below it from now on; without any those that it had are gone. */
  keyboard?: TelegramButton[][];
}

type EditMethod = 'editMessageText' | 'editMessageCaption';

interface TelegramRules {
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

interface TelegramJudge {
  judge(method: TelegramRaw['method'], form: Form): Judgement<TelegramRaw>;
  edit(method: EditMethod, form: Form): HttpAnswer;
  /** What a message says now. */
  held(chatId: string, messageId: number): HeldMessage | undefined;
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

const isSilent = ({ disable_notification: silent }: JsonObject): boolean => silent === true || silent === 'true';

export const createTelegramJudge = (rules: TelegramRules): TelegramJudge => {
  const chats = createChats();
  const edits = createJournal<TelegramEdit>(EDITS_KEPT);

  const accept = (method: TelegramRaw['method'], form: Form): Judgement<TelegramRaw> => {
    const place = checkPlace(rules, form);
    const { text, entities, lost, source } = readText(method, form);
    const keyboard = readKeyboard(form.fields);
    const buttons = keyboard && { keyboard };
    const silent = isSilent(form.fields) ? { silent: true as const } : {};
    const reply = checkReply(chats, form, place.chatId);
    const file = method === 'sendDocument' ? documentOf(form) : undefined;
    const document = file && { filename: file.filename, content: file.content };
    const held = { destination: destinationOf(form), text, entities, ...buttons, isDocument: document !== undefined };
    const messageId = chats.add(place.chatId, held);
    const marks = { source, entities, lost, ...buttons, ...silent };
    const raw: TelegramRaw = { method, messageId, ...place, ...reply, ...marks, ...(document && { document }) };
    const content = document
      ? { caption: text, document: { file_name: document.filename, file_size: document.content.length } }
      : { text };
    return {
      answer: { status: 200, body: { ok: true, result: messageResult(messageId, place.chatId, rules.now(), content) } },
      code: 'ok',
      accepted: { id: String(messageId), text: document ? `${text}\n${document.content.toString()}` : text, raw },
    };
  };

  const acceptEdit = (method: EditMethod, form: Form): JsonObject => {
    const { chatId } = checkPlace(rules, form);
    const { text, entities, source } = readText(method, form);
    const messageId = Number(fieldText(form.fields.message_id));
    const held = chats.get(chatId, messageId);
    if (!held) throw new Refusal('message to edit not found');
    const isCaption = method === 'editMessageCaption';
    if (held.isDocument && !isCaption) throw new Refusal('there is no text in the message to edit');
    if (!held.isDocument && isCaption) throw new Refusal('there is no caption in the message to edit');
    const keyboard = readKeyboard(form.fields);
    if (isDeepStrictEqual([held.text, held.entities, held.keyboard], [text, entities, keyboard]))
      throw new Refusal(NOT_MODIFIED);
    Object.assign(held, { text, entities, keyboard });
    const buttons = keyboard && { keyboard };
    edits.add({ at: rules.now(), destination: held.destination, messageId, text, source, entities, ...buttons });
    return messageResult(messageId, chatId, rules.now(), { text });
  };

  return {
    isChat: (chatId) => isChat(rules, chatId),
    judge: (method, form) => {
      const judgement = orRefusal(() => accept(method, form));
      if (!('refused' in judgement)) return judgement;
      return { answer: telegramError(400, judgement.refused), code: judgement.refused };
    },
    held: chats.get,
    edit: (method, form) => {
      const edited = orRefusal(() => ({ result: acceptEdit(method, form) }));
      if ('refused' in edited) return telegramError(400, edited.refused);
      return { status: 200, body: { ok: true, result: edited.result } };
    },
    edits: edits.list,
    forgetEdits: edits.clear,
  };
};
