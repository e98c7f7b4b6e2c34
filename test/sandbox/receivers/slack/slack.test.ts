/** The Slack receiver, asked by Slack's own client and by plain HTTP. */
import { LogLevel, WebClient } from '@slack/web-api';
import { fetch } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  createSlackReceiver,
  SLACK_RATES,
  type SlackReceiverOptions,
  slackError,
} from '../../../../src/sandbox/receivers/slack/slack.ts';

const CHANNEL = 'C024BE91L';

const quiet = (): undefined => undefined;
const SILENT = {
  debug: quiet,
  info: quiet,
  warn: quiet,
  error: quiet,
  setLevel: quiet,
  setName: quiet,
  getLevel: () => LogLevel.ERROR,
};

const start = async (options: SlackReceiverOptions = {}) => {
  const receiver = createSlackReceiver(options);
  onTestFinished(() => receiver.stop());
  const addresses = await receiver.start();
  const client = (token = 'xoxb-sandbox') =>
    new WebClient(token, {
      slackApiUrl: addresses.apiUrl,
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      logger: SILENT,
    });
  /** The Web API's answer to a JSON body. */
  const call = async (method: string, body: unknown, token = 'xoxb-sandbox') => {
    const response = await fetch(`${addresses.apiUrl}${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    });
    return (await response.json()) as { ok: boolean; error?: string; response_metadata?: { messages: string[] } };
  };
  const hook = async (body: string, url = addresses.webhookUrl, type = 'application/json') => {
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': type }, body });
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
  };
  return { receiver, client, call, hook, ...addresses };
};

const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } });

describe('chat.postMessage', () => {
  test('is accepted from the client and kept as a reader sees it', async () => {
    const { receiver, client } = await start();
    const blocks = [
      { type: 'header', text: { type: 'plain_text', text: 'Finding' } },
      section('*Pool* &lt;b&gt; <https://explorer.example/tx/0x1|0x1> <https://example.com>'),
      { type: 'divider' },
      { type: 'context', elements: [{ type: 'mrkdwn', text: 'small' }] },
    ];
    const answer = await client().chat.postMessage({ channel: CHANNEL, text: 'A &amp; B', blocks });
    const [message] = receiver.received();
    expect(answer).toMatchObject({ ok: true, channel: CHANNEL, ts: message?.id });
    expect(message).toMatchObject({
      kind: 'slack',
      destination: CHANNEL,
      text: 'A & B\nFinding\n*Pool* <b> 0x1 (https://explorer.example/tx/0x1) https://example.com\nsmall',
      raw: { method: 'chat.postMessage', text: 'A &amp; B', blocks, mentions: [] },
    });
    const second = await client().chat.postMessage({ channel: CHANNEL, text: 'again' });
    expect(second.ts).not.toBe(answer.ts);
  });

  test('mentions that would notify somebody are listed', async () => {
    const { receiver, call } = await start();
    const text = 'escaped &lt;!here&gt; <!channel> <@U024BE7LH>';
    await call('chat.postMessage', {
      channel: CHANNEL,
      text,
      blocks: [section('<!subteam^S123|team> <!date^1^{time}|y>')],
    });
    expect(receiver.received()[0]?.raw.mentions).toEqual(['<!channel>', '<@U024BE7LH>', '<!subteam^S123|team>']);
  });

  const many = (count: number, block: unknown) => Array.from({ length: count }, () => block);
  test.each([
    ['no token', { channel: CHANNEL, text: 'x' }, 'not_authed', ''],
    ['another token', { channel: CHANNEL, text: 'x' }, 'invalid_auth', 'xoxb-other'],
    ['no channel', { text: 'x' }, 'channel_not_found'],
    ['an unknown channel', { channel: 'C0000000X', text: 'x' }, 'channel_not_found'],
    ['nothing to say', { channel: CHANNEL }, 'no_text'],
    ['blocks without a text', { channel: CHANNEL, blocks: [section('x')] }, 'no_text'],
    ['blocks that are no JSON', { channel: CHANNEL, text: 'x', blocks: '[{' }, 'invalid_blocks_format'],
    ['101 attachments', { channel: CHANNEL, text: 'x', attachments: many(101, {}) }, 'too_many_attachments'],
    [
      'too much in all',
      { channel: CHANNEL, text: 'x', blocks: many(5, section('x'.repeat(2700))) },
      'msg_blocks_too_long',
    ],
  ])('%s is refused', async (_name, body, error, token = 'xoxb-sandbox') => {
    const { receiver, call } = await start({ channels: [CHANNEL] });
    expect(await call('chat.postMessage', body, token)).toEqual({ ok: false, error });
    expect(receiver.received()).toEqual([]);
    expect(receiver.attempts()).toMatchObject([{ outcome: 'refused', code: error }]);
  });

  test('blocks alone may be allowed, as Slack itself does', async () => {
    const { call } = await start({ requireText: false });
    expect(await call('chat.postMessage', { channel: CHANNEL, blocks: [section('x')] })).toMatchObject({ ok: true });
    expect(await call('chat.postMessage', { channel: CHANNEL })).toMatchObject({ error: 'no_text' });
  });
});

const plain = (text: string) => ({ type: 'plain_text', text });
const of = (length: number): string => 'x'.repeat(length);
const address = (length: number): string => `https://x.example/${of(length - 18)}`;
const button = (fields: object) => ({ type: 'actions', elements: [{ type: 'button', text: plain('ok'), ...fields }] });
const BLOCKS: [name: string, limit: object, beyond: object, pointer: string][] = [
  ['section text', section(of(3000)), section(of(3001)), '/text/text'],
  ['section text', section('x'), section(''), '/text/text'],
  ['section', section('x'), { type: 'section' }, ''],
  [
    'fields',
    { type: 'section', fields: [plain(of(2000))] },
    { type: 'section', fields: [plain(of(2001))] },
    '/fields/0/text',
  ],
  [
    'fields',
    { type: 'section', fields: Array(10).fill(plain('x')) },
    { type: 'section', fields: Array(11).fill(plain('x')) },
    '/fields',
  ],
  ['header', { type: 'header', text: plain(of(150)) }, { type: 'header', text: plain(of(151)) }, '/text/text'],
  [
    'header',
    { type: 'header', text: plain('x') },
    { type: 'header', text: { type: 'mrkdwn', text: 'x' } },
    '/text/type',
  ],
  [
    'context',
    { type: 'context', elements: Array(10).fill(plain('x')) },
    { type: 'context', elements: Array(11).fill(plain('x')) },
    '/elements',
  ],
  ['markdown', { type: 'markdown', text: of(12_000) }, { type: 'markdown', text: of(12_001) }, '/text'],
  ['block id', { ...section('x'), block_id: of(255) }, { ...section('x'), block_id: of(256) }, '/block_id'],
  ['button text', button({ text: plain(of(75)) }), button({ text: plain(of(76)) }), '/elements/0/text/text'],
  ['button value', button({ value: of(2000) }), button({ value: of(2001) }), '/elements/0/value'],
  ['button url', button({ url: address(3000) }), button({ url: address(3001) }), '/elements/0/url'],
  ['type', { type: 'divider' }, { type: 'constructor' }, ''],
  [
    'image',
    { type: 'image', image_url: 'https://x.example/i', alt_text: 'x' },
    { type: 'image', alt_text: 'x' },
    '/image_url',
  ],
  [
    'rich text',
    { type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'x' }] }] },
    { type: 'rich_text', elements: [{ type: 'bold' }] },
    '/elements/0',
  ],
];

describe('Block Kit', () => {
  test.each(BLOCKS)('%s: up to the limit and not beyond', async (_name, limit, beyond, pointer) => {
    const { call } = await start();
    expect(await call('chat.postMessage', { channel: CHANNEL, text: 'x', blocks: [limit] })).toMatchObject({
      ok: true,
    });
    const { error, response_metadata: metadata } = await call('chat.postMessage', {
      channel: CHANNEL,
      text: 'x',
      blocks: [{ type: 'divider' }, beyond],
    });
    expect(error).toBe('invalid_blocks');
    expect(metadata?.messages[0]).toContain(`[json-pointer:/blocks/1${pointer}]`);
  });

  test('50 blocks, not 51, and no id twice', async () => {
    const { call } = await start();
    const post = (blocks: object[]) => call('chat.postMessage', { channel: CHANNEL, text: 'x', blocks });
    expect(await post(Array(50).fill({ type: 'divider' }))).toMatchObject({ ok: true });
    expect(await post(Array(51).fill({ type: 'divider' }))).toMatchObject({ error: 'invalid_blocks' });
    expect(await post(Array(2).fill({ type: 'divider', block_id: 'same' }))).toMatchObject({ error: 'invalid_blocks' });
  });
});

describe('other methods', () => {
  test('auth.test knows the token', async () => {
    const { client } = await start({ botToken: 'xoxb-mine' });
    expect(await client('xoxb-mine').auth.test()).toMatchObject({ ok: true, bot_id: expect.any(String) });
    await expect(client().auth.test()).rejects.toMatchObject({ data: { error: 'invalid_auth' } });
  });

  test('an unknown method is named so, and calls have a script of their own', async () => {
    const { call, receiver } = await start();
    expect(await call('chat.whisper', {})).toEqual({ ok: false, error: 'unknown_method' });
    receiver.callScript.next(slackError('account_inactive'), { destination: 'auth.test' });
    expect(await call('auth.test', {})).toEqual({ ok: false, error: 'account_inactive' });
    expect(await call('auth.test', {})).toMatchObject({ ok: true });
  });

  test('a file goes up in three steps and is kept with its comment', async () => {
    const { client, receiver } = await start();
    await client().filesUploadV2({
      channel_id: CHANNEL,
      filename: 'digest.csv',
      title: 'Digest',
      content: 'hash\n0x1',
      initial_comment: 'All &lt;of&gt; them',
    });
    const [message] = receiver.received();
    expect(message).toMatchObject({
      destination: CHANNEL,
      text: 'All <of> them\nhash\n0x1',
      raw: { method: 'files.completeUploadExternal', files: [{ filename: 'digest.csv', title: 'Digest' }] },
    });
    expect(message?.raw.files[0]?.content.toString()).toBe('hash\n0x1');
  });

  test('an upload of another length, and completing what never came, are refused', async () => {
    const { call, receiver } = await start();
    const begun = (await call('files.getUploadURLExternal', { filename: 'a', length: 3 })) as unknown as {
      upload_url: string;
      file_id: string;
    };
    expect((await fetch(begun.upload_url, { method: 'POST', body: 'four' })).status).toBe(400);
    const complete = () =>
      call('files.completeUploadExternal', { files: [{ id: begun.file_id }], channel_id: CHANNEL });
    expect(await complete()).toEqual({ ok: false, error: 'file_not_found' });
    expect((await fetch(begun.upload_url, { method: 'POST', body: 'abc' })).status).toBe(200);
    expect(await complete()).toMatchObject({ ok: true });
    expect(await complete()).toEqual({ ok: false, error: 'file_not_found' });
    expect(receiver.received().map(({ text }) => text)).toEqual(['(no comment)\nabc']);
    expect(await call('files.getUploadURLExternal', { filename: 'a' })).toEqual({
      ok: false,
      error: 'invalid_arguments',
    });
  });
});

describe('messages that belong together', () => {
  test('a reply goes under its first message, and nowhere else', async () => {
    const { client, call, receiver } = await start();
    const { ts = '', channel } = await client().chat.postMessage({ channel: '#ops', text: 'first' });
    expect(channel).toMatch(/^C0[A-F0-9]{9}$/);
    const reply = await client().chat.postMessage({ channel: '#ops', text: 'more', thread_ts: ts });
    expect(receiver.received().map(({ destination, raw }) => [destination, raw.threadTs])).toEqual([
      ['#ops', undefined],
      ['#ops', ts],
    ]);
    const errorOf = async (thread_ts: unknown, to = '#ops') =>
      (await call('chat.postMessage', { channel: to, text: 'x', thread_ts })).error;
    expect(await errorOf('1700000000.000001')).toBe('thread_not_found');
    expect(await errorOf(ts, '#other')).toBe('thread_not_found');
    expect(await errorOf(reply.ts)).toBe('cannot_reply_to_message');
    expect(await errorOf('yesterday')).toBe('invalid_thread_ts');
  });

  test('an update is kept apart, and is no message of its own', async () => {
    const { client, call, receiver } = await start({ channels: [CHANNEL] });
    const { ts = '' } = await client().chat.postMessage({ channel: CHANNEL, text: 'one' });
    await client().chat.update({ channel: CHANNEL, ts, text: 'two' });
    await client().chat.update({ channel: CHANNEL, ts, text: 'three', blocks: [section('3')] });
    expect(receiver.edits()).toMatchObject([
      { destination: CHANNEL, ts, readable: 'two' },
      { destination: CHANNEL, ts, readable: 'three\n3' },
    ]);
    const errorOf = async (fields: object) =>
      (await call('chat.update', { channel: CHANNEL, ts, text: 'x', ...fields })).error;
    expect(await errorOf({ ts: '1700000000.000001' })).toBe('message_not_found');
    expect(await errorOf({ channel: '#ops' })).toBe('channel_not_found');
    expect(await errorOf({ text: '' })).toBe('no_text');
    expect(await errorOf({ blocks: [section('')] })).toBe('invalid_blocks');
    expect(receiver.received().map(({ text }) => text)).toEqual(['one']);
    expect(receiver.edits()).toHaveLength(2);
    receiver.clear();
    expect(receiver.edits()).toEqual([]);
  });
});

describe('the token', () => {
  test('revoked, it opens nothing until it is well again; webhooks go on', async () => {
    const { call, hook, receiver } = await start();
    const repair = receiver.revokeToken();
    for (const method of ['chat.postMessage', 'auth.test', 'chat.update', 'files.getUploadURLExternal']) {
      expect(await call(method, { channel: CHANNEL, text: 'x' })).toEqual({ ok: false, error: 'token_revoked' });
    }
    expect((await hook('{"text":"hi"}')).status).toBe(200);
    repair();
    expect(await call('chat.postMessage', { channel: CHANNEL, text: 'x' })).toMatchObject({ ok: true });
  });

  test('a token without a scope hears which one is missing, and every answer names those it has', async () => {
    const { client, call, receiver } = await start();
    expect((await client().auth.test()).response_metadata).toMatchObject({ scopes: ['chat:write', 'files:write'] });
    const restore = receiver.limitScopes(['chat:write']);
    expect((await client().auth.test()).response_metadata).toMatchObject({ scopes: ['chat:write'] });
    const begin = () => call('files.getUploadURLExternal', { filename: 'a', length: 3 });
    expect(await begin()).toEqual({ ok: false, error: 'missing_scope', needed: 'files:write', provided: 'chat:write' });
    expect(await call('chat.postMessage', { channel: CHANNEL, text: 'x' })).toMatchObject({ ok: true });
    restore();
    expect(await begin()).toMatchObject({ ok: true });
  });
});

describe('incoming webhooks', () => {
  test('answer ok in plain text, for JSON and for the old form', async () => {
    const { hook, receiver, webhookUrl } = await start();
    expect(await hook('{"text":"hi"}')).toEqual({ status: 200, type: 'text/plain; charset=utf-8', text: 'ok' });
    const form = `payload=${encodeURIComponent('{"text":"old"}')}`;
    expect((await hook(form, webhookUrl, 'application/x-www-form-urlencoded')).text).toBe('ok');
    expect(receiver.received().map(({ destination, text }) => [destination, text])).toEqual([
      [new URL(webhookUrl).pathname, 'hi'],
      [new URL(webhookUrl).pathname, 'old'],
    ]);
  });

  test.each([
    ['{', 400, 'invalid_payload'],
    ['{}', 400, 'no_text'],
    ['{"text":"x","blocks":[{"type":"section"}]}', 400, 'invalid_blocks'],
  ])('%s is refused with %i %s', async (body, status, text) => {
    const { hook, receiver } = await start();
    expect(await hook(body)).toMatchObject({ status, text });
    expect(receiver.received()).toEqual([]);
  });

  test('an unknown one is 404 no_service', async () => {
    const { hook, apiUrl } = await start({ webhooks: ['/services/T1/B1/known'] });
    const origin = new URL(apiUrl).origin;
    expect(await hook('{"text":"x"}', `${origin}/services/T1/B1/other`)).toMatchObject({
      status: 404,
      text: 'no_service',
    });
    expect((await hook('{"text":"x"}', `${origin}/services/T1/B1/known`)).status).toBe(200);
  });
});

test('scripts speak for a channel, and rates answer 429 as Slack does', async () => {
  const now = 1_000_000;
  const { client, call, receiver } = await start({ rates: SLACK_RATES, now: () => now });
  receiver.script.next(slackError('is_archived'), { destination: 'C0ARCHIVED' });
  await expect(client().chat.postMessage({ channel: 'C0ARCHIVED', text: 'x' })).rejects.toMatchObject({
    data: { error: 'is_archived' },
  });
  for (let index = 0; index < 5; index += 1)
    expect(await call('chat.postMessage', { channel: CHANNEL, text: 'x' })).toMatchObject({ ok: true });
  await expect(client().chat.postMessage({ channel: CHANNEL, text: 'x' })).rejects.toMatchObject({ retryAfter: 1 });
  expect(await call('chat.postMessage', { channel: 'C0ANOTHER1', text: 'x' })).toMatchObject({ ok: true });
});

test('files and updates have rates of their own', async () => {
  const { client, call, receiver } = await start({ rates: SLACK_RATES, now: () => 1_000_000 });
  const { ts = '' } = await client().chat.postMessage({ channel: CHANNEL, text: 'x' });
  for (let index = 0; index < 50; index += 1)
    expect(await call('chat.update', { channel: CHANNEL, ts, text: `${index}` })).toMatchObject({ ok: true });
  expect(await call('chat.update', { channel: CHANNEL, ts, text: 'x' })).toMatchObject({ error: 'ratelimited' });
  for (let index = 0; index < 10; index += 1)
    await client().filesUploadV2({ channel_id: CHANNEL, filename: 'a', content: 'x', thread_ts: ts });
  expect(receiver.received()).toHaveLength(11);
  expect(receiver.received().map(({ partOf }) => partOf)).toEqual([undefined, ...Array(10).fill(ts)]);
  receiver.callScript.next(slackError('internal_error'), { destination: 'files.completeUploadExternal' });
  expect(await call('files.completeUploadExternal', { channel_id: CHANNEL })).toMatchObject({
    error: 'internal_error',
  });
});

describe('who is in a channel', () => {
  test('is said in pages, to a token that may ask', async () => {
    const { receiver, client, call } = await start();
    expect(await call('conversations.members', { channel: CHANNEL })).toMatchObject({ error: 'missing_scope' });
    receiver.limitScopes(['chat:write', 'channels:read']);
    const members = Array.from({ length: 5 }, (_, n) => `U${n}`);
    receiver.setMembers(CHANNEL, members);
    const { conversations } = client();
    const found: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page = await conversations.members({ channel: CHANNEL, limit: 2, ...(cursor === '' ? {} : { cursor }) });
      found.push(...(page.members ?? []));
      cursor = page.response_metadata?.next_cursor || undefined;
    }
    expect(found).toEqual(members);
    for (const [fields, error] of [
      [{ limit: 1000 }, 'invalid_limit'],
      [{ limit: 0 }, 'invalid_limit'],
      [{ cursor: 'made up' }, 'invalid_cursor'],
      [{ channel: 'no' }, 'channel_not_found'],
    ] as const) {
      expect(await call('conversations.members', { channel: CHANNEL, ...fields })).toMatchObject({ ok: false, error });
    }
  });

  test('decides whom a message for one person reaches; the URL of a press reaches whoever pressed', async () => {
    const { receiver, call, hook, apiUrl } = await start();
    receiver.setMembers(CHANNEL, ['U1']);
    const whisper = { channel: CHANNEL, text: 'x' };
    expect(await call('chat.postEphemeral', { ...whisper, user: 'U1' })).toMatchObject({ ok: true });
    const refused = await call('chat.postEphemeral', { ...whisper, user: 'U2' });
    expect(refused).toMatchObject({ ok: false, error: 'user_not_in_channel' });
    const { status } = await hook('{"text":"x"}', apiUrl.replace('/api/', '/actions/T0SANDBOX/1/x'));
    expect(status).toBe(404);
    expect(receiver.whispers()).toMatchObject([{ user: 'U1', isResponse: false }]);
  });
});
