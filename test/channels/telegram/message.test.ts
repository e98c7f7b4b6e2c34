import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import type { Format } from '../../../src/channels/channel.ts';
import { describe as describeAlert } from '../../../src/channels/content/describe.ts';
import { createPresentation, type PresentationConfig } from '../../../src/channels/content/presentation.ts';
import { createTemplates } from '../../../src/channels/content/template.ts';
import { blocksToPlain } from '../../../src/channels/telegram/lines.ts';
import { composeTelegram, layOut, type TelegramBody } from '../../../src/channels/telegram/message.ts';
import { atOnce } from '../../../src/chunks.ts';
import { cleanLine, cleanText } from '../../../src/text.ts';
import { iso } from '../../../src/time.ts';
import { destinationOf, inspectionAlert, notificationAlert, TX_HASH, TX_ORIGIN } from '../../support/alerts.ts';
import { activeIn, limitBroken, type Parsed, parseTelegramHtml } from '../../support/telegram-reader.ts';
import { anyText } from '../../support/texts.ts';

const CHAT = destinationOf('telegram', '-1001234567890');
const EXPLORER = 'https://basescan.org/';
const SENT_AT = Date.parse('2026-11-20T10:07:55.000Z');

const bodyOfAll = (alerts: Alert[], format: Format = 'rich', config: PresentationConfig = {}): TelegramBody => {
  const context = { format, presentation: createPresentation(config), sentAt: iso(SENT_AT) };
  const [message, ...more] = atOnce(composeTelegram({ destination: CHAT, alerts }, context));
  if (message === undefined || more.length > 0) throw new Error('not one message');
  return message.body;
};

const bodyOf = (alert: Alert, format: Format = 'rich', config: PresentationConfig = {}): TelegramBody =>
  bodyOfAll([alert], format, config);

const read = (alert: Alert): Parsed => {
  const { text } = bodyOf(alert);
  const parsed = parseTelegramHtml(text);
  expect(limitBroken(text, parsed)).toBeUndefined();
  return parsed;
};

/** What a caption says, within its limits. */
const captionIn = (text: string, format: 'rich' | 'plain'): Parsed => {
  const parsed = format === 'rich' ? parseTelegramHtml(text) : { text, entities: [] };
  expect(parsed.text.length).toBeLessThanOrEqual(1024);
  expect(limitBroken(text, parsed)).toBeUndefined();
  expect(parsed.entities.length).toBeLessThanOrEqual(100);
  return parsed;
};

/** Everything of an item that comes from outside. */
const hostileAlert = (texts: readonly string[], chainId = 8453): Alert => {
  const [protocol = '', method = '', detector = '', message = '', descriptor = '', id = ''] = texts;
  return inspectionAlert({
    protocol,
    item: {
      _id: id,
      chainId,
      invokedMethodName: method,
      txOrigin: descriptor,
      assets: [{ address: id, descriptor }, { descriptor: method }],
      detections: { [detector]: { status: 'detected', message }, [method]: { status: 'detected', message: detector } },
    },
  });
};

/** What Telegram marks, with its text. */
const markedIn = ({ text, entities }: Parsed): string[][] =>
  entities.map(({ type, offset, length, url }) => [
    type,
    text.slice(offset, offset + length),
    ...(url === undefined ? [] : [url]),
  ]);

/** The texts that Telegram marks as `type`. */
const textsIn = (parsed: Parsed, type: string): string[] =>
  markedIn(parsed).flatMap(([is, text = '']) => (is === type ? [text] : []));

const CONTRACT = `0x${'ab'.repeat(20)}`;

describe('an alert in Telegram', () => {
  const { text } = read(inspectionAlert());
  const [head = '', about = '', details = ''] = text.split('\n\n');

  test('says what happened first, and never a hash: that is what a locked phone shows', () => {
    expect(head).toBe(`🔴 CRITICAL · Lending Pool · Lending vault
“Flash loan: Borrowed 12,400 ETH and repaid in the same transaction”
“Drastic balance change: Balance fell by 61.5 %”`);
  });

  test('then says who and what, and when, in few words', () => {
    expect(about).toBe(`0x5d1c…ab12 on Base
From 0x7e7e…7e7E
Call liquidateCall on Lending vault 0xABaB…ABaB
10:07:12 UTC · inspected +19 s · sent +43 s`);
    expect(`${head}\n${about}`.match(/[\p{L}\p{N}…,.:%+]+/gu)?.length).toBeLessThan(50);
  });

  test('has everything in full at its end', () => {
    expect(details.replace(/^(Sender: ).*$/m, '$1').replace(/0xabab\w+/i, 'ADDRESS')).toBe(`Details
Transaction: ${TX_HASH}
Chain: Base (8453)
Sender: 
Method: liquidateCall
Contract: ADDRESS (Lending vault)
Detectors: flashLoan, drasticBalanceChange
Not fired: mixer
Transaction time: 2026-11-20 10:07:12 UTC
Inspected: 2026-11-20 10:07:31 UTC
Sent: 2026-11-20 10:07:55 UTC
Inspection: 673d2f0a1b2c3d4e5f607182`);
  });

  test('quotes what the service says, folds the details, and lets whole values be copied with a tap', () => {
    const parsed = read(inspectionAlert());
    expect(textsIn(parsed, 'blockquote')).toEqual([head.slice(head.indexOf('\n') + 1)]);
    expect(textsIn(parsed, 'expandable_blockquote')).toEqual([details]);
    const [hash, origin, , contract, id] = textsIn(parsed, 'code').slice(1);
    expect([hash, origin?.toLowerCase(), contract?.toLowerCase(), id]).toEqual([
      TX_HASH,
      TX_ORIGIN,
      CONTRACT,
      '673d2f0a1b2c3d4e5f607182',
    ]);
    expect(textsIn(parsed, 'bold')).toEqual([
      '🔴 CRITICAL · Lending Pool · Lending vault',
      'Flash loan',
      'Drastic balance change',
      'Details',
    ]);
  });

  test('links the short hash and addresses, and shows its time by the clock of the reader', () => {
    const { entities } = read(inspectionAlert());
    expect(entities.flatMap(({ url }) => url ?? [])).toEqual([
      `${EXPLORER}tx/${TX_HASH}`,
      expect.stringMatching(/^https:\/\/basescan\.org\/address\/0x[7e]{40}$/i),
      expect.stringMatching(/^https:\/\/basescan\.org\/address\/0x(ab){20}$/i),
    ]);
    expect(entities.filter(({ type }) => type === 'date_time')).toMatchObject([
      { unixTime: Date.parse('2026-11-20T10:07:12Z') / 1000, format: 'T' },
    ]);
  });

  test('of an earlier day shows the date, too; of a time that Telegram does not take, only the text', () => {
    const dateOf = (txTimestamp: string) =>
      read(inspectionAlert({ item: { txTimestamp } })).entities.filter(({ type }) => type === 'date_time');
    expect(dateOf('2026-11-19T23:59:59.000Z')).toMatchObject([{ format: 'dT' }]);
    expect(dateOf('2037-11-19T23:59:59.000Z').map(({ unixTime }) => unixTime)).not.toContain(
      Date.parse('2037-11-19T23:59:59Z') / 1000,
    );
    expect(dateOf('1970-01-01T00:00:00.000Z')).toEqual([]);
  });

  test('in plain text quotes with signs, and has its links as text', () => {
    const { text: plain, parse_mode, reply_markup } = bodyOf(inspectionAlert(), 'plain');
    expect([parse_mode, reply_markup]).toEqual([undefined, undefined]);
    expect(plain).toBe(
      text
        .replace('\n“Flash', '\n> “Flash')
        .replace('\n“Drastic', '\n> “Drastic')
        .replace('\n\nDetails', `\nCheck transaction: ${EXPLORER}tx/${TX_HASH}\n\nDetails`),
    );
  });

  test('at its plainest has the whole hash and the id', () => {
    expect(bodyOf(inspectionAlert(), 'minimal')).toEqual({
      text: `🔴 CRITICAL · Lending Pool · Lending vault
> Borrowed 12,400 ETH and repaid in the same transaction; Balance fell by 61.5 %
Transaction: ${TX_HASH}
Sent: 2026-11-20 10:07:55 UTC
Inspection: 673d2f0a1b2c3d4e5f607182`,
    });
  });

  test('without any detector says so', () => {
    expect(read(inspectionAlert({ item: { detections: {} } })).text).toMatch(/^🔴 .*\n\n0x/);
  });

  test('stored as a notification comes whole and quoted, once', () => {
    const parsed = read(notificationAlert('Paused withdrawals\n\nby the guardian'));
    expect(parsed.text).toMatch(
      /^🟠 NOTIFICATION · Lending Pool\nThe service wrote:\nPaused withdrawals\n\nby the guardian\n\nwritten /,
    );
    expect(textsIn(parsed, 'blockquote')).toEqual(['Paused withdrawals\n\nby the guardian']);
    expect(bodyOf(notificationAlert('a\nb'), 'plain').text).toContain('\n> a\n> b\n\n');
  });

  test('of Tocsin itself is not quoted, and its commands can be copied', () => {
    const message = 'Slack C1 is archived.\nThen run: `tocsin dead retry`';
    const ours = notificationAlert('', {
      type: 'tocsin.destination.broken',
      item: { message, steps: ['tocsin dead retry'] },
    });
    const parsed = read(ours);
    expect(parsed.text).toMatch(/: Slack C1 is archived\nThen run: tocsin dead retry/);
    expect(parsed.entities.map(({ type }) => type)).toEqual(['bold', 'code']);
    expect(bodyOf(ours, 'plain').text).toContain('`tocsin dead retry`');
  });

  test('that lists hundreds of others is one message, with a file that has every hash', () => {
    const listed = Array.from({ length: 300 }, (_, n) => ({
      ...{ severity: 'CRITICAL', protocol: `Vault @${n}`, detectors: ['flashLoan'], at: '2026-11-20T09:00:00.000Z' },
      ...{ txHash: `0x${n.toString(16).padStart(64, '0')}`, chainId: 8453 },
    }));
    const report = notificationAlert('', {
      type: 'tocsin.mute.ended',
      item: { message: 'x', lead: 'A mute ended.', listed },
    });
    for (const format of ['rich', 'plain'] as const) {
      const { text, file } = bodyOf(report, format);
      const parsed = captionIn(text, format);
      expect(parsed.text).toMatch(/^🔵 Lending Pool: A mute ended\n🔴 CRITICAL .*Vault @0: Flash loan 0x0000/);
      expect(activeIn(parsed)).toEqual([]);
      for (const { txHash } of listed) expect(file?.text).toContain(txHash);
    }
  });

  test('in the words of a template says these, and has buttons and details all the same', () => {
    const templates = createTemplates(
      [
        {
          kinds: ['telegram'],
          protocols: ['*'],
          types: ['*'],
          title: 'Look: {{ protocol }}',
          text: 'Call {{ origin }} now\nat @once',
        },
      ],
      { kind: 'telegram', onFailed: (_index, why) => expect(why).toBe('') },
    );
    const context = {
      format: 'rich' as const,
      presentation: { ...createPresentation(), templates },
      sentAt: iso(SENT_AT),
    };
    const [message] = atOnce(composeTelegram({ destination: CHAT, alerts: [inspectionAlert()] }, context));
    const parsed = parseTelegramHtml(message?.body.text ?? '');
    expect(parsed.text).toMatch(/^Look: Lending Pool\n\nCall 0x\w{40} now\nat @once\n\nDetails\n/);
    expect(activeIn(parsed)).toEqual([]);
    expect(message?.body.reply_markup).toBeDefined();
  });
});

describe('its buttons', () => {
  const LINKS = ['Trace', 'Runbook', 'Board'].map((label) => ({ label, url: `https://${label}.example/{hash}` }));

  test('are the links, two beside each other', () => {
    const { reply_markup } = bodyOf(inspectionAlert(), 'rich', { links: LINKS });
    expect(reply_markup?.inline_keyboard).toEqual([
      [
        { text: 'Check transaction', url: `${EXPLORER}tx/${TX_HASH}` },
        { text: 'Trace', url: `https://Trace.example/${TX_HASH}` },
      ],
      [
        { text: 'Runbook', url: `https://Runbook.example/${TX_HASH}` },
        { text: 'Board', url: `https://Board.example/${TX_HASH}` },
      ],
    ]);
  });

  test('lead nowhere that Telegram refuses: such a link is text', () => {
    const links = [{ label: 'Board', url: 'https://grafana/d/{id}' }];
    const body = bodyOf(inspectionAlert({ item: { chainId: 424_242 } }), 'rich', { links });
    expect(body.reply_markup).toBeUndefined();
    expect(textsIn(parseTelegramHtml(body.text), 'code')).toContain('https://grafana/d/673d2f0a1b2c3d4e5f607182');
  });

  test('are not below a test', () => {
    const { reply_markup, text } = bodyOf(inspectionAlert({ type: 'test.sample' }), 'rich', { links: LINKS });
    expect(reply_markup).toBeUndefined();
    expect(parseTelegramHtml(text).entities.flatMap(({ url }) => url ?? [])).toEqual([]);
  });
});

describe('the sound', () => {
  const followUp = (type: string, is?: string): Alert =>
    inspectionAlert({ type, followUp: { of: 'id', was: 'critical', ...(is === undefined ? {} : { is }) } });
  const announcement = (type: string): Alert => notificationAlert('It works again.', { type });

  test.each([
    ['a downgrade', followUp('inspection.downgraded', 'ok')],
    ['a downgrade to suspicious', followUp('inspection.downgraded', 'suspecious')],
    ['what is listed no more', followUp('inspection.vanished')],
    ['a channel that works again', announcement('tocsin.destination.well')],
    ['a trouble that is over', announcement('tocsin.trouble.over')],
  ])('is left out for %s', (_what, alert) => expect(bodyOf(alert).disable_notification).toBe(true));

  test.each([
    ['an alert', inspectionAlert()],
    ['an upgrade', followUp('inspection.upgraded', 'critical')],
    ['a replay', inspectionAlert({ replay: true })],
    ['a broken channel', announcement('tocsin.destination.broken')],
    ['an assessment that is spelled like a downgrade', inspectionAlert({ type: 'inspection.downgraded' })],
    ['a notification that plays itself down', notificationAlert('Info: all is well')],
  ])('is there for %s', (_what, alert) => expect(bodyOf(alert)).not.toHaveProperty('disable_notification'));
});

describe('what a detector says', () => {
  const said = (...messages: string[]) =>
    inspectionAlert({
      item: {
        detections: Object.fromEntries(
          messages.map((message, n) => [`detector${'ABCDEFGH'.charAt(n)}`, { status: 'detected', message }]),
        ),
      },
    });

  test('begins no line of ours', () => {
    const fake = `Harmless.\n\nFrom ${TX_ORIGIN} · an admin of Vault\n[continues: part 1 of 2]`;
    const parsed = read(said(fake));
    const whole = `“Detector a: ${cleanLine(fake)}”`;
    expect(textsIn(parsed, 'blockquote')).toEqual([whole.replace(TX_ORIGIN, '0x7e7e…7e7E')]);
    expect(textsIn(parsed, 'expandable_blockquote')[0]?.split('\n').at(-1)).toBe(whole);
    expect(parsed.text.match(/^From /gm)).toHaveLength(1);
    expect(bodyOf(said(fake), 'plain').text.match(/^From /gm)).toHaveLength(1);
  });

  test('has a share of the room: a long first one does not push out the others, and is whole where it is folded', () => {
    const long = 'words and '.repeat(90).trim();
    const parsed = read(said(long, 'Second.', 'Third.'));
    const [brief = ''] = textsIn(parsed, 'blockquote');
    expect(brief).toMatch(/^“Detector a: words .*…”\n“Detector b: Second\.”\n“Detector c: Third\.”$/);
    expect(brief.length).toBeLessThan(460);
    expect(textsIn(parsed, 'expandable_blockquote')[0]).toBe(
      `“Detector a: ${long}”\n“Detector b: Second.”\n“Detector c: Third.”`,
    );
  });

  test('is folded where it is long and alone', () => {
    const long = 'words and '.repeat(90).trim();
    const parsed = read(said(long));
    expect(textsIn(parsed, 'blockquote')).toEqual([]);
    expect(textsIn(parsed, 'expandable_blockquote')[0]).toBe(`“Detector a: ${long}”`);
  });

  test('is cut in favour of those that are short, and of all else', () => {
    const huge = 'x'.repeat(50_000);
    const parsed = read(said(huge, 'Second.', huge));
    expect(parsed.text).toContain('\n“Detector b: Second.”\n');
    expect(parsed.text).toMatch(/\n\[9\d,\d{3} characters left out\]\n/);
    expect(parsed.text.length).toBeGreaterThan(3900);
    for (const fact of [TX_HASH, 'Inspection: 673d2f', 'Sent: 2026-11-20']) expect(parsed.text).toContain(fact);
  });

  test('of hundreds of detectors is told as far as it fits', () => {
    const detections = Object.fromEntries(
      Array.from({ length: 400 }, (_, n) => [`detector${n}`, { status: 'detected', message: `Message ${n}` }]),
    );
    const parsed = read(inspectionAlert({ item: { detections } }));
    expect(parsed.text).toContain('Message 20');
    expect(parsed.text).toMatch(/\[cut; \d{3} more detectors left out\]/);
  });
});

describe('what is too long', () => {
  const long = Array.from({ length: 400 }, (_, n) => `line ${n} says something`).join('\n');

  const finding = (message: string) =>
    inspectionAlert({ item: { detections: { flashLoan: { status: 'detected', message } } } });

  test('is not cut as long as it fits, to the last of 4096', () => {
    const around = Array.from({ length: 900 }, (_, n) => read(finding('x'.repeat(2700 + n))).text);
    const whole = around.filter((text) => !text.includes('left out'));
    expect(Math.max(...whole.map(({ length }) => length))).toBeGreaterThan(4080);
    expect(whole.length).toBeLessThan(around.length);
    expect(around.every((text) => text.includes(TX_HASH))).toBe(true);
  });

  test('of a stored notification is in a file, below its beginning: one message, whatever it says', () => {
    const huge = 'The owner of the vault was changed. '.repeat(2800).trim();
    for (const message of [long, huge, 'a\n'.repeat(9000).trim(), `${'y'.repeat(9000)}\nend`]) {
      for (const format of ['rich', 'plain'] as const) {
        const { text, file } = bodyOf(notificationAlert(message), format);
        const parsed = captionIn(text, format);
        const said = parsed.text.replace(/^> /gm, '');
        expect(said).toMatch(/^🟠 NOTIFICATION · Lending Pool\nThe service wrote:\n/);
        expect(said).toContain(`\n${message.slice(0, 12)}`);
        expect(said).toContain(
          `\n[the whole text, ${message.length.toLocaleString('en')} characters, is in the file]\n`,
        );
        expect(said.length).toBeGreaterThan(500);
        expect(file?.name).toMatch(/^tocsin-alert-[0-9a-f]{8}\.txt$/);
        expect(file?.text.replace(/^> /gm, '')).toContain(message);
        expect(file?.text).toContain('Notification: b7f2c0de11aa22bb33cc44dd55ee66ff');
      }
    }
  });

  test('of many contracts names as many as fit, and says how many are missing', () => {
    const assets = Array.from({ length: 200 }, (_, n) => ({ descriptor: `Market ${n}`, address: `0x${n}` }));
    const { text } = read(inspectionAlert({ item: { assets } }));
    const shown = text.match(/^Contract: /gm)?.length ?? 0;
    expect(shown).toBeGreaterThan(20);
    expect(text).toContain(`[${200 - shown} more left out]`);
    expect(text).toContain('Inspection: 673d2f0a1b2c3d4e5f607182');
  });

  test('leaves transaction, ids and times, whatever else is long', () => {
    const huge = 'x'.repeat(50_000);
    const { text } = read(hostileAlert([huge, huge, huge, huge, huge, '673d2f']));
    for (const fact of [TX_HASH, 'Inspection: 673d2f', 'Sent: 2026-11-20 10:07:55 UTC', 'characters left out']) {
      expect(text).toContain(fact);
    }
  });

  test('of entities becomes one block, for Telegram drops those beyond a hundred', () => {
    const mentions = Array.from({ length: 200 }, (_, n) => `@user_${n}`).join(' ');
    const parsed = read(notificationAlert(mentions));
    expect(parsed.text).toContain(mentions);
    expect(parsed.entities.length).toBeLessThan(20);
    expect(activeIn(parsed)).toEqual([]);
  });
});

/** Shrinking a heap of text may take longer than anybody waits. */
const BOUNDED = { interruptAfterTimeLimit: 20_000 };

describe('any text', () => {
  const texts = fc.array(anyText(), { minLength: 6, maxLength: 6 });

  test('comes back from the HTML as it was, within every limit', () => {
    fc.assert(
      fc.property(texts, (values) => {
        const alert = hostileAlert(values, 424_242);
        const content = describeAlert(alert, { presentation: createPresentation(), sentAt: SENT_AT });
        expect(read(alert).text).toBe(blocksToPlain(layOut(content, 'rich', SENT_AT) ?? []));
        for (const format of ['plain', 'minimal'] as const) {
          const { text } = bodyOf(alert, format);
          expect(limitBroken(text, { text, entities: [] })).toBeUndefined();
        }
      }),
      BOUNDED,
    );
  });

  test('holds for a notification of any length, also in the caption of a file', () => {
    fc.assert(
      fc.property(texts, fc.constantFrom('', ' and more'.repeat(600)), (values, more) => {
        const alert = notificationAlert(`${values.join(' ').repeat(3)}${more}`);
        const { text: html, file } = bodyOf(alert, 'rich');
        const parsed = file === undefined ? parseTelegramHtml(html) : captionIn(html, 'rich');
        expect(limitBroken(html, parsed)).toBeUndefined();
        expect(parsed.entities.length).toBeLessThanOrEqual(100);
        expect(activeIn(parsed)).toEqual([]);
        const { text, file: plainFile } = bodyOf(alert, 'plain');
        if (plainFile === undefined) expect(limitBroken(text, { text, entities: [] })).toBeUndefined();
        else captionIn(text, 'plain');
      }),
      BOUNDED,
    );
  });

  test('is all there where it is short', () => {
    const short = anyText().filter((text) => text.length < 60 && cleanLine(text) !== '');
    fc.assert(
      fc.property(short, (value) => {
        const { text } = read(hostileAlert([value, value, value, value, value, value]));
        expect(text.split(cleanLine(value)).length).toBeGreaterThan(7);
        expect(read(notificationAlert(value)).text).toContain(cleanText(value));
      }),
      BOUNDED,
    );
  });

  test('neither links nor calls anybody; only our own explorer links are live', () => {
    fc.assert(
      fc.property(texts, (values) => {
        const inspection = read(hostileAlert(values));
        expect(activeIn(inspection).filter((target) => !target.startsWith(EXPLORER))).toEqual([]);
        expect(inspection.entities.length).toBeLessThanOrEqual(100);
        expect(activeIn(read(notificationAlert(values.join(' '))))).toEqual([]);
      }),
      BOUNDED,
    );
  });
});

describe('the reader that these tests rely on', () => {
  test.each([
    ['<b>open', /find end tag/],
    ['1 < 2', /Unclosed|Unsupported/],
    ['<b><code>a</code></b>', /drops/],
    ['<a href="https://intranet/">a</a>', /drops/],
  ])('refuses %j', (html, why) => expect(() => parseTelegramHtml(html)).toThrow(why));

  test.each([
    ['@oncall', '@oncall'],
    ['x@evil.example', 'evil.example'],
    ['https://evil.example', 'https://evil.example'],
    ['evil.example/x', 'evil.example'],
    ['#tag', '#tag'],
    ['/start', '/start'],
    ['127.0.0.1', '127.0.0.1'],
    ['+49 170 1234567', '+49 170 1234567 '],
  ])('finds %j in open text, and not in code', (text, found) => {
    expect(activeIn({ text: `see ${text} now`, entities: [] })).toContain(found);
    expect(activeIn(parseTelegramHtml(`see <code>${text}</code> now`))).toEqual([]);
  });
});
