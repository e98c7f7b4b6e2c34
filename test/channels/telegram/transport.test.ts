import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import { telegramConfig } from '../../../src/channels/telegram/config.ts';
import { createTelegramChannel } from '../../../src/channels/telegram/transport.ts';
import { atOnce } from '../../../src/chunks.ts';
import { DeliveryError } from '../../../src/errors.ts';
import { destinationOf, inspectionAlert, notificationAlert, TX_HASH } from '../../support/alerts.ts';
import { startHttpReceiver } from '../../support/http-receiver.ts';

const TOKEN = '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw';
const DEPENDENCIES = { post: () => Promise.reject(new Error('not by this way')), now: Date.now };
const ACCEPTED = { status: 200, body: JSON.stringify({ ok: true, result: { message_id: 4711 } }) };

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const composed = (
  channel: ReturnType<typeof createTelegramChannel>,
  address = '-1001234567890',
  alert = inspectionAlert(),
) => {
  const [message] = atOnce(
    channel.compose(
      { destination: destinationOf('telegram', address), alerts: [alert] },
      { format: 'rich', presentation: createPresentation(), sentAt: '2026-11-20T10:07:55.000Z' },
    ),
  );
  if (message === undefined) throw new Error('nothing composed');
  return message;
};

const openChannel = (apiRoot: string, alert = inspectionAlert()) => {
  const channel = createTelegramChannel(telegramConfig.parse({ botToken: TOKEN, apiRoot }), DEPENDENCIES);
  closers.push(channel.close);
  const send = (address = '-1001234567890', timeoutMs = 20_000) =>
    channel.send(composed(channel, address, alert), AbortSignal.timeout(timeoutMs));
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
    expect(await send()).toEqual({ providerId: '4711', handle: '-1001234567890:4711' });
    expect(receiver.arrived.map(({ method, path }) => `${method} ${path}`)).toEqual([`POST /bot${TOKEN}/sendMessage`]);
    expect(JSON.parse(receiver.arrived[0]?.body ?? '')).toEqual({
      chat_id: '-1001234567890',
      text: expect.stringContaining('<b>🔴 CRITICAL · Lending Pool'),
      parse_mode: 'HTML',
      reply_markup: { inline_keyboard: [[{ text: 'Check transaction', url: `https://basescan.org/tx/${TX_HASH}` }]] },
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

describe('a server of an earlier version', () => {
  const refusal = {
    ok: false,
    error_code: 400,
    description: `Bad Request: can't parse entities: Unsupported start tag "tg-time" at byte offset 321`,
  };

  test('refuses a time once: from then on it gets the text of it alone', async () => {
    const { receiver, send, channel } = await openTelegram();
    receiver.script({ status: 400, body: JSON.stringify(refusal) });
    expect(await failureOf(send())).toMatchObject({ reason: 'bad-message', maybeDelivered: false });
    const { handle = '' } = await send();
    await channel.amend?.(handle, composed(channel), new AbortController().signal);
    const texts = receiver.arrived.map(({ body }) => (JSON.parse(body) as { text: string }).text);
    expect(texts[0]).toContain('<tg-time unix="1795169232" format="T">10:07:12 UTC</tg-time>');
    for (const text of texts.slice(1)) {
      expect(text).not.toContain('tg-time');
      expect(text).toContain('\n10:07:12 UTC · inspected');
    }
    expect(texts).toHaveLength(3);
  });

  test('that refuses something else goes on getting times', async () => {
    const { receiver, send } = await openTelegram();
    receiver.script({ status: 400, body: JSON.stringify({ ...refusal, description: 'Bad Request: chat not found' }) });
    await failureOf(send());
    await send();
    expect(receiver.arrived.at(-1)?.body).toContain('tg-time');
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
    const error = await failureOf(openChannel(await startHalfAnswer(headers, drops)).send(undefined, 500));
    expect(error).toMatchObject({ reason: 'unavailable', maybeDelivered: true });
  });
});

test('a notification of 100 kB is one request: its beginning, and a file that has all of it', async () => {
  const receiver = await startHttpReceiver(() => ACCEPTED);
  closers.push(receiver.close);
  const long = Array.from({ length: 4000 }, (_, n) => `line ${n} of the report`).join('\n');
  const receipt = await openChannel(receiver.origin, notificationAlert(long)).send();
  expect(receipt).toEqual({ providerId: '4711', handle: '-1001234567890:4711' });
  expect(receiver.arrived.map(({ path }) => path)).toEqual([`/bot${TOKEN}/sendDocument`]);
  expect(receiver.arrived[0]?.body).toContain('> line 3999 of the report');
});
