import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { Alert, JsonObject } from '../../../src/alert.ts';
import { FORMATS, type Format } from '../../../src/channels/channel.ts';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import { createGuardedPost } from '../../../src/channels/http.ts';
import { escapeSlack, fits, type SlackBody, section } from '../../../src/channels/slack/blocks.ts';
import { SLACK_CODES } from '../../../src/channels/slack/codes.ts';
import { slackConfig } from '../../../src/channels/slack/config.ts';
import { composeSlack } from '../../../src/channels/slack/message.ts';
import { slack } from '../../../src/channels/slack/module.ts';
import { createSlackChannel } from '../../../src/channels/slack/transport.ts';
import { atOnce } from '../../../src/chunks.ts';
import { cleanLine, cleanText } from '../../../src/text.ts';
import { destinationOf, inspectionAlert, notificationAlert, TX_HASH } from '../../support/alerts.ts';
import { startHttpReceiver } from '../../support/http-receiver.ts';
import { parseSlack, readSlack } from '../../support/slack-reader.ts';
import { anyCharacter } from '../../support/texts.ts';

const CHANNEL = destinationOf('slack', 'C024BE91L');

const bodyOf = (alert: Alert, format: Format = 'rich', mayAttach = true): SlackBody => {
  const context = { format, presentation: createPresentation(), sentAt: '2026-11-20T10:07:55.000Z' };
  const [message] = atOnce(composeSlack({ destination: CHANNEL, alerts: [alert] }, context, mayAttach));
  if (message === undefined) throw new Error('nothing composed');
  return message.body;
};

/** As an incoming webhook would carry it. */
const read = (body: SlackBody) =>
  readSlack({ method: 'POST', path: '/', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const openSlack = async (config: object = { botToken: 'xoxb-1-token' }) => {
  const receiver = await startHttpReceiver(() => ({ status: 200, body: '{"ok":true,"ts":"1763633275.000400"}' }));
  const guard = createGuardedPost({ allowHttp: true, allowNetworks: ['127.0.0.1'] });
  const channel = createSlackChannel(slackConfig.parse({ apiUrl: receiver.origin, ...config }), {
    post: guard.post,
    now: Date.now,
  });
  closers.push(receiver.close, guard.close, channel.close);
  const send = (address = CHANNEL.address, alert = inspectionAlert()) => {
    const [message] = atOnce(
      channel.compose(
        { destination: destinationOf('slack', address), alerts: [alert] },
        { format: 'rich', presentation: createPresentation(), sentAt: '2026-11-20T10:07:55.000Z' },
      ),
    );
    if (message === undefined) throw new Error('nothing composed');
    return channel.send(message, AbortSignal.timeout(20_000));
  };
  return { receiver, channel, send };
};

describe('message', () => {
  test('says where, what happened, who and what, when, and keeps the rest folded', () => {
    const { text, blocks = [], attachments = [] } = bodyOf(inspectionAlert());
    const headline = '🔴 CRITICAL · Lending Pool · Lending vault';
    expect(text).toBe(`${headline}: “Borrowed 12,400 ETH and repaid in the same transaction; Balance fell by 61.5 %”`);
    expect(blocks.map(({ type }) => type)).toEqual(['header', 'rich_text', 'rich_text', 'context', 'actions']);
    expect(blocks[0]).toMatchObject({ text: { type: 'plain_text', emoji: false, text: headline } });
    expect(blocks[1]).toMatchObject({
      elements: [
        {
          type: 'rich_text_quote',
          elements: [
            { type: 'text', text: 'Flash loan', style: { bold: true } },
            { type: 'text', text: ' – Borrowed 12,400 ETH and repaid in the same transaction' },
            { type: 'text', text: '\n' },
            { type: 'text', text: 'Drastic balance change', style: { bold: true } },
            { type: 'text', text: ' – Balance fell by 61.5 %' },
          ],
        },
      ],
    });
    const url = `https://basescan.org/tx/${TX_HASH}`;
    expect(blocks[2]).toMatchObject({
      elements: [{ elements: [{ type: 'link', url, text: '0x5d1c…ab12' }, {}, {}, {}, {}, {}, {}, {}, {}, {}] }],
    });
    const times = `<!date^${Date.parse('2026-11-20T10:07:12Z') / 1000}^{time_secs}|10:07:12 UTC> · inspected +19 s · sent +43 s`;
    expect(blocks[3]).toMatchObject({ elements: [{ type: 'mrkdwn', text: times, verbatim: true }] });
    expect(blocks[4]).toMatchObject({ elements: [{ type: 'button', url, text: { text: 'Check transaction' } }] });
    expect(attachments).toMatchObject([{ color: '#d92d20', blocks: [{ type: 'rich_text' }] }]);
  });

  test('names the day of a transaction only where it is another than that of the message', () => {
    const { blocks = [] } = bodyOf(inspectionAlert({ item: { txTimestamp: '2026-11-19T10:07:12Z' } }));
    expect(blocks[3]).toMatchObject({
      elements: [{ text: expect.stringContaining('^{date_short_pretty} {time_secs}|2026-11-19 10:07:12 UTC>') }],
    });
  });

  test('has about 45 words before the details, and no whole hash', () => {
    const { attachments: _attachments, ...message } = bodyOf(inspectionAlert());
    const { text } = read({ ...message, text: '-' });
    expect(text.split(/\s+/).filter((word) => /\w/.test(word)).length).toBeLessThanOrEqual(50);
    expect(text).not.toContain(TX_HASH);
  });

  test('every value that is shortened can be copied alone from the details', () => {
    const { attachments } = bodyOf(inspectionAlert());
    const shown = JSON.stringify(attachments).toLowerCase();
    for (const value of [
      TX_HASH,
      '0x7E7E7E7e7E7E7e7e7E7e7E7E7e7e7E7e7E7E7e7E',
      '673d2f0a1b2c3d4e5f607182',
      'liquidateCall',
    ]) {
      expect(shown).toContain(`{"type":"text","text":"${value.toLowerCase()}","style":{"code":true}}`);
    }
  });

  test.each(['USDC_Vault', '*Vault* ~1~', ':fire: `x`'])(
    'so can the address of a contract that is called %s',
    (name) => {
      const address = `0x${'12'.repeat(20)}`;
      const { attachments } = bodyOf(inspectionAlert({ item: { assets: [{ address, descriptor: name }] } }));
      expect(JSON.stringify(attachments)).toContain(
        `{"type":"text","text":"Contract: "},{"type":"text","text":"${address}","style":{"code":true}},{"type":"text","text":" (${name})"}`,
      );
    },
  );

  test.each([
    ['tocsin.trouble.begun', '#f79009'],
    ['tocsin.destination.well', '#12b76a'],
    ['tocsin.mute.ended', '#2e90fa'],
  ])('%s has a bar of its colour, beside when it was sent', (type, color) => {
    const { attachments } = bodyOf(notificationAlert('Redis is full.', { type, protocol: 'Tocsin' }));
    const sent = `<!date^${Date.parse('2026-11-20T10:07:55Z') / 1000}^{date_short_pretty} {time_secs}|2026-11-20 10:07:55 UTC>`;
    expect(attachments).toMatchObject([{ color, blocks: [{ type: 'context', elements: [{ text: sent }] }] }]);
  });

  const firedOf = (messages: Record<string, string>) =>
    inspectionAlert({
      item: {
        detections: Object.fromEntries(
          Object.entries(messages).map(([id, message]) => [id, { status: 'detected', message }]),
        ),
      },
    });

  test('each detector has a share of what is seen first, and a long one is whole below', () => {
    const long = `begins here ${'and goes on '.repeat(700)}to its end`;
    const { blocks = [], attachments } = bodyOf(firedOf({ first: long, second: 'Short words', third: '' }));
    expect(blocks.map(({ type }) => type)).toEqual(['header', 'rich_text', 'rich_text', 'context', 'actions']);
    const seen = JSON.stringify(blocks[1]);
    expect(seen.indexOf('Short words')).toBeGreaterThan(0);
    expect(seen.length).toBeLessThan(1200);
    expect(JSON.stringify(attachments)).toContain(`, in full:\\n${long}`);
    expect(JSON.stringify(attachments)).not.toContain('Short words');
  });

  test('however long it is, there is room for its buttons and for who acknowledged it', () => {
    for (let length = 8000; length < 13_000; length += 50) {
      const { blocks = [], attachments } = bodyOf(firedOf({ first: 'm'.repeat(length) }));
      const later = [section('x'.repeat(500)), section('x')];
      expect(fits([...blocks, ...later], attachments), String(length)).toBe(true);
    }
  });

  test('many detectors are all named', () => {
    const messages = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`detector${n}`, `said ${n}`]));
    const { text } = read(bodyOf(firedOf(messages)));
    expect(text).toContain('And 22 more detectors, see below.');
    for (let n = 0; n < 30; n += 1) expect(text).toContain(`said ${n}`);
  });

  test('what blocks do not hold is in a file in the thread; the message looks like any other', () => {
    const alert = firedOf({ first: 'm&'.repeat(20_000), second: 'Short words' });
    const { blocks = [], file, ...body } = bodyOf(alert);
    expect(blocks.map(({ type }) => type)).toEqual(['header', 'rich_text', 'rich_text', 'context', 'actions']);
    expect(file).toMatchObject({ name: expect.stringMatching(/^tocsin-alert-[0-9a-f]{8}\.txt$/), isRest: true });
    expect(file?.text).toContain(`> First – ${'m&'.repeat(20_000)}\n> Second – Short words\n`);
    const { text } = read({ ...body, blocks });
    for (const part of ['Second – Short words', TX_HASH, '673d2f0a1b2c3d4e5f607182', file?.name]) {
      expect(text).toContain(part);
    }
    const stored = bodyOf(notificationAlert(`first ${'&'.repeat(50_000)}`));
    expect(stored.blocks).toHaveLength(3);
    expect(stored.file?.text).toContain(`> first ${'&'.repeat(50_000)}\n`);
  });

  test('text from outside is raw where Slack reads no markup, and quoted', () => {
    const said = '*bold* _under_ ~tilde~ `tick` <!channel> <https://evil.example|x>\nSender: an admin';
    const { blocks = [] } = bodyOf(inspectionAlert({ item: { detections: { a_b: { status: 'x', message: said } } } }));
    expect(blocks[1]).toMatchObject({
      elements: [{ type: 'rich_text_quote', elements: [{ text: 'A b' }, { text: ` – ${cleanLine(said)}` }] }],
    });
    const stored = bodyOf(notificationAlert(said)).blocks ?? [];
    expect(stored[1]).toMatchObject({ elements: [{ type: 'rich_text_quote', elements: [{ text: said }] }] });
    const ours = bodyOf(notificationAlert(said, { type: 'tocsin.mute.ended', protocol: 'Tocsin', service: 'Tocsin' }));
    expect(ours.blocks?.[1]).toMatchObject({ elements: [{ type: 'rich_text_section' }] });
  });

  test.each([
    ['critical', '#d92d20'],
    ['suspecious', '#f79009'],
    ['ok', '#12b76a'],
  ])('%s has a bar of its colour', (assessment, color) => {
    expect(bodyOf(inspectionAlert({ item: { assessment } })).attachments).toMatchObject([{ color }]);
  });

  test('a sample says TEST and links to nothing', () => {
    const { text, blocks, attachments } = bodyOf(inspectionAlert({ type: 'test.sample' }));
    expect(text).toMatch(/^🧪 TEST · Lending Pool/);
    expect(JSON.stringify([blocks, attachments])).not.toContain('"url"');
  });

  test('a replay says so in the header and below it', () => {
    const { blocks = [] } = bodyOf(inspectionAlert({ replay: true }));
    expect(blocks[0]).toMatchObject({ text: { text: expect.stringContaining('(old alert)') } });
    expect(blocks[2]).toMatchObject({ type: 'context', elements: [{ text: expect.stringMatching(/^Old alert: /) }] });
  });

  test('plain and minimal are text alone, shown as it stands', () => {
    for (const format of ['plain', 'minimal'] as const) {
      const body = bodyOf(inspectionAlert(), format);
      expect(body.blocks).toBeUndefined();
      expect(body.attachments).toBeUndefined();
      expect(body.mrkdwn).toBe(false);
      expect(body.text.split('\n')[0]).toMatch(/^🔴 CRITICAL · Lending Pool · Lending vault/);
      expect(body.text).toContain(TX_HASH);
    }
    expect(bodyOf(inspectionAlert(), 'minimal').text.length).toBeLessThan(600);
    expect(read(bodyOf(inspectionAlert(), 'plain')).text).toContain(
      '\n> Drastic balance change – Balance fell by 61.5 %\n',
    );
  });

  test.each([
    ['a message longer than blocks hold', { note: { status: 'detected', message: 'm'.repeat(13_500) } }],
    [
      'more text than all blocks hold',
      Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`d${i}`, { status: 'x', message: `${i}`.repeat(2900) }])),
    ],
    ['escapes that do not fit', { note: { status: 'detected', message: '&'.repeat(4000) } }],
  ])('%s goes out whole, as text where no file may go along', (_name, detections) => {
    const body = bodyOf(inspectionAlert({ item: { detections: detections as JsonObject } }), 'rich', false);
    expect(body.blocks).toBeUndefined();
    const { text } = read(body);
    for (const [name, { message }] of Object.entries(detections)) {
      expect(text).toContain(`> ${name.replace(/^./, (first) => first.toUpperCase())} – ${message}`);
    }
    expect(text).toContain(TX_HASH);
  });

  test('of what no message holds the longest is cut, says how much is missing, and pushes out nothing else', () => {
    const { text } = read(bodyOf(notificationAlert(`first ${'&'.repeat(50_000)}`), 'rich', false));
    expect(text).toContain('b7f2c0de11aa22bb33cc44dd55ee66ff');
    expect(text).toMatch(/first &+… \(\d+ characters left out\)\n/);
    const detections = { a: { status: 'x', message: 'm'.repeat(60_000) }, b: { status: 'x', message: 'Short words' } };
    const of = read(bodyOf(inspectionAlert({ item: { detections } }), 'rich', false));
    expect(of.text).toContain('> B – Short words');
    expect(of.text).toContain(TX_HASH);
  });

  const hostile = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 60 }),
    fc.string({ unit: fc.constantFrom(...'<>&|*_~`:@#!.!-\n\r\t aé漢🧨\u0000\u202e'), maxLength: 60 }),
    fc.string({ maxLength: 4000 }),
  );

  test('any text stays text, within every limit, in every format', () => {
    fc.assert(
      fc.property(hostile, hostile, hostile, fc.constantFrom(...FORMATS), (protocol, name, message, format) => {
        const item = {
          invokedMethodName: name,
          assets: [{ descriptor: message }],
          detections: { [name]: { status: 'x', message } },
        };
        const { text, active } = read(bodyOf(inspectionAlert({ protocol, item }), format));
        expect(active.filter((target) => !target.startsWith('https://basescan.org/'))).toEqual([]);
        if (format === 'minimal') return;
        for (const value of [cleanLine(protocol), cleanLine(name), cleanLine(message)]) {
          if (value.length < 500) expect(text).toContain(value);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('any notification is shown whole', () => {
    fc.assert(
      fc.property(hostile, (message) => {
        const { text, active } = read(bodyOf(notificationAlert(message)));
        expect(text).toContain(cleanText(message));
        expect(active).toEqual([]);
      }),
    );
  });

  test('the sum of all text stays below what Slack takes', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 500, maxLength: 3000 }), { maxLength: 12 }), (messages) => {
        const detections = Object.fromEntries(
          messages.map((message, index) => [`d${index}`, { status: 'x', message }]),
        );
        const { blocks = [], attachments = [] } = bodyOf(inspectionAlert({ item: { detections } }));
        const texts = JSON.stringify([blocks, attachments]).matchAll(/"text":"((?:[^"\\]|\\.)*)"/g);
        const sum = [...texts].reduce((length, [, text]) => length + String(JSON.parse(`"${text}"`)).length, 0);
        expect(sum).toBeLessThanOrEqual(12_000);
      }),
    );
  });

  test('escapes the three characters that Slack reads, once', () => {
    expect(escapeSlack('<a&b> &lt;')).toBe('&lt;a&amp;b&gt; &amp;lt;');
  });
});

describe('transport', () => {
  test('posts with the bot token, without previews and without reading names into the text', async () => {
    const { receiver, send } = await openSlack();
    expect(await send()).toEqual({ providerId: '1763633275.000400' });
    const [request] = receiver.arrived;
    expect(request).toMatchObject({ path: '/chat.postMessage', method: 'POST' });
    expect(request?.headers.authorization).toBe('Bearer xoxb-1-token');
    if (request === undefined) throw new Error('nothing arrived');
    expect(parseSlack(request).options).toEqual({
      channel: 'C024BE91L',
      unfurl_links: 'false',
      unfurl_media: 'false',
      parse: 'none',
      link_names: 'false',
    });
  });

  test('an incoming webhook gets the same message as JSON, without the token', async () => {
    const { receiver, send } = await openSlack();
    expect(await send(`${receiver.origin}/services/T0/B0/key`)).toEqual({});
    const [request] = receiver.arrived;
    expect(request?.headers).not.toHaveProperty('authorization');
    expect(JSON.parse(request?.body ?? '')).toMatchObject({ unfurl_links: false, blocks: expect.any(Array) });
    expect(request?.body).not.toContain('xoxb');
  });

  test('a receipt without a timestamp is a receipt', async () => {
    const { receiver, send } = await openSlack();
    receiver.script({ status: 200, body: '{"ok":true}' });
    expect(await send()).toEqual({});
  });

  test.each(Object.entries(SLACK_CODES).map(([code, { reason }]) => [code, reason]))(
    '%s is %s',
    async (code, reason) => {
      const { receiver, send } = await openSlack();
      receiver.script({ status: 200, body: JSON.stringify({ ok: false, error: code }) });
      await expect(send()).rejects.toMatchObject({ reason, code });
      expect(receiver.arrived).toHaveLength(1);
    },
  );

  test.each([
    [
      'where a block is wrong',
      { messages: ['[ERROR] too long [json-pointer:/blocks/2/text/text]'] },
      {},
      '/blocks/2/text/text',
    ],
    ['which scope is missing', {}, { needed: 'chat:write' }, 'chat:write'],
  ])('the error says %s', async (_name, response_metadata, more, expected) => {
    const { receiver, send } = await openSlack();
    const body = { ok: false, error: 'invalid_blocks', response_metadata, ...more };
    receiver.script({ status: 200, body: JSON.stringify(body) });
    await expect(send()).rejects.toThrow(expected);
  });

  test('429 with an HTTP date, which the client cannot read', async () => {
    const { receiver, send } = await openSlack();
    const later = new Date(Date.now() + 600_000).toUTCString();
    receiver.script({ status: 429, headers: { 'retry-after': later } });
    const error: unknown = await send().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ reason: 'rate-limited', code: '429' });
    const { retryAfterMs } = error as { retryAfterMs: number };
    expect(retryAfterMs).toBeGreaterThan(500_000);
    expect(retryAfterMs).toBeLessThanOrEqual(600_000);
  });

  test('a redirect is not followed, so that the token goes nowhere else', async () => {
    const elsewhere = await startHttpReceiver();
    closers.push(elsewhere.close);
    const { receiver, send } = await openSlack();
    receiver.script({ status: 307, headers: { location: `${elsewhere.origin}/` } });
    await expect(send()).rejects.toMatchObject({ reason: 'sender-misconfigured', code: '307' });
    expect(elsewhere.arrived).toHaveLength(0);
  });

  test('an answer without end is not read to the end', async () => {
    const { receiver, send } = await openSlack();
    receiver.script({ status: 200, body: 'x'.repeat(3_000_000) });
    await expect(send()).rejects.toMatchObject({ reason: 'unknown', maybeDelivered: true });
  });

  test('without a token channels wait for one, incoming webhooks work, and verify says so', async () => {
    const { receiver, channel, send } = await openSlack({});
    await expect(send()).rejects.toMatchObject({
      reason: 'sender-misconfigured',
      code: 'no_token',
      maybeDelivered: false,
    });
    expect(await send(`${receiver.origin}/services/T0/B0/key`)).toEqual({});
    expect(await channel.verify(AbortSignal.timeout(5000))).toMatch(/no bot token/);
    expect(receiver.arrived).toHaveLength(1);
  });

  test('verify asks who we are', async () => {
    const { receiver, channel } = await openSlack();
    receiver.script(
      { status: 200, body: '{"ok":true,"user":"tocsin","team":"Example\\u0007"}' },
      { status: 200, body: '{"ok":false,"error":"token_revoked"}' },
    );
    expect(await channel.verify(AbortSignal.timeout(5000))).toBe('posts as tocsin in Example');
    await expect(channel.verify(AbortSignal.timeout(5000))).rejects.toMatchObject({ reason: 'sender-misconfigured' });
    expect(receiver.arrived.map(({ path }) => path)).toEqual(['/auth.test', '/auth.test']);
  });
});

describe('addresses', () => {
  test.each([
    [{ contacts: ['C024BE91L', 'G0123456789', 'D0123456789'] }, ['C024BE91L', 'G0123456789', 'D0123456789']],
    [{ contacts: [' #general ', 'general', 'ops-alerts_2'] }, ['#general', '#ops-alerts_2']],
    [{ contacts: ['#オペレーション'] }, ['#オペレーション']],
    [{ url: 'https://hooks.slack.com/services/T0/B0/k#x' }, ['https://hooks.slack.com/services/T0/B0/k']],
    [{ contacts: ['C024BE91L'], url: 'https://hooks.slack.com/x' }, ['C024BE91L', 'https://hooks.slack.com/x']],
  ])('%j', (entry, addresses) => {
    expect(slack.addressesOf({ name: 'slack', ...entry })).toEqual({ addresses, problems: [] });
  });

  test('problems show no token and no path', () => {
    const { problems } = slack.addressesOf({
      name: 'slack',
      contacts: ['xoxb-1-s3cr3t', '#xoxp-1-s3cr3t', 'https://hooks.slack.com/services/T0/B0/s3cr3t'],
      url: 'ftp://s3cr3t:s3cr3t@x.example/',
    });
    expect(problems).toHaveLength(4);
    expect(problems.join('\n')).not.toContain('s3cr3t');
  });

  test('labels', () => {
    expect(slack.labelOf('C024BE91L')).toBe('C024BE91L');
    expect(slack.labelOf('#general')).toBe('#general');
    expect(slack.labelOf('https://hooks.slack.com/services/T0/B0/s3cr3t')).toMatch(
      /^hooks\.slack\.com \([0-9a-f]{4}\)$/,
    );
  });
});
