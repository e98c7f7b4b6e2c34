import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { TelegramError } from 'telegraf';
import { afterEach, describe, expect, test } from 'vitest';
import { WELL_KNOWN_CHAINS } from '../../src/channels/chains.ts';
import { formatChatAddress, parseChatAddress } from '../../src/channels/telegram/address.ts';
import { telegramConfig } from '../../src/channels/telegram/config.ts';
import { telegram } from '../../src/channels/telegram/transport.ts';
import { telegramFailure } from '../../src/channels/telegram/verdicts.ts';
import { DeliveryError, type DeliveryReason } from '../../src/errors.ts';
import { destinationOf, inspectionAlert, notificationAlert } from '../support/alerts.ts';
import { startHttpReceiver } from '../support/http-receiver.ts';

const TOKEN = '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw';
const DEPENDENCIES = { post: () => Promise.reject(new Error('not by this way')), now: Date.now };
const ACCEPTED = { status: 200, body: JSON.stringify({ ok: true, result: { message_id: 4711 } }) };

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const openChannel = (apiRoot: string, timeout = '20s', alert = inspectionAlert()) => {
  const channel = telegram.create(telegramConfig.parse({ botToken: TOKEN, apiRoot, timeout }), DEPENDENCIES);
  closers.push(channel.close);
  const send = (address = '-1001234567890') => {
    const [message] = channel.compose(
      { destination: destinationOf('telegram', address), alerts: [alert] },
      { format: 'rich', chains: WELL_KNOWN_CHAINS, sentAt: '2026-11-20T10:07:55.000Z' },
    );
    if (message === undefined) throw new Error('nothing composed');
    return channel.send(message, new AbortController().signal);
  };
  return { channel, send };
};

const openTelegram = async (path = '') => {
  const receiver = await startHttpReceiver(() => ACCEPTED);
  closers.push(receiver.close);
  return { receiver, ...openChannel(`${receiver.origin}${path}`) };
};

const failureOf = async (sending: Promise<unknown>): Promise<DeliveryError> => {
  const error: unknown = await sending.then(
    () => 'accepted',
    (thrown: unknown) => thrown,
  );
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(TOKEN.slice(10));
  if (!(error instanceof DeliveryError)) throw error;
  return error;
};

describe('a message on the wire', () => {
  test('is one sendMessage in HTML, without a preview of its link', async () => {
    const { receiver, send } = await openTelegram();
    expect(await send()).toEqual({ providerId: '4711' });
    expect(receiver.arrived.map(({ method, path }) => `${method} ${path}`)).toEqual([`POST /bot${TOKEN}/sendMessage`]);
    expect(JSON.parse(receiver.arrived[0]?.body ?? '')).toEqual({
      chat_id: '-1001234567890',
      text: expect.stringContaining('<b>CRITICAL: Lending Pool'),
      parse_mode: 'HTML',
      link_preview_options: { is_disabled: true },
    });
  });

  test.each([
    ['-1001234567890123456', { chat_id: '-1001234567890123456' }],
    ['-1001234567890/77', { chat_id: '-1001234567890', message_thread_id: 77 }],
    ['-1001234567890/1', { chat_id: '-1001234567890' }],
    ['@lending_alerts/77', { chat_id: '@lending_alerts', message_thread_id: 77 }],
  ])('to %s goes with every digit, and names no General topic', async (address, expected) => {
    const { receiver, send } = await openTelegram();
    await send(address);
    const { chat_id, message_thread_id } = JSON.parse(receiver.arrived[0]?.body ?? '');
    expect({ chat_id, ...(message_thread_id === undefined ? {} : { message_thread_id }) }).toEqual(expected);
  });

  test.each(['', '/', '/telegram', '/telegram/'])('an API root with the path %j keeps it', async (path) => {
    const { receiver, send } = await openTelegram(path);
    await send();
    expect(receiver.arrived[0]?.path).toBe(`${path.replace(/\/$/, '')}/bot${TOKEN}/sendMessage`);
  });

  test('verify asks who we are', async () => {
    const { receiver, channel } = await openTelegram();
    const body = JSON.stringify({ ok: true, result: { id: 1, is_bot: true, username: 'tocsin_bot' } });
    receiver.script({ status: 200, body });
    expect(await channel.verify(new AbortController().signal)).toBe('sends as @tocsin_bot');
    expect(receiver.arrived[0]?.path).toBe(`/bot${TOKEN}/getMe`);
  });
});

describe('an answer that never becomes whole', () => {
  /** Says that more is to come; then nothing, or the end of the connection. */
  const startHalfAnswer = async (headers: Record<string, string>, drops: boolean): Promise<string> => {
    const server = createServer((_request, response) => {
      response.writeHead(200, headers);
      response.write('{"ok":true,', () => drops && response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(async () => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  test.each([
    ['in chunks, dropped', { 'transfer-encoding': 'chunked' }, true],
    // node-fetch does not notice this one; the deadline does.
    ['of a stated length, dropped', { 'content-length': '500' }, true],
    ['of a stated length, stalled', { 'content-length': '500' }, false],
  ])('%s, is a retry that may have arrived', async (_how, headers, drops) => {
    const error = await failureOf(openChannel(await startHalfAnswer(headers, drops), '500ms').send());
    expect(error).toMatchObject({ reason: 'retry', maybeDelivered: true });
  });
});

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
    ['retry', 500, 'Internal Server Error: restart'],
    ['retry', 504, 'Gateway Timeout'],
    ['unknown', 409, 'Conflict: terminated by other getUpdates request'],
    ['unknown', 400, 'Bad Request: something new'],
  ])('%s: %i %s', (reason, code, description) => {
    const error = judge(code, description);
    expect(error).toMatchObject({ reason, code: String(code) });
    expect(error.cause).toBeUndefined();
    expect(error.message).toBe(`api.telegram.org refused: ${code} ${description}`);
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
});

describe('addresses', () => {
  test.each([
    ['-1001234567890', { chat: '-1001234567890' }],
    ['42', { chat: '42' }],
    ['9223372036854775807', { chat: '9223372036854775807' }],
    ['@lending_alerts', { chat: '@lending_alerts' }],
    ['-100123/77', { chat: '-100123', topic: 77 }],
    ['-100123/1', { chat: '-100123' }],
  ])('%s is one', (text, address) => expect(parseChatAddress(text)).toEqual(address));

  test.each([
    '',
    '0',
    '-0',
    '007',
    '1.5',
    '1e9',
    '+5',
    '--5',
    '99999999999999999999',
    '@a',
    '@1abc',
    '@a-bcd',
    'lending_alerts',
    '5/',
    '5/0',
    '5/x',
    '5/99999999999',
    '5/6/7',
    ' 5',
    '5\n',
    '٥',
  ])('%j is none', (text) => expect(parseChatAddress(text)).toBeUndefined());

  test('the General topic and its chat are one destination', () => {
    const entry = { name: 'telegram', contacts: ['-100123/1', ' -100123 ', '-100123/2'] };
    expect(telegram.addressesOf(entry)).toEqual({ addresses: ['-100123', '-100123/2'], problems: [] });
    expect(formatChatAddress({ chat: '@abcd', topic: 3 })).toBe('@abcd/3');
  });

  test('a token among the contacts is not repeated in the problem', () => {
    const { problems } = telegram.addressesOf({ name: 'telegram', contacts: [`bot${TOKEN}`] });
    expect(problems).toHaveLength(1);
    expect(problems.join()).not.toContain(TOKEN);
  });
});

describe('config', () => {
  test.each([
    [{}, /botToken/],
    [{ botToken: 'abc' }, /bot token as BotFather gives it/],
    [{ botToken: `${TOKEN}/x` }, /bot token/],
    [{ botToken: TOKEN, apiRoot: 'api.telegram.org' }, /http or https URL/],
    [{ botToken: TOKEN, token: 'x' }, /token/],
  ])('%j is refused', (config, why) => {
    const { error } = telegramConfig.safeParse(config);
    expect(error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join()).toMatch(why);
  });

  test('keeps the token to itself', () => {
    const config = telegramConfig.parse({ botToken: TOKEN });
    expect(`${inspect(config, { depth: 9 })}${JSON.stringify(config)}`).not.toContain(TOKEN);
    expect(config.botToken.reveal()).toBe(TOKEN);
  });
});

test('a long notification is sent in parts that reply to the first, and a part that was taken is not sent again', async () => {
  const answers = [200, 429, 200, 200];
  const receiver = await startHttpReceiver(() => {
    const status = answers.shift() ?? 200;
    if (status === 200) return ACCEPTED;
    const refusal = { ok: false, error_code: 429, description: 'Too Many Requests', parameters: { retry_after: 3 } };
    return { status, body: JSON.stringify(refusal) };
  });
  closers.push(receiver.close);
  const long = notificationAlert(Array.from({ length: 400 }, (_, n) => `line ${n} of the report`).join('\n'));
  const { send } = openChannel(receiver.origin, '20s', long);
  expect(await failureOf(send())).toMatchObject({ reason: 'rate-limited', retryAfterMs: 3000 });
  expect(await send()).toEqual({ providerId: '4711' });
  const bodies = receiver.arrived.map(({ body }) => JSON.parse(body) as { text: string; reply_parameters?: object });
  const parts = bodies.map(({ text }) => /part (\d) of 3/.exec(text)?.[1]);
  expect(parts).toEqual(['1', '2', '2', '3']);
  expect(bodies[3]?.reply_parameters).toMatchObject({ message_id: 4711 });
});
