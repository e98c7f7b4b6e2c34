/** The Telegram receiver, asked by telegraf and by plain HTTP. */
import { Telegram } from 'telegraf';
import { fetch } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseTelegramHtml } from '../../../../src/sandbox/receivers/telegram/html.ts';
import {
  createTelegramReceiver,
  TELEGRAM_RATES,
  type TelegramReceiverOptions,
  telegramVerdict,
} from '../../../../src/sandbox/receivers/telegram/telegram.ts';

const TOKEN = '123456789:sandbox';
const CHAT = '-1001234567890';

const start = async (options: TelegramReceiverOptions = {}) => {
  const receiver = createTelegramReceiver(options);
  onTestFinished(() => receiver.stop());
  const { apiRoot } = await receiver.start();
  const bot = (token = TOKEN) => new Telegram(token, { apiRoot, webhookReply: false });
  const call = async (method: string, body: unknown, token = TOKEN) => {
    const response = await fetch(`${apiRoot}/bot${token}/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as { ok: boolean; description?: string; error_code?: number };
    return { status: response.status, ...answer };
  };
  return { receiver, bot, call, apiRoot };
};

describe('sendMessage', () => {
  test('is accepted from the client, parsed, and kept as a reader sees it', async () => {
    const { receiver, bot } = await start();
    const html = '<b>A &amp; B</b> 🧨 <a href="https://explorer.example/?a=1&amp;b=2">0x1</a>\n<code>&lt;x&gt;</code>';
    const sent = await bot().sendMessage(CHAT, html, { parse_mode: 'HTML' });
    expect(sent).toMatchObject({ message_id: 1, chat: { id: Number(CHAT) }, text: 'A & B 🧨 0x1\n<x>' });
    expect(receiver.received()).toMatchObject([
      {
        kind: 'telegram',
        destination: CHAT,
        id: '1',
        text: 'A & B 🧨 0x1\n<x>',
        raw: {
          method: 'sendMessage',
          source: html,
          entities: [
            { type: 'bold', offset: 0, length: 5 },
            { type: 'text_link', offset: 9, length: 3, url: 'https://explorer.example/?a=1&b=2' },
            { type: 'code', offset: 13, length: 3 },
          ],
        },
      },
    ]);
  });

  test('a topic is part of the destination, and a reply names a message of the chat', async () => {
    const { receiver, call } = await start({ topics: [`${CHAT}/7`] });
    const send = (fields: object) => call('sendMessage', { chat_id: CHAT, text: 'x', ...fields });
    expect(await send({ message_thread_id: 7 })).toMatchObject({ ok: true });
    expect(await send({ message_thread_id: 8 })).toMatchObject({
      description: 'Bad Request: message thread not found',
    });
    expect(await send({ reply_parameters: { message_id: 1 } })).toMatchObject({ ok: true });
    expect(await send({ reply_parameters: { message_id: 99 } })).toMatchObject({
      description: 'Bad Request: message to be replied not found',
    });
    expect(await send({ reply_parameters: { message_id: 99, allow_sending_without_reply: true } })).toMatchObject({
      ok: true,
    });
    expect(receiver.received().map(({ destination, raw }) => [destination, raw.replyTo])).toEqual([
      [`${CHAT}/7`, undefined],
      [CHAT, 1],
      [CHAT, undefined],
    ]);
  });

  test('a reply is an object, in a form as JSON', async () => {
    const { receiver, bot, call } = await start();
    await call('sendMessage', { chat_id: CHAT, text: 'first' });
    expect(await call('sendMessage', { chat_id: CHAT, text: 'x', reply_parameters: '{' })).toMatchObject({
      description: 'Bad Request: object expected as reply parameters',
    });
    const document = { source: Buffer.from('x'), filename: 'x.txt' };
    // telegraf drops objects from a form, so its caller writes them as text.
    const reply_parameters = JSON.stringify({ message_id: 1 }) as never;
    await bot().callApi('sendDocument', { chat_id: CHAT, document, reply_parameters });
    expect(receiver.received().map(({ raw }) => raw.replyTo)).toEqual([undefined, 1]);
  });

  test('the General topic cannot be named', async () => {
    const { call } = await start();
    const send = (topic: number) => call('sendMessage', { chat_id: CHAT, text: 'x', message_thread_id: topic });
    expect([(await send(1)).status, (await send(2)).status]).toEqual([400, 200]);
  });

  const of = (length: number): string => 'x'.repeat(length);
  test.each([
    ['no chat', { text: 'x' }, 'chat_id is empty'],
    ['an unknown chat', { chat_id: '-5', text: 'x' }, 'chat not found'],
    ['no text', { chat_id: CHAT }, 'message text is empty'],
    ['only white space', { chat_id: CHAT, text: ' \n ' }, 'message text is empty'],
    ['nothing between tags', { chat_id: CHAT, text: '<b></b>', parse_mode: 'HTML' }, 'message text is empty'],
    ['4097 units', { chat_id: CHAT, text: of(4097) }, 'message is too long'],
    ['4097 units in pairs', { chat_id: CHAT, text: `x${'🧨'.repeat(2048)}` }, 'message is too long'],
    ['32 kB of tags', { chat_id: CHAT, text: `<b>x</b>`.repeat(4097), parse_mode: 'HTML' }, 'text is too long'],
    ['another mode', { chat_id: CHAT, text: 'x', parse_mode: 'BBCode' }, 'unsupported parse_mode'],
    [
      'broken markup',
      { chat_id: CHAT, text: '<b>x', parse_mode: 'HTML' },
      'can\'t parse entities: Can\'t find end tag corresponding to start tag "b"',
    ],
  ])('%s is refused with 400', async (_name, body, problem) => {
    const { receiver, call } = await start({ chats: [CHAT] });
    const description = `Bad Request: ${problem}`;
    expect(await call('sendMessage', body)).toEqual({ status: 400, ok: false, error_code: 400, description });
    expect(receiver.received()).toEqual([]);
    expect(receiver.attempts()).toMatchObject([{ outcome: 'refused', code: description }]);
  });

  test('the limit counts what is left after parsing', async () => {
    const { call } = await start();
    const text = `<b>${'&lt;'.repeat(4096)}</b>`;
    expect(await call('sendMessage', { chat_id: CHAT, text, parse_mode: 'HTML' })).toMatchObject({ ok: true });
    expect(await call('sendMessage', { chat_id: CHAT, text })).toMatchObject({ ok: false });
    expect(await call('sendMessage', { chat_id: CHAT, text: '🧨'.repeat(2048) })).toMatchObject({ ok: true });
  });

  test('control characters and direction marks do not survive', async () => {
    const { receiver, call } = await start();
    await call('sendMessage', { chat_id: CHAT, text: 'a\u0000b\r\nc\u202ed' });
    expect(receiver.received()[0]?.text).toBe('a b\ncd');
  });
});

describe('HTML', () => {
  test.each([
    ['plain > text & more', 'plain > text & more'],
    ['&lt;&gt;&amp;&quot;&#65;&#x1F9E8;', '<>&"A🧨'],
    ['&nbsp;&unknown; &', '&nbsp;&unknown; &'],
    ['<tg-spoiler>a</tg-spoiler><span class="tg-spoiler">b</span>', 'ab'],
    ['<blockquote expandable>q</blockquote>', 'q'],
    ['<pre><code class="language-json">{}</code></pre>', '{}'],
    ["<a href='https://x.example/>'>x</a>", 'x'],
    ['<B>x</b>', 'x'],
    ['<b>x<i>y</i></b><u>1</u><s>2</s>', 'xy12'],
  ])('%s reads %s', (html, text) => {
    expect(parseTelegramHtml(html)).toMatchObject({ text });
  });

  test.each([
    ['<b>x', 'Can\'t find end tag corresponding to start tag "b"'],
    ['x</b>', 'Unexpected end tag at byte offset 1'],
    ['é<b>x</i>', 'Unmatched end tag at byte offset 6, expected "</b>", found "</i>"'],
    ['<b><i>x</b></i>', 'Unmatched end tag at byte offset 7, expected "</i>", found "</b>"'],
    ['<script>x</script>', 'Unsupported start tag "script" at byte offset 0'],
    ['a < b', 'Unclosed start tag at byte offset 2'],
    ['a < b > c', 'Unsupported start tag "" at byte offset 2'],
    ['<p>x</p>', 'Unsupported start tag "p" at byte offset 0'],
    ['<br/>', 'Unsupported start tag "br/" at byte offset 0'],
    ['<constructor>x</constructor>', 'Unsupported start tag "constructor" at byte offset 0'],
    ['<span>x</span>', 'Tag "span" must have class "tg-spoiler" at byte offset 0'],
    ['<a href="x', 'Unclosed start tag at byte offset 0'],
  ])('%s is refused: %s', (html, problem) => {
    expect(parseTelegramHtml(html)).toEqual({ problem });
  });
});

describe('other methods', () => {
  test('getMe and getChat', async () => {
    const { bot } = await start({ chats: [CHAT] });
    expect(await bot().getMe()).toMatchObject({ is_bot: true, username: 'sandbox_bot' });
    expect(await bot().getChat(CHAT)).toMatchObject({ id: Number(CHAT), type: 'supergroup' });
    await expect(bot().getChat('-5')).rejects.toMatchObject({ code: 400, description: 'Bad Request: chat not found' });
  });

  test('another token is 401, no token and an unknown method are 404', async () => {
    const { bot, call, apiRoot } = await start();
    await expect(bot('1:other').getMe()).rejects.toMatchObject({ code: 401, description: 'Unauthorized' });
    expect(await call('sendSmoke', {})).toMatchObject({ status: 404, error_code: 404 });
    expect((await fetch(`${apiRoot}/getMe`)).status).toBe(404);
    expect((await fetch(`${apiRoot}/bot${encodeURIComponent(TOKEN)}/getMe`)).status).toBe(200);
  });

  test('a document arrives with its caption', async () => {
    const { bot, receiver } = await start();
    const source = Buffer.from('hash\n0x1');
    const sent = await bot().sendDocument(
      CHAT,
      { source, filename: 'digest.csv' },
      { caption: '<b>12</b> findings', parse_mode: 'HTML', message_thread_id: 3 },
    );
    expect(sent).toMatchObject({ caption: '12 findings', document: { file_name: 'digest.csv', file_size: 8 } });
    expect(receiver.received()).toMatchObject([{ destination: `${CHAT}/3`, text: '12 findings\nhash\n0x1' }]);
    expect(receiver.received()[0]?.raw.document).toEqual({ filename: 'digest.csv', content: source });
    const caption = 'x'.repeat(1025);
    await expect(bot().sendDocument(CHAT, { source, filename: 'a' }, { caption })).rejects.toMatchObject({
      description: 'Bad Request: message caption is too long',
    });
    await expect(bot().sendDocument(CHAT, 'https://example.com/a')).rejects.toMatchObject({ code: 400 });
  });
});

describe('editMessageText', () => {
  const html = (text: string) => ({ text, parse_mode: 'HTML' });

  test('changes what a message says, checked like a new one; received shows it as it came', async () => {
    const { receiver, call } = await start();
    await call('sendMessage', { chat_id: CHAT, message_thread_id: 7, ...html('<b>one</b>') });
    const edit = (changes: object) => call('editMessageText', { chat_id: CHAT, message_id: 1, ...changes });
    expect(await edit(html('<b>two</b>'))).toMatchObject({ ok: true, result: { message_id: 1, text: 'two' } });
    expect(await edit(html('<b>two'))).toMatchObject({
      description: expect.stringMatching(/^Bad Request: can't parse ent/),
    });
    expect(await edit({ text: 'x'.repeat(4097) })).toMatchObject({ description: 'Bad Request: message is too long' });
    const bold = { type: 'bold', offset: 0, length: 3 };
    expect(receiver.edits()).toEqual([
      {
        at: expect.any(Number),
        destination: `${CHAT}/7`,
        messageId: 1,
        text: 'two',
        source: '<b>two</b>',
        entities: [bold],
      },
    ]);
    expect(receiver.received()).toMatchObject([{ text: 'one' }]);
    expect(receiver.attempts()).toHaveLength(1);
    receiver.clear();
    expect(receiver.edits()).toEqual([]);
  });

  test('of the same words is not modified, of the same words marked otherwise is', async () => {
    const { call } = await start();
    await call('sendMessage', { chat_id: CHAT, ...html('<b>one</b> two') });
    const edit = (text: string) => call('editMessageText', { chat_id: CHAT, message_id: 1, ...html(text) });
    expect(await edit('<strong>one</strong> two')).toMatchObject({
      status: 400,
      description: expect.stringMatching(/^Bad Request: message is not modified: /),
    });
    expect(await edit('one two')).toMatchObject({ ok: true });
    expect(await edit('one two')).toMatchObject({ ok: false });
  });

  test('finds no message of another chat, and no text of a document', async () => {
    const { bot, call } = await start();
    await bot().sendDocument(CHAT, { source: Buffer.from('x'), filename: 'x.txt' }, { caption: 'x' });
    const edit = (chat_id: string, message_id: number) => call('editMessageText', { chat_id, message_id, text: 'y' });
    const missing = { status: 400, description: 'Bad Request: message to edit not found' };
    expect(await edit('-5', 1)).toMatchObject(missing);
    expect(await edit(CHAT, 2)).toMatchObject(missing);
    expect(await edit(CHAT, 1)).toMatchObject({ description: 'Bad Request: there is no text in the message to edit' });
  });
});

test('scripts answer as the Bot API does', async () => {
  const { bot, receiver } = await start();
  const moved = 'Bad Request: group chat was upgraded to a supergroup chat';
  receiver.script.next(telegramVerdict(400, moved, { migrate_to_chat_id: -100777 }), { destination: '-777' });
  receiver.script.always(telegramVerdict(403, 'Forbidden: bot was blocked by the user'), { destination: '5' });
  receiver.callScript.next({ kind: 'answer', status: 502, body: '<html>' }, { destination: 'getMe' });
  await expect(bot().sendMessage('-777', 'x')).rejects.toMatchObject({
    code: 400,
    parameters: { migrate_to_chat_id: -100777 },
  });
  await expect(bot().sendMessage('5', 'x')).rejects.toMatchObject({ code: 403 });
  await expect(bot().getMe()).rejects.toMatchObject({ code: 502 });
  expect(await bot().sendMessage('-777', 'x')).toMatchObject({ text: 'x' });
});

test('rates answer 429 with retry_after, in the body and the header', async () => {
  let now = 1_000_000;
  const { bot, call, receiver } = await start({ rates: TELEGRAM_RATES, now: () => now });
  const send = () => call('sendMessage', { chat_id: CHAT, text: 'x' });
  for (let index = 0; index < 5; index += 1) expect((await send()).status).toBe(200);
  await expect(bot().sendMessage(CHAT, 'x')).rejects.toMatchObject({
    code: 429,
    description: 'Too Many Requests: retry after 1',
    parameters: { retry_after: 1 },
  });
  for (let index = 0; index < 30; index += 1) {
    now += 1000;
    await send();
  }
  expect(receiver.received().length).toBeGreaterThanOrEqual(20);
  expect(receiver.received().length).toBeLessThanOrEqual(32);
  expect(receiver.attempts().some(({ outcome }) => outcome === 'limited')).toBe(true);
});

describe('a pace', () => {
  const countOf = async (destinations: readonly string[], perRoundMs: number, rounds: number) => {
    let now = 1_000_000;
    const { call, receiver } = await start({ rates: TELEGRAM_RATES, now: () => now });
    for (let round = 0; round < rounds; round += 1) {
      for (const destination of destinations) {
        const [chat_id, topic] = destination.split('/');
        await call('sendMessage', { chat_id, text: 'x', ...(topic && { message_thread_id: Number(topic) }) });
      }
      now += perRoundMs;
    }
    return { receiver, call, taken: receiver.received().length };
  };

  test('a minute is for groups: a person gets one each second', async () => {
    expect((await countOf(['42'], 1000, 60)).taken).toBe(60);
    expect((await countOf([CHAT], 1000, 60)).taken).toBeLessThanOrEqual(40);
    expect((await countOf(['@lending_alerts'], 1000, 60)).taken).toBeLessThanOrEqual(40);
  });

  test('holds for a chat with all its topics', async () => {
    const { taken } = await countOf([CHAT, `${CHAT}/2`, `${CHAT}/3`], 3000, 20);
    expect(taken).toBeLessThanOrEqual(40);
    expect((await countOf([CHAT, '-2', '-3'], 3000, 20)).taken).toBe(60);
  });

  test('holds for all chats of a bot together, counts documents, and no edits', async () => {
    const chats = Array.from({ length: 40 }, (_, n) => String(n + 1));
    const { taken, call, receiver } = await countOf(chats, 0, 1);
    expect(taken).toBe(30);
    const edit = (text: string) => call('editMessageText', { chat_id: '1', message_id: 1, text });
    for (let n = 0; n < 20; n += 1) expect(await edit(`change ${n}`)).toMatchObject({ ok: true });
    expect((await call('sendDocument', { chat_id: '1' })).status).toBe(429);
    expect(receiver.edits()).toHaveLength(20);
  });
});
