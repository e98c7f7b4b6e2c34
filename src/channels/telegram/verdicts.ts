/**
 * What Telegram's refusals mean for a delivery, by the Bot API's error code and the words of its description.
 * Sources: tdlib/telegram-bot-api `Client.cpp` and `ClientManager.cpp`, tdlib/td `MessagesManager.cpp`,
 * https://core.telegram.org/bots/api#making-requests and #responseparameters.
 */
import { TelegramError } from 'telegraf';
import type { ConnectionNames } from '../../connection-fault.ts';
import { DeliveryError, type DeliveryReason } from '../../errors.ts';
import { cleanLine, shorten } from '../../text.ts';
import { networkFailure } from '../network.ts';
import { formatChatAddress, parseChatAddress } from './address.ts';

interface Verdict {
  /** The API's `error_code`; a row without one matches any. */
  code?: number;
  /** Compared with the description, without regard to case. */
  says: RegExp;
  reason: DeliveryReason;
}

/**
 * The first row that matches decides. The server's own words come in capitals, and most of its 403 as 400
 * (`Client::fail_query_with_error`), so rows for a dead destination match the words only.
 */
const VERDICTS: readonly Verdict[] = [
  // Client::get_formatted_text, get_input_message_text; MessageEntity.cpp parse_html; get_message_text limits
  { code: 400, says: /can't parse (entities|messageentity)/i, reason: 'bad-message' },
  { code: 400, says: /(message|text|caption) is too long|(message|caption)_too_long/i, reason: 'bad-message' },
  { code: 400, says: /message text is empty|text must be non-empty|message_empty/i, reason: 'bad-message' },
  { code: 400, says: /unsupported parse_mode|must be encoded in utf-8/i, reason: 'bad-message' },
  { code: 400, says: /entity_bounds_invalid|entities_too_long|url_invalid/i, reason: 'bad-message' },
  // MessageContent.cpp get_input_message_content; a server in front of a Bot API refuses large bodies itself
  { code: 400, says: /file must be non-empty|no document in the request|file is too big/i, reason: 'bad-message' },
  { code: 413, says: /^/, reason: 'bad-message' },
  // MessageContent.cpp can_send_message_content: text may still be sent where files may not
  { says: /not enough rights to send documents|chat_send_docs_forbidden/i, reason: 'bad-message' },
  // Client::check_message, MessagesManager::edit_message_text, and the server's words for the same
  {
    code: 400,
    says: /message to edit not found|message can't be edited|no text in the message/i,
    reason: 'bad-message',
  },
  { code: 400, says: /message_(id_invalid|edit_time_expired|author_required)/i, reason: 'bad-message' },
  // Client::check_chat, check_chat_access
  { says: /chat not found|chat_id is empty|chat identifier/i, reason: 'destination-dead' },
  { says: /bot was (kicked from|blocked by)|user_is_blocked|bot_blocked/i, reason: 'destination-dead' },
  { says: /bot is not a member|user is deactivated|user_deactivated/i, reason: 'destination-dead' },
  { says: /group chat was deleted|channel_private|peer_id_invalid/i, reason: 'destination-dead' },
  { says: /bot can't (initiate|send messages)|bots can't send/i, reason: 'destination-dead' },
  // Client::check_message_topic; the server's words for closed and deleted topics
  { says: /(message thread|topic) not found|topic_(closed|deleted|id_invalid)/i, reason: 'destination-dead' },
  // MessagesManager::can_send_message_content, and the server's words for the same
  { says: /not enough rights|have no rights|need administrator rights/i, reason: 'destination-dead' },
  { says: /have no write access|can't (access|write to) the chat/i, reason: 'destination-dead' },
  { says: /chat_write_forbidden|chat_restricted|chat_admin_required/i, reason: 'destination-dead' },
  { says: /chat_send_\w*forbidden|user_banned_in_channel/i, reason: 'destination-dead' },
  // ClientManager::send, Client::get_closing_error, HttpConnection::handle: an unknown token, or one that is logged out
  { code: 401, says: /^/, reason: 'sender-misconfigured' },
  { code: 404, says: /^/, reason: 'sender-misconfigured' },
  { code: 421, says: /^/, reason: 'sender-misconfigured' },
  { code: 400, says: /logged out|bot has already been closed|frozen_method_invalid/i, reason: 'sender-misconfigured' },
];

const DESCRIPTION_LIMIT = 200;

/** Client::fail_query_with_error */
const NOT_MODIFIED = /message is not modified|message_not_modified/i;

/** A rate limit should not ask for more than an hour, so we wait no longer. */
const RETRY_AFTER_MAX_MS = 3_600_000;

const reasonOf = (code: number, description: string): DeliveryReason =>
  VERDICTS.find((row) => (row.code ?? code) === code && row.says.test(description))?.reason ?? 'unknown';

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
  return new DeliveryError(reasonOf(code, words), message, { code: String(code) });
};

/** For a failed edit: resolves if the message had that text already, and throws any other error. */
export const unlessUnchanged = (error: unknown): void => {
  if (!(error instanceof TelegramError) || !NOT_MODIFIED.test(error.description)) throw error;
};

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
