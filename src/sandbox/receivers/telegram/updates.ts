/**
 * Presses of buttons, as bots read and answer them. Sources: https://core.telegram.org/bots/api#getupdates and
 * #answercallbackquery; error texts: `Client.cpp` of https://github.com/tdlib/telegram-bot-api.
 */
import { createHash } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../json.ts';
import { parseJson } from '../../json.ts';
import type { HttpAnswer } from '../http-receiver.ts';
import type { HeldMessage } from './chats.ts';
import { telegramError } from './judge.ts';

interface TelegramPerson {
  id: number;
  firstName: string;
  username?: string;
}

export interface TelegramPress {
  /** As senders address the chat, without a topic. */
  chat: string;
  messageId: number;
  /** The beginning of the button's text: `Acknowledge`. */
  button: string;
  /** Default: Ann. In a private chat the only one there is. */
  by?: TelegramPerson;
  /** Instead of the button's own: what somebody makes up. */
  forged?: { data?: string; chat?: string; messageId?: number };
}

/** What the person saw. */
export interface TelegramPressAnswer {
  text: string;
  isAlert: boolean;
}

type Membership = 'creator' | 'administrator' | 'member' | 'restricted' | 'left' | 'kicked' | 'unknown';

export interface TelegramUpdates {
  /** Answers `getUpdates`, late where there is nothing. */
  poll(fields: JsonObject): Promise<HttpAnswer>;
  /** Answers `answerCallbackQuery`. */
  answer(fields: JsonObject): HttpAnswer;
  /** Answers `getChatMember`. */
  member(fields: JsonObject): HttpAnswer;
  /** Resolves with what the bot answered. Throws where the message has no such button. */
  press(press: TelegramPress, held: HeldMessage | undefined): Promise<TelegramPressAnswer>;
  /** Default: everybody is a member. `unknown`: Telegram does not say. */
  setMember(chat: string, userId: number, status: Membership): void;
  /** Updates go to a webhook until the given function is called. */
  setWebhook(): () => void;
  /** Presses so far are so old that Telegram takes no answer to them; who has not read them gets them nevertheless. */
  expire(): void;
  /** Polls that wait now. */
  polling(): number;
  stop(): void;
}

const CONFLICTS = {
  webhook:
    "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
  other: 'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
};
const TOO_OLD = 'Bad Request: query is too old and response timeout expired or query ID is invalid';

const ANN: TelegramPerson = { id: 4711, firstName: 'Ann', username: 'ann' };
const ANSWER_MAX = 200;

export const ok = (result: JsonValue): HttpAnswer => ({ status: 200, body: { ok: true, result } });

/** A public chat has a number too, which senders need not know. */
const numberOf = (chat: string): number =>
  chat.startsWith('@')
    ? -1_000_000_000_000 - (createHash('sha256').update(chat).digest().readUInt32BE(0) % 1e9)
    : Number(chat);

const chatObject = (chat: string): JsonObject => {
  const id = numberOf(chat);
  if (id > 0) return { id, type: 'private', first_name: 'Ann' };
  return { id, type: 'supergroup', title: 'Alerts', ...(chat.startsWith('@') && { username: chat.slice(1) }) };
};

const isCallbacksOnly = (allowed: JsonValue | undefined): boolean => {
  const list = typeof allowed === 'string' ? parseJson(allowed) : allowed;
  return Array.isArray(list) && list.length === 1 && list[0] === 'callback_query';
};

export const createTelegramUpdates = (): TelegramUpdates => {
  let lastId = 100;
  let updates: { id: number; update: JsonObject }[] = [];
  let waiter: { end(answer: HttpAnswer): void; take(): void } | undefined;
  let hasWebhook = false;
  let polls = 0;
  const queries = new Map<string, (answer: TelegramPressAnswer) => void>();
  const members = new Map<string, Membership>();
  const memberKey = (chat: string, user: number): string => `${numberOf(chat)} ${user}`;

  const pending = (): HttpAnswer => ok(updates.map(({ update }) => update));

  return {
    poll: async ({ offset, timeout, allowed_updates: allowed }) => {
      if (hasWebhook) return telegramError(409, CONFLICTS.webhook);
      if (!isCallbacksOnly(allowed)) return telegramError(400, 'Bad Request: the sandbox has callback queries only');
      // The later one wins.
      waiter?.end(telegramError(409, CONFLICTS.other));
      updates = updates.filter(({ id }) => id >= Number(offset ?? 0));
      if (updates.length > 0) return pending();
      const { promise, resolve } = Promise.withResolvers<HttpAnswer>();
      const own = { end: resolve, take: () => resolve(pending()) };
      const timer = setTimeout(() => resolve(ok([])), Number(timeout ?? 0) * 1000);
      waiter = own;
      polls += 1;
      return promise.finally(() => {
        clearTimeout(timer);
        polls -= 1;
        if (waiter === own) waiter = undefined;
      });
    },
    answer: ({ callback_query_id: id, text, show_alert: alert }) => {
      const query = queries.get(String(id));
      if (!query) return telegramError(400, TOO_OLD);
      if (String(text ?? '').length > ANSWER_MAX) return telegramError(400, 'Bad Request: MESSAGE_TOO_LONG');
      queries.delete(String(id));
      query({ text: String(text ?? ''), isAlert: alert === true || alert === 'true' });
      return ok(true);
    },
    member: ({ chat_id: chat, user_id: user }) => {
      const status = members.get(memberKey(String(chat), Number(user))) ?? 'member';
      if (status === 'unknown') return telegramError(400, 'Bad Request: member list is inaccessible');
      const person = { id: Number(user), is_bot: false, first_name: 'Ann' };
      return ok({ status, user: person, ...(status === 'restricted' && { is_member: true }) });
    },
    press: ({ chat, messageId, button, by = ANN, forged = {} }, held) => {
      const found = held?.keyboard?.flat().find(({ text, callbackData }) => callbackData && text.startsWith(button));
      const data = forged.data ?? found?.callbackData;
      if (data === undefined) return Promise.reject(new Error(`the message has no button ${button}`));
      lastId += 1;
      const from = {
        id: by.id,
        is_bot: false,
        first_name: by.firstName,
        ...(by.username && { username: by.username }),
      };
      const message = {
        message_id: forged.messageId ?? messageId,
        date: 1,
        chat: chatObject(forged.chat ?? chat),
        text: held?.text ?? '',
      };
      const query = { id: `query-${lastId}`, from, message, chat_instance: '1', data };
      const { promise, resolve } = Promise.withResolvers<TelegramPressAnswer>();
      queries.set(query.id, resolve);
      updates.push({ id: lastId, update: { update_id: lastId, callback_query: query } });
      waiter?.take();
      return promise;
    },
    setMember: (chat, userId, status) => void members.set(memberKey(chat, userId), status),
    setWebhook: () => {
      hasWebhook = true;
      waiter?.end(telegramError(409, CONFLICTS.webhook));
      return () => {
        hasWebhook = false;
      };
    },
    expire: () => queries.clear(),
    polling: () => polls,
    stop: () => waiter?.end(ok([])),
  };
};
