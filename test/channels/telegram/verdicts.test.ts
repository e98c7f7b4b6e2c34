import { TelegramError } from 'telegraf';
import { describe, expect, test } from 'vitest';
import { telegramFailure } from '../../../src/channels/telegram/verdicts.ts';
import type { DeliveryReason } from '../../../src/errors.ts';

describe('verdicts', () => {
  const judge = (code: number, description: string, parameters = {}, address = '-1/5') =>
    telegramFailure(
      new TelegramError({ error_code: code, description, parameters }, { payload: { text: 'secret text' } }),
      {
        peer: 'api.telegram.org',
        address,
        scrub: (text) => text,
      },
    );

  test.each<[DeliveryReason, number, string]>([
    ['bad-message', 400, 'Bad Request: can\'t parse entities: Can\'t find end tag corresponding to start tag "b"'],
    ['bad-message', 400, 'Bad Request: text is too long'],
    ['bad-message', 400, 'Bad Request: MESSAGE_TOO_LONG'],
    ['bad-message', 400, 'Bad Request: message text is empty'],
    ['bad-message', 400, 'Bad Request: strings must be encoded in UTF-8'],
    // Client::get_inline_keyboard_button; the server's own words
    ['bad-message', 400, "Bad Request: inline keyboard button URL 'https://grafana' is invalid: Wrong HTTP URL"],
    ['bad-message', 400, "Bad Request: can't parse reply keyboard markup JSON object"],
    ['bad-message', 400, "Bad Request: can't parse inline keyboard button: text buttons must be non-empty"],
    ['bad-message', 400, 'Bad Request: BUTTON_DATA_INVALID'],
    ['bad-message', 400, 'Bad Request: REPLY_MARKUP_TOO_LONG'],
    // Client::process_send_document_query; FileLoaderUtils.cpp; MessagesManager::process_send_message_fail_error
    ['bad-message', 400, 'Bad Request: there is no document in the request'],
    ['bad-message', 400, 'Bad Request: file must be non-empty'],
    ['bad-message', 400, 'Bad Request: message caption is too long'],
    ['bad-message', 413, 'Request Entity Too Large'],
    // MessageContent.cpp can_send_message_content: text is another right
    ['bad-message', 400, 'Bad Request: not enough rights to send documents to the chat'],
    ['bad-message', 400, 'Bad Request: CHAT_SEND_DOCS_FORBIDDEN'],
    // Client::check_message; MessagesManager::edit_message_text; the server's own words
    ['bad-message', 400, 'Bad Request: message to edit not found'],
    ['bad-message', 400, "Bad Request: message can't be edited"],
    ['bad-message', 400, 'Bad Request: there is no text in the message to edit'],
    ['bad-message', 400, 'Bad Request: MESSAGE_ID_INVALID'],
    ['bad-message', 400, 'Bad Request: MESSAGE_EDIT_TIME_EXPIRED'],
    ['destination-dead', 400, 'Bad Request: not enough rights to send text messages to the chat'],
    ['destination-dead', 400, 'Bad Request: private chat not found'],
    ['destination-dead', 400, 'Bad Request: chat_id is empty'],
    ['destination-dead', 400, 'Bad Request: PEER_ID_INVALID'],
    ['destination-dead', 400, 'Bad Request: TOPIC_CLOSED'],
    ['destination-dead', 400, 'Bad Request: TOPIC_DELETED'],
    ['destination-dead', 400, 'Bad Request: message thread not found'],
    ['destination-dead', 400, 'Bad Request: need administrator rights in the channel chat'],
    ['destination-dead', 400, "Bad Request: can't access the chat"],
    ['destination-dead', 400, 'Bad Request: CHAT_SEND_PLAIN_FORBIDDEN'],
    ['destination-dead', 403, 'Forbidden: user is deactivated'],
    ['destination-dead', 403, 'Forbidden: the group chat was deleted'],
    ['destination-dead', 403, 'Forbidden: bot was kicked from the channel chat'],
    ['destination-dead', 403, 'Forbidden: bot is not a member of the supergroup chat'],
    ['destination-dead', 403, "Forbidden: bot can't initiate conversation with a user"],
    ['destination-dead', 403, "Forbidden: bot can't send messages to bots"],
    ['sender-misconfigured', 401, 'Unauthorized: invalid token specified'],
    ['sender-misconfigured', 400, 'Bad Request: the bot has already been closed'],
    ['sender-misconfigured', 400, 'Logged out'],
    ['unavailable', 500, 'Internal Server Error: restart'],
    ['unavailable', 504, 'Gateway Timeout'],
    ['unknown', 409, 'Conflict: terminated by other getUpdates request'],
    ['unknown', 400, 'Bad Request: something new'],
  ])('%s: %i %s', (reason, code, description) => {
    const error = judge(code, description);
    expect(error).toMatchObject({ reason, code: String(code) });
    expect(error.cause).toBeUndefined();
    const said = `api.telegram.org refused: ${code} ${description}`;
    expect(error.said ?? error.message).toBe(said);
    expect(error.explanation !== undefined).toBe(reason === 'destination-dead' || reason === 'sender-misconfigured');
    expect(error.message.endsWith(error.explanation ? ` (${said})` : said)).toBe(true);
  });

  test('a wait counts where Telegram names one, and no longer than an hour', () => {
    expect(judge(429, 'Too Many Requests', { retry_after: 3 }).retryAfterMs).toBe(3000);
    expect(judge(429, 'Too Many Requests', { retry_after: 90_000 }).retryAfterMs).toBe(3_600_000);
    expect(judge(429, 'Too Many Requests', { retry_after: 'soon' }).retryAfterMs).toBeUndefined();
  });

  test('a group that moved keeps its topic, and an id that is none moves nothing', () => {
    const moved = 'Bad Request: group chat was upgraded to a supergroup chat';
    expect(judge(400, moved, { migrate_to_chat_id: -100987 })).toMatchObject({
      reason: 're-address',
      newAddress: '-100987/5',
    });
    expect(judge(400, moved, { migrate_to_chat_id: '../x' }).reason).toBe('unknown');
  });

  test('the words of an answer are one short line', () => {
    const { message } = judge(400, `a\r\nb\u202e${'x'.repeat(5000)}`);
    expect(message).toMatch(/^api\.telegram\.org refused: 400 a bx+…$/);
    expect(message.length).toBeLessThan(260);
  });

  test.each([
    [400, 'Bad Request: chat not found', 'the chat does not exist, or the bot was never in it'],
    [403, 'Forbidden: bot was kicked from the supergroup chat', 'the chat has removed the bot'],
    [403, 'Forbidden: bot was blocked by the user', 'the chat has blocked the bot'],
    [400, 'Bad Request: TOPIC_CLOSED', 'the chat has closed this topic'],
    [400, 'Bad Request: message thread not found', 'the chat has no such topic any more'],
    [400, 'Bad Request: not enough rights to send text messages to the chat', 'the chat does not let the bot write'],
    [401, 'Unauthorized', 'Telegram does not take the bot token of Tocsin'],
    [404, 'Not Found', 'Telegram does not know the bot token of Tocsin'],
  ])('%i %s: in words, with what mends it', (code, description, words) => {
    const { message, explanation } = judge(code, description);
    expect(message).toBe(`${words} (api.telegram.org refused: ${code} ${description})`);
    expect(explanation?.todo).toMatch(/^[a-z]{3,} .*[^.]$/);
  });
});
