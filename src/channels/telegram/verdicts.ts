/**
 * What Telegram's refusals mean for a delivery, by the Bot API's error code and the words of its description.
 * Sources: tdlib/telegram-bot-api `Client.cpp` and `ClientManager.cpp`, tdlib/td `MessagesManager.cpp`,
 * https://core.telegram.org/bots/api#making-requests and #responseparameters.
 */
import { TelegramError } from 'telegraf';
import { DeliveryError } from '../../errors.ts';
import type { ConnectionNames } from '../../net.ts';
import { cleanLine, shorten } from '../../text.ts';
import { objectIn } from '../content/foreign.ts';
import { dead, explainedError, misconfigured, networkFailure, type Verdict } from '../failures.ts';
import { formatChatAddress, parseChatAddress } from './address.ts';

const DESCRIPTION_LIMIT = 200;

/** A rate limit should not ask for more than an hour, so we wait no longer. */
const RETRY_AFTER_MAX_MS = 3_600_000;

const retryAfterMsOf = (seconds: unknown): number | undefined =>
  typeof seconds === 'number' && seconds > 0 ? Math.min(seconds * 1000, RETRY_AFTER_MAX_MS) : undefined;

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
  const answered = { code: String(code), retryAfterMs: retryAfterMsOf(parameters?.retry_after) };
  if (code === 429) return new DeliveryError('rate-limited', message, answered);
  // A message that "was immediately deleted" was sent; behind a gateway's error it may have been.
  if (code >= 500) return new DeliveryError('unavailable', message, { ...answered, maybeDelivered: true });
  // The first row that matches decides; nobody documented what no row matches.
  const verdict = VERDICTS.find((row) => (row.code ?? code) === code && row.says.test(words)) ?? { reason: 'unknown' };
  return explainedError(verdict, { destination: 'the chat', said: message, code: String(code) });
};

/** Of a failed edit: the message has that text already. Source: `Client::fail_query_with_error` */
export const isUnchanged = (error: unknown): boolean =>
  error instanceof DeliveryError && /message is not modified|message_not_modified/i.test(error.message);

/** A Bot API server older than 9.5 does not know the tag. Source: MessageEntity.cpp, `parse_html` */
export const knowsNoTimes = (error: unknown): boolean =>
  error instanceof DeliveryError && /unsupported start tag "tg-time"/i.test(error.message);

/** For a message in another chat, or one with a file. */
export const notAmendable = (): DeliveryError =>
  new DeliveryError('bad-message', 'this message cannot take the place of the earlier one', { code: 'not-amendable' });

/** The client throws this instead of following a redirect. */
export const redirected = (): Error => Object.assign(new Error('redirected'), { type: 'redirect' });

/** About the call that failed. */
interface Asked {
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
  const { type, code } = objectIn(error);
  if (type === 'invalid-json') {
    const failure = { code: type, maybeDelivered: true };
    return new DeliveryError('unknown', `${asked.peer} gave an answer that is not JSON`, failure);
  }
  // Our refusal of a redirect, or node-fetch's: `apiRoot` is wrong.
  if (typeof type === 'string' && type.endsWith('redirect')) {
    const says = `${asked.peer} answered with a redirect, which is not followed`;
    return new DeliveryError('sender-misconfigured', says, { code: 'redirect' });
  }
  // node-fetch's code for an answer that broke off.
  const failure = code === 'ERR_STREAM_PREMATURE_CLOSE' ? { code: 'ECONNRESET' } : error;
  return networkFailure(failure, asked.peer, undefined, asked.names);
};

interface Row extends Verdict {
  /** The API's `error_code`; a row without one matches any. */
  code?: number;
  /** Compared with the description, without regard to case. */
  says: RegExp;
}

const ADD = 'add the bot to the chat, or correct the chat id, at the monitoring service or in the config of Tocsin';
const ADD_AGAIN = 'add the bot to the chat again, or list another chat';
const ANOTHER = 'list another chat, at the monitoring service or in the config of Tocsin';
const START = 'ask its owner to open the bot and to press Start';
const UNBLOCK = 'ask its owner to unblock the bot, or list another chat';
const TOPIC =
  'correct the topic (CHAT/TOPIC), or list the chat without one, at the monitoring service or in the config of Tocsin';
const REOPEN = 'reopen the topic, or let the bot manage topics';
const RIGHTS = 'let the bot send messages: make it an admin of the chat, or change what members may do';
const TOKEN = 'write the token that @BotFather shows into channels.telegram.botToken';

const badMessage = (says: RegExp): Row => ({ code: 400, says, reason: 'bad-message' });

const refuses = (says: RegExp, is: string, todo: string): Row => ({ says, ...dead(is, todo) });

const NO_RIGHTS = 'does not let the bot write';

const blames = (code: number, says: RegExp, is: string, todo: string): Row => ({
  ...{ code, says, ...misconfigured('Telegram', is, todo) },
});

const LOGGED_OUT = 'has logged the bot of Tocsin out of this Bot API server';
const API_ROOT = 'correct channels.telegram.apiRoot, or log the bot in at that server';

/**
 * The server's own words come in capitals, and most of its 403 as 400 (`Client::fail_query_with_error`), so rows for a dead
 * destination match the words only.
 */
const VERDICTS: readonly Row[] = [
  // Client::get_formatted_text, get_input_message_text; MessageEntity.cpp parse_html; get_message_text limits
  badMessage(/can't parse (entities|messageentity)/i),
  badMessage(/(message|text|caption) is too long|(message|caption)_too_long/i),
  badMessage(/message text is empty|text must be non-empty|message_empty/i),
  badMessage(/unsupported parse_mode|must be encoded in utf-8/i),
  badMessage(/entity_bounds_invalid|entities_too_long|url_invalid/i),
  // Client::get_reply_markup, ReplyMarkup.cpp get_inline_keyboard_button, and the server's words for the same
  badMessage(/inline keyboard button|can't parse reply keyboard|button_\w*invalid|reply_markup_/i),
  // MessageContent.cpp get_input_message_content; a server in front of a Bot API refuses large bodies itself
  badMessage(/file must be non-empty|no document in the request|file is too big/i),
  { code: 413, says: /^/, reason: 'bad-message' },
  // MessageContent.cpp can_send_message_content: text may still be sent where files may not
  { says: /not enough rights to send documents|chat_send_docs_forbidden/i, reason: 'bad-message' },
  // Client::check_message, MessagesManager::edit_message_text, and the server's words for the same
  badMessage(/message to edit not found|message can't be edited|no text in the message/i),
  badMessage(/message_(id_invalid|edit_time_expired|author_required)/i),
  // Client::check_chat, check_chat_access
  refuses(/chat not found|chat_id is empty|chat identifier/i, 'does not exist, or the bot was never in it', ADD),
  refuses(/bot was kicked from/i, 'has removed the bot', ADD_AGAIN),
  refuses(/bot was blocked by|user_is_blocked|bot_blocked/i, 'has blocked the bot', UNBLOCK),
  refuses(/bot is not a member/i, 'does not have the bot as a member', ADD),
  refuses(/user is deactivated|user_deactivated/i, 'belongs to an account that was deleted', ANOTHER),
  refuses(/group chat was deleted/i, 'was deleted', ANOTHER),
  refuses(/channel_private/i, 'is private, and the bot is not in it', ADD),
  refuses(/peer_id_invalid/i, 'is not known to the bot', ADD),
  refuses(/bot can't initiate/i, 'has never written to the bot, which may not write first', START),
  refuses(/bot can't send messages|bots can't send/i, 'may not be written to by a bot', ANOTHER),
  // Client::check_message_topic; the server's words for closed and deleted topics
  refuses(/topic_closed/i, 'has closed this topic', REOPEN),
  refuses(/(message thread|topic) not found|topic_(deleted|id_invalid)/i, 'has no such topic any more', TOPIC),
  // MessagesManager::can_send_message_content, and the server's words for the same
  refuses(/not enough rights|have no rights|need administrator rights/i, NO_RIGHTS, RIGHTS),
  refuses(/have no write access|can't (access|write to) the chat/i, NO_RIGHTS, RIGHTS),
  refuses(/chat_write_forbidden|chat_restricted|chat_admin_required/i, NO_RIGHTS, RIGHTS),
  refuses(/chat_send_\w*forbidden|user_banned_in_channel/i, NO_RIGHTS, RIGHTS),
  // ClientManager::send, Client::get_closing_error, HttpConnection::handle: an unknown token, or one that is logged out
  blames(401, /^/, 'does not take the bot token of Tocsin', TOKEN),
  blames(404, /^/, 'does not know the bot token of Tocsin', TOKEN),
  blames(421, /^/, LOGGED_OUT, API_ROOT),
  blames(400, /logged out|bot has already been closed/i, LOGGED_OUT, API_ROOT),
  blames(400, /frozen_method_invalid/i, 'has frozen the bot of Tocsin', 'ask @BotFather why, or use another bot'),
];
