import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import { WELL_KNOWN_CHAINS } from '../../../src/channels/chains.ts';
import type { Format } from '../../../src/channels/channel.ts';
import { composeTelegram, type TelegramBody } from '../../../src/channels/telegram/message.ts';
import { atOnce } from '../../../src/slices.ts';
import { cleanLine, cleanText } from '../../../src/text.ts';
import { destinationOf, inspectionAlert, notificationAlert, TX_HASH, TX_ORIGIN } from '../../support/alerts.ts';
import { activeIn, limitBroken, type Parsed, parseTelegramHtml } from '../../support/telegram-reader.ts';
import { anyText } from '../../support/texts.ts';

const CHAT = destinationOf('telegram', '-1001234567890');
const EXPLORER = 'https://basescan.org/';

const bodyOf = (alert: Alert, format: Format = 'rich'): TelegramBody => {
  const context = { format, chains: WELL_KNOWN_CHAINS, sentAt: '2026-11-20T10:07:55.000Z' };
  const [message] = atOnce(composeTelegram({ destination: CHAT, alerts: [alert] }, context));
  if (message === undefined) throw new Error('nothing composed');
  return message.body;
};

const read = (alert: Alert): Parsed => {
  const { text } = bodyOf(alert);
  const parsed = parseTelegramHtml(text);
  expect(limitBroken(text, parsed)).toBeUndefined();
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

describe('an alert in Telegram', () => {
  test('reads like this', () => {
    expect(read(inspectionAlert()).text).toBe(`CRITICAL: Lending Pool: flashLoan, drasticBalanceChange
Base (8453), transaction ${TX_HASH}

flashLoan: Borrowed 12,400 ETH and repaid in the same transaction
drasticBalanceChange: Balance fell by 61.5 %

Origin: ${TX_ORIGIN}
Method: liquidateCall
Not fired: mixer
Assets: Lending vault (0x${'ab'.repeat(20)})
Transaction time: 2026-11-20 10:07:12 UTC
Inspected: 2026-11-20 10:07:31 UTC (19 s after the transaction, 23 s before sending)
Sent: 2026-11-20 10:07:55 UTC (43 s after the transaction)
Inspection: 673d2f0a1b2c3d4e5f607182`);
  });

  test('links the hash and the origin, marks names, and lets ids be copied', () => {
    const { text, entities } = read(inspectionAlert());
    const marked = entities.map(({ type, offset, length, url }) => [type, text.slice(offset, offset + length), url]);
    expect(marked).toEqual([
      ['b', 'CRITICAL: Lending Pool: flashLoan, drasticBalanceChange', undefined],
      ['a', TX_HASH, `${EXPLORER}tx/${TX_HASH}`],
      ['b', 'flashLoan', undefined],
      ['b', 'drasticBalanceChange', undefined],
      ['a', TX_ORIGIN, `${EXPLORER}address/${TX_ORIGIN}`],
      ['code', 'liquidateCall', undefined],
      ['code', '673d2f0a1b2c3d4e5f607182', undefined],
    ]);
  });

  test('in plain text shows the same lines, and the link as a line of its own', () => {
    const { text, parse_mode } = bodyOf(inspectionAlert(), 'plain');
    expect(parse_mode).toBeUndefined();
    const lines = text.split('\n');
    expect(lines[2]).toBe(`${EXPLORER}tx/${TX_HASH}`);
    expect(lines.toSpliced(2, 1).join('\n')).toBe(read(inspectionAlert()).text);
  });

  test('at its plainest has four lines', () => {
    expect(bodyOf(inspectionAlert(), 'minimal')).toEqual({
      text: `CRITICAL: Lending Pool: flashLoan, drasticBalanceChange
Transaction: ${TX_HASH}
Sent: 2026-11-20 10:07:55 UTC (43 s after the transaction)
Inspection: 673d2f0a1b2c3d4e5f607182`,
    });
  });

  test('of a chain without a name says its number; without any, that it is unknown', () => {
    const second = (item: Alert['item']) => read(inspectionAlert({ item })).text.split('\n')[1];
    expect(second({ chainId: 424_242 })).toBe(`Chain 424242, transaction ${TX_HASH}`);
    expect(second({ chainId: null, txHash: null })).toBe('Chain unknown, transaction unknown');
  });

  test('with several assets lists them, with many keeps them in one line', () => {
    const assets = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ address: `0x${n}`, descriptor: `Vault ${n}` }));
    expect(read(inspectionAlert({ item: { assets: assets(2) } })).text).toContain(
      'Assets:\n- Vault 0 (0x0)\n- Vault 1 (0x1)\n',
    );
    expect(read(inspectionAlert({ item: { assets: assets(5) } })).text).toContain('Assets: Vault 0 (0x0), Vault 1');
  });

  test('stored as a notification comes whole, once', () => {
    const { text } = read(notificationAlert('Paused withdrawals\n\nby the guardian'));
    expect(text).toMatch(/^Notification: Lending Pool\n\nPaused withdrawals\n\nby the guardian\n\nStored: /);
  });
});

describe('what is too long', () => {
  const long = Array.from({ length: 400 }, (_, n) => `line ${n} says something`).join('\n');

  const finding = (message: string) =>
    inspectionAlert({ item: { detections: { flashLoan: { status: 'detected', message } } } });

  test('is cut between lines, and says how much is missing; what follows stays', () => {
    const { text } = read(finding(long));
    const [, shown = '', omitted = ''] =
      /\n\nflashLoan: (line 0(?:.|\n)*?)\n\[([\d,]+) characters left out\]\n\n/.exec(text) ?? [];
    expect(long.startsWith(`${shown}\n`)).toBe(true);
    expect(shown.length + 1 + Number(omitted.replace(',', ''))).toBe(long.length + 1);
    expect(text).toContain('Inspection: 673d2f0a1b2c3d4e5f607182');
    expect(text.length).toBeGreaterThan(3900);
  });

  test('is not cut as long as it fits, to the last of 4096', () => {
    const around = Array.from({ length: 900 }, (_, n) => read(finding('x'.repeat(3000 + n))).text);
    const whole = around.filter((text) => !text.includes('left out'));
    expect(Math.max(...whole.map(({ length }) => length))).toBe(4096);
    expect(whole.length).toBeLessThan(around.length);
  });

  test('is cut inside a line where the line alone is too long', () => {
    const { text } = read(finding(`First.\n${'words and '.repeat(2000)}`));
    expect(text).toMatch(/First\.\nwords and .*…\n\[1[\d,]+ characters left out\]\n\n/);
    expect(text.length).toBeGreaterThan(3900);
  });

  test('of a stored notification goes on in further messages, with nothing left out', () => {
    for (const message of [long, 'words and '.repeat(2000).trim(), `${'y'.repeat(9000)}\nend`]) {
      const { text, continuations = [] } = bodyOf(notificationAlert(message), 'plain');
      const texts = [text, ...continuations];
      expect(texts.length).toBeGreaterThan(2);
      for (const each of texts) expect(limitBroken(each, { text: each, entities: [] })).toBeUndefined();
      const joined = texts
        .join('\n')
        .replace(/\n\[continues: part 1 of \d+\]\n\n(?:.+\n)*?(?=\[part 2)/, '\n')
        .replace(/\[part \d+ of \d+\]\n/g, '');
      expect(joined.replace(/\s/g, '')).toContain(message.replace(/\s/g, ''));
    }
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

  test('comes back from the HTML as the plain text it was, within every limit', () => {
    fc.assert(
      fc.property(texts, (values) => {
        const alert = hostileAlert(values, 424_242);
        expect(read(alert).text).toBe(bodyOf(alert, 'plain').text);
        for (const format of ['plain', 'minimal'] as const) {
          const { text } = bodyOf(alert, format);
          expect(limitBroken(text, { text, entities: [] })).toBeUndefined();
        }
      }),
      BOUNDED,
    );
  });

  test('holds in every part of a long notification', () => {
    const partsOf = (alert: Alert, format: Format): string[] => {
      const { text, continuations = [] } = bodyOf(alert, format);
      return [text, ...continuations];
    };
    fc.assert(
      fc.property(texts, (values) => {
        const alert = notificationAlert(values.join(' ').repeat(3));
        const rich = partsOf(alert, 'rich').map((html) => {
          const parsed = parseTelegramHtml(html);
          expect(limitBroken(html, parsed)).toBeUndefined();
          expect(parsed.entities.length).toBeLessThanOrEqual(100);
          expect(activeIn(parsed)).toEqual([]);
          return parsed.text;
        });
        expect(rich).toEqual(partsOf(alert, 'plain'));
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
    ['<b>a</i>', /Unexpected end tag/],
    ['a</b>', /Unexpected end tag/],
    ['<script>a</script>', /Unsupported start tag/],
    ['<b class="x">a</b>', /wrong attributes|Unsupported/],
    ['<a>a</a>', /wrong attributes/],
    ['<b><code>a</code></b>', /nested/],
    ['1 < 2', /Unclosed|Unsupported/],
  ])('refuses %j', (html, why) => expect(() => parseTelegramHtml(html)).toThrow(why));

  test('decodes what Telegram decodes, and nothing else', () => {
    expect(parseTelegramHtml('&lt;&gt;&amp;&quot;&#60;&#x3c;&apos;&nbsp;&').text).toBe('<>&"<<&apos;&nbsp;&');
  });

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
