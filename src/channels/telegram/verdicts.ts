/**
 * What Telegram's refusals mean for a delivery, by the Bot API's error code and the words of its description.
 * Sources: tdlib/telegram-bot-api `Client.cpp` and `ClientManager.cpp`, tdlib/td `MessagesManager.cpp`,
 * https://core.telegram.org/bots/api#making-requests and #responseparameters.
 */
import { TelegramError } from 'telegraf';
import type { ConnectionNames } from '../../connection-fault.ts';
import { DeliveryError } from '../../errors.ts';
import { cleanLine, shorten } from '../../text.ts';
import { explainedError } from '../explained.ts';
import { networkFailure } from '../network.ts';
import { formatChatAddress, parseChatAddress } from './address.ts';
import { verdictOf } from './refusals.ts';

const DESCRIPTION_LIMIT = 200;

/** Client::fail_query_with_error */
const NOT_MODIFIED = /message is not modified|message_not_modified/i;

/** A rate limit should not ask for more than an hour, so we wait no longer. */
const RETRY_AFTER_MAX_MS = 3_600_000;

const retryAfterMsOf = (seconds: unknown): { retryAfterMs?: number } =>
  typeof seconds === 'number' && seconds > 0 ? { retryAfterMs: Math.min(seconds * 1000, RETRY_AFTER_MAX_MS) } : {};

/** The same topic in the chat that a group became. */
const movedTo = (address: string, chatId: unknown): string | undefined => {
  const moved = typeof chatId === 'number' || typeof chatId === 'string' ? parseChatAddress(String(chatId)) : undefined;
  const topic = parseChatAddress(address)?.topic;
  return moved && formatChatAddress(topic === undefined ? moved : { ...moved, topic });
};

interface Refusal {
  error_code?: unknown;
  description?: unknown;
  parameters?: { retry_after?: unknown; migrate_to_chat_id?: unknown };
}

const refused = ({ error_code, description, parameters }: Refusal, { peer, address, scrub }: Asked): DeliveryError => {
  const code = typeof error_code === 'number' ? error_code : 0;
  const words = shorten(scrub(cleanLine(String(description ?? ''))), DESCRIPTION_LIMIT);
  const message = `${peer} refused: ${code} ${words}`;
  const newAddress = movedTo(address, parameters?.migrate_to_chat_id);
  if (newAddress !== undefined) return new DeliveryError('re-address', message, { code: String(code), newAddress });
  const wait = retryAfterMsOf(parameters?.retry_after);
  if (code === 429) return new DeliveryError('rate-limited', message, { code: '429', ...wait });
  // A message that "was immediately deleted" was sent; behind a gateway's error it may have been.
  if (code >= 500)
    return new DeliveryError('unavailable', message, { code: String(code), maybeDelivered: true, ...wait });
  const { reason = 'unknown', explanation } = verdictOf(code, words) ?? {};
  const told = { destination: 'the chat', said: message, explanation };
  return explainedError(reason, told, { code: String(code) });
};

/** For a failed edit: resolves if the message had that text already, and throws any other error. */
export const unlessUnchanged = (error: unknown): void => {
  if (!(error instanceof TelegramError) || !NOT_MODIFIED.test(error.description)) throw error;
};

/** A Bot API server older than 9.5 does not know the tag. Source: MessageEntity.cpp, `parse_html` */
export const knowsNoTimes = (error: unknown): boolean =>
  error instanceof DeliveryError && /unsupported start tag "tg-time"/i.test(error.message);

/** For a message in another chat, or one with a file or further parts. */
export const notAmendable = (): DeliveryError =>
  new DeliveryError('bad-message', 'this message cannot take the place of the earlier one', { code: 'not-amendable' });

/** The client throws this instead of following a redirect. */
export const redirected = (): Error => Object.assign(new Error('redirected'), { type: 'redirect' });

/** About the call that failed. */
export interface Asked {
  /** Host of the Bot API. */
  peer: string;
  /** The destination's address; empty for a call that sends nothing. */
  address: string;
  /** The keys of the config that would mend the connection. */
  names?: ConnectionNames | undefined;
  /** Removes the token from a text. */
  scrub(text: string): string;
}

/**
 * The failure of one call. The library's error is not kept: its text may contain the request's URL and so the token, and
 * it holds the whole message.
 */
export const telegramFailure = (error: unknown, asked: Asked): DeliveryError => {
  if (error instanceof TelegramError) return refused(error.response, asked);
  const { type, code } = (typeof error === 'object' && error !== null ? error : {}) as {
    type?: unknown;
    code?: unknown;
  };
  if (type === 'invalid-json') {
    return new DeliveryError('unknown', `${asked.peer} gave an answer that is not JSON`, {
      code: 'invalid-json',
      maybeDelivered: true,
    });
  }
  // Our refusal of a redirect, or node-fetch's: `apiRoot` is wrong.
  if (typeof type === 'string' && type.endsWith('redirect')) {
    return new DeliveryError('sender-misconfigured', `${asked.peer} answered with a redirect, which is not followed`, {
      code: 'redirect',
    });
  }
  // node-fetch's code for an answer that broke off.
  const failure = code === 'ERR_STREAM_PREMATURE_CLOSE' ? { code: 'ECONNRESET' } : error;
  return networkFailure(failure, asked.peer, undefined, asked.names);
};
