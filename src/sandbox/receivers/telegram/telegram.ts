/** Telegram's Bot API as far as sending goes. Source: https://core.telegram.org/bots/api */

import type { JsonObject } from '../../json.ts';
import { createHttpListener, type Exchange, type ListenOptions, urlHost } from '../../listener.ts';
import { type Form, readForm } from '../form.ts';
import {
  createHttpReceiver,
  type HttpAnswer,
  type HttpReceiverOptions,
  type HttpVerdict,
  sendHttp,
} from '../http-receiver.ts';
import type { RateRule } from '../rates.ts';
import type { ReceiverView } from '../received.ts';
import type { Script } from '../script.ts';
import { createTelegramJudge, destinationOf, type TelegramEdit, type TelegramRaw, telegramError } from './judge.ts';
import {
  createTelegramUpdates,
  ok,
  type TelegramPress,
  type TelegramPressAnswer,
  type TelegramUpdates,
} from './updates.ts';

export interface TelegramReceiverOptions extends ListenOptions, HttpReceiverOptions {
  /** The one token that is valid. Default `123456789:sandbox`. */
  botToken?: string;
  /** Chat ids and `@names` that exist. Default: everything of the right shape. */
  chats?: readonly string[];
  /** Titles of groups, and first names of people, by id. Default `Sandbox`. */
  titles?: Readonly<Record<string, string>>;
  /** Topics that exist, as `CHAT/TOPIC`. Default: all but topic 1. */
  topics?: readonly string[];
}

export interface TelegramReceiver extends ReceiverView<TelegramRaw> {
  /** `apiRoot` has no slash at its end. */
  start(): Promise<{ apiRoot: string; port: number }>;
  stop(): Promise<void>;
  /** Accepted changes of messages, oldest first; `received` shows messages as they came. `clear` forgets both. */
  edits(): TelegramEdit[];
  /** Somebody presses a button of a message; resolves with what that person was answered. */
  press(press: TelegramPress): Promise<TelegramPressAnswer>;
  updates: Pick<TelegramUpdates, 'setMember' | 'setWebhook' | 'expire' | 'polling'>;
  /** Verdicts on messages, by `CHAT` or `CHAT/TOPIC`. */
  script: Script<HttpVerdict>;
  /** Verdicts on other calls, by method: `getMe`, `getChat`, `editMessageText`. */
  callScript: Script<HttpVerdict>;
}

/** Topics share their chat's pace. */
const chatOf = (destination: string): string => destination.replace(/\/.*/, '');

/** A chat with one person has a positive id, and no limit a minute. */
const groupOf = (destination: string): string | undefined =>
  /^\d/.test(destination) ? undefined : chatOf(destination);

/**
 * One a second and chat with short bursts, twenty a minute and group, thirty a second in all; edits do not count. The
 * true numbers are not published.
 */
export const TELEGRAM_RATES: readonly RateRule[] = [
  { limit: 1, windowMs: 1000, burst: 5, scope: chatOf },
  { limit: 20, windowMs: 60_000, scope: groupOf },
  { limit: 30, windowMs: 1000, scope: 'all' },
];

const limited = (waitMs: number): HttpAnswer => {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const answer = telegramError(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds });
  return { ...answer, headers: { 'retry-after': String(seconds) } };
};

/** A verdict as the Bot API words an error, e.g. `(403, 'Forbidden: bot was blocked by the user')`. */
export const telegramVerdict = (code: number, description: string, parameters?: JsonObject): HttpVerdict => ({
  kind: 'answer',
  ...telegramError(code, description, parameters),
});

const ME = { id: 123_456_789, is_bot: true, first_name: 'Sandbox', username: 'sandbox_bot' };

const PATH = /^\/bot([^/]+)\/(\w+)$/;

export const createTelegramReceiver = (options: TelegramReceiverOptions = {}): TelegramReceiver => {
  const { botToken = '123456789:sandbox', now = Date.now, host = '127.0.0.1' } = options;
  const http = createHttpReceiver<TelegramRaw>('telegram', limited, options);
  const updates = createTelegramUpdates();
  const { judge, edit, edits, forgetEdits, isChat, held } = createTelegramJudge({
    chats: options.chats,
    topics: options.topics,
    now,
  });

  const chatAnswer = ({ fields }: Form): HttpAnswer => {
    const chatId = String(fields.chat_id ?? '');
    if (!isChat(chatId)) return telegramError(400, 'Bad Request: chat not found');
    const { [chatId]: name = 'Sandbox' } = options.titles ?? {};
    const id = Number(chatId) || 0;
    return ok(id > 0 ? { id, type: 'private', first_name: name } : { id, type: 'supergroup', title: name });
  };

  const answerCall = (method: string, form: Form): HttpAnswer => {
    if (method === 'getMe') return ok(ME);
    if (method === 'editMessageText' || method === 'editMessageCaption') return edit(method, form);
    if (method === 'answerCallbackQuery') return updates.answer(form.fields);
    if (method === 'getChatMember') return updates.member(form.fields);
    return method === 'getChat' ? chatAnswer(form) : telegramError(404, 'Not Found');
  };

  /** GET with a query is as good as POST with a body. */
  const formOf = async (exchange: Exchange): Promise<Form | undefined> => {
    if (exchange.method !== 'GET') return readForm(exchange);
    return { fields: Object.fromEntries(new URLSearchParams(exchange.query)), files: [] };
  };

  const listener = createHttpListener(options, async (exchange) => {
    const { response } = exchange;
    const [, token = '', method = ''] = PATH.exec(exchange.path) ?? [];
    if (token === '') return sendHttp(response, telegramError(404, 'Not Found'));
    if (token.replace(/%3a/i, ':') !== botToken) return sendHttp(response, telegramError(401, 'Unauthorized'));
    const form = await formOf(exchange);
    if (!form) return sendHttp(response, telegramError(400, 'Bad Request: the request body cannot be read'));
    if (method === 'getUpdates') {
      const answer = await updates.poll(form.fields);
      return http.answer(response, method, () => answer);
    }
    if (method !== 'sendMessage' && method !== 'sendDocument')
      return http.answer(response, method, () => answerCall(method, form));
    return http.receive(response, destinationOf(form), () => judge(method, form));
  });

  return {
    ...http.view,
    edits,
    clear: () => {
      http.view.clear();
      forgetEdits();
    },
    start: async () => {
      const port = await listener.start();
      return { port, apiRoot: `http://${urlHost(host)}:${port}` };
    },
    stop: async () => {
      updates.stop();
      await listener.stop();
    },
    press: (press) => updates.press(press, held(press.chat, press.messageId)),
    updates,
    script: http.script,
    callScript: http.callScript,
  };
};
