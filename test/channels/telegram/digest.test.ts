/** Many alerts as one Telegram message, and the alerts of one transaction as one. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import { type ComposeContext, FORMATS, type Format, type Message } from '../../../src/channels/channel.ts';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import { composeTelegram, type TelegramBody } from '../../../src/channels/telegram/message.ts';
import { atOnce } from '../../../src/chunks.ts';
import { destinationOf, inspectionAlert, notificationAlert, TX_HASH } from '../../support/alerts.ts';
import { hashOf, makeAlert } from '../../support/numbered.ts';
import { activeIn, limitBroken, type Parsed, parseTelegramHtml } from '../../support/telegram-reader.ts';
import { anyText } from '../../support/texts.ts';

const CHAT = destinationOf('telegram', '-1001234567890');
const EXPLORER = 'https://basescan.org/';
const CAPTION_MAX = 1024;

const compose = (
  alerts: Alert[],
  format: Format = 'rich',
  changes: Partial<ComposeContext> = {},
): Message<TelegramBody>[] =>
  atOnce(
    composeTelegram(
      { destination: CHAT, alerts },
      { format, presentation: createPresentation(), sentAt: '2026-11-20T10:07:55.000Z', ...changes },
    ),
  );

const parse = ({ text, parse_mode }: TelegramBody): Parsed =>
  parse_mode === 'HTML' ? parseTelegramHtml(text) : { text, entities: [] };

/** As Telegram would show it; fails where Telegram would refuse or drop anything. */
const read = ({ body }: Message<TelegramBody>): Parsed => {
  const parsed = parse(body);
  expect(limitBroken(body.text, parsed)).toBeUndefined();
  expect(parsed.entities.length).toBeLessThanOrEqual(100);
  if (body.file) expect(parsed.text.length).toBeLessThanOrEqual(CAPTION_MAX);
  return parsed;
};

const everything = (messages: Message<TelegramBody>[]): string =>
  messages.map((message) => `${read(message).text}\n${message.body.file?.text ?? ''}`).join('\n');

const several = (count: number): Alert[] => Array.from({ length: count }, (_, n) => makeAlert(n));

const only = (messages: Message<TelegramBody>[]): Message<TelegramBody> => {
  const [message] = messages;
  if (message === undefined || messages.length > 1) throw new Error(`${messages.length} messages instead of one`);
  return message;
};

/** Without what marks a quote in plain text. */
const unquoted = (text: string): string => text.replace(/^(?:> )+/gm, '');

/** The texts that Telegram marks as `type`. */
const textsIn = ({ text, entities }: Parsed, type: string): string[] =>
  entities.filter((one) => one.type === type).map(({ offset, length }) => text.slice(offset, offset + length));

describe('a digest that the text holds', () => {
  test('says what happened first, then how often what was involved, when and why, then folds everything in full', () => {
    const message = only(compose(several(8)));
    expect(message.body.file).toBeUndefined();
    const [head = '', counts = '', all = '', ...more] = read(message).text.split('\n\n');
    expect(more).toEqual([]);
    const [title, ...worst] = head.split('\n');
    expect(title).toBe('🔴 8 critical alerts in “Lending Pool”');
    expect(worst.slice(0, 3)).toEqual([
      '🔴 CRITICAL · Lending Pool · Lending vault',
      '“Borrowed 12,400 ETH and repaid in the same transaction; Balance fell by 61.5 %”',
      '0x0000…0000 · 62 %',
    ]);
    expect(worst).toHaveLength(5 * 3);
    expect(
      counts.replace(/0x[\dA-Fa-f]{4}…[\dA-Fa-f]{4}/g, 'SHORT'),
    ).toBe(`Detectors: Drastic balance change ×8, Flash loan ×8
Contracts: Lending vault (SHORT) ×8
Senders: SHORT ×8
2026-11-20 10:07:12 UTC. Too many at once for single messages. The worst comes first: start there.`);
    const rows = all.split('\n');
    expect(rows.slice(0, 2)).toEqual([
      'All 8',
      `1. ${hashOf(0)} Base (8453), 2026-11-20 10:07:12 UTC, Flash loan, Drastic balance change`,
    ]);
    expect(rows.slice(-4)).toEqual([
      '8. 🔴 CRITICAL · Lending Pool · Lending vault',
      `${hashOf(7)} Base (8453), 2026-11-20 10:07:12 UTC, Flash loan, Drastic balance change`,
      '> Flash loan: Borrowed 12,400 ETH and repaid in the same transaction',
      '> Drastic balance change: Balance fell by 61.5 %',
    ]);
  });

  test('has its times by the clock of the reader, and of the config where there is none', () => {
    const at = (n: number, txTimestamp: string) => makeAlert(n, { item: { txHash: hashOf(n), txTimestamp } });
    const alerts = [
      at(0, '2026-11-20T10:07:12.000Z'),
      ...several(5).map((_, n) => at(n + 1, '2026-11-20T10:12:31.000Z')),
    ];
    const presentation = createPresentation({ timeZone: 'Europe/Berlin' });
    const message = only(compose(alerts, 'rich', { presentation }));
    expect(read(message).text).toContain('\n2026-11-20 11:07:12 to 11:12:31 CET. Too many');
    expect(read(message).text).toContain(`1. ${hashOf(0)} Base (8453), 2026-11-20 11:07:12 CET, `);
    expect(message.body.text).toContain('<tg-time unix="1795169232" format="dT">2026-11-20 11:07:12</tg-time> to ');
    expect(message.body.text).toContain('<tg-time unix="1795169551" format="T">11:12:31 CET</tg-time>. Too many');
  });

  test('of a storm says so below what happened', () => {
    const { text } = read(only(compose(several(8), 'rich', { storm: { message: 3, alerts: 2000 } })));
    expect(text).toMatch(/^🔴 8 critical .+\n🔴 CRITICAL .+\n“Borrowed /);
    expect(text).toMatch(
      /\nSenders: .+\n2026-11-20 10:07:12 UTC\. Storm, message 3\. The worst comes first: start there\.\n/,
    );
  });

  test('links the short hashes and the origins, quotes the worst, and lets every hash be copied', () => {
    const parsed = read(only(compose(several(6))));
    expect(parsed.entities.flatMap(({ url }) => url ?? [])).toEqual([
      ...several(5).map((_, n) => `${EXPLORER}tx/${hashOf(n)}`),
      ...['contract', 'sender'].map(() => expect.stringMatching(/^https:\/\/basescan\.org\/address\//)),
    ]);
    expect(textsIn(parsed, 'code')).toEqual(several(6).map((_, n) => hashOf(n)));
    expect(textsIn(parsed, 'blockquote')).toEqual(
      several(5).map(() => '“Borrowed 12,400 ETH and repaid in the same transaction; Balance fell by 61.5 %”'),
    );
    expect(textsIn(parsed, 'expandable_blockquote')[0]).toMatch(/^All 6\n1\. 0x/);
  });

  test('has a short stored notification whole, to its last full stop', () => {
    const notices = Array.from({ length: 6 }, (_, n) => `Notice ${n} ends here.`);
    const shown = read(
      only(compose(notices.map((text, n) => notificationAlert(text, { id: `${n}`, itemId: `${n}` })))),
    );
    for (const text of notices) expect(shown.text).toContain(text);
  });

  test('shows a stored notification whole, in one line that is quoted, and names what has no transaction by its id', () => {
    const note = notificationAlert(`Paused withdrawals\n2. ${hashOf(9)} ${'and so on '.repeat(30)}`);
    const { text } = read(only(compose([...several(5), note])));
    expect(text).toContain(`${note.itemId} 2026-11-20 11:22:33 UTC\n> Paused withdrawals 2. ${hashOf(9)} and so on`);
    expect(text.match(/^2\. /gm)).toHaveLength(1);
  });

  test('is plain, line by line the same, with `> ` before what is from outside', () => {
    const plain = only(compose(several(8), 'plain'));
    expect(plain.body.parse_mode).toBeUndefined();
    expect(unquoted(plain.body.text)).toBe(unquoted(read(only(compose(several(8)))).text));
    expect(plain.body.text.match(/^> “Borrowed /gm)).toHaveLength(5);
    const forged = notificationAlert('99. 🟢 OK · Harbor Lending');
    const { text } = only(compose([...several(5), forged], 'plain')).body;
    expect(text.match(/^.*99\. .*$/gm)).toEqual(['> 99. 🟢 OK · Harbor Lending']);
  });
});

describe('a digest that the text does not hold', () => {
  const worst = makeAlert(500, {
    item: {
      txHash: hashOf(500),
      detections: { balanceChange: { status: 'detected', message: 'Balance fell by 93 %' } },
    },
  });
  const storm = [...several(119), worst];
  const byId = (a: Alert, b: Alert): number => a.id.localeCompare(b.id);

  test('is the caption of a file: the counts, the worst, and where the rest is', () => {
    const message = only(compose(storm));
    const { text } = read(message);
    expect(text).toMatch(/^🔴 120 critical alerts in “Lending Pool”\n🔴 CRITICAL · .+\n“Balance fell by 93 %”\n0x/);
    expect(text).toMatch(
      /\n\nDetectors: .+\nContracts: .+\nSenders: .+\n2026-11-20 10:07:12 UTC\. .+\nThe file lists all of them, the worst first\.$/,
    );
    expect(text).toContain('\n🔴 CRITICAL · Lending Pool · Lending vault ×119\n');
    for (const { txHash = '' } of storm) expect(message.body.file?.text).toContain(txHash);
    expect(message.alerts).toHaveLength(120);
  });

  test('has the same caption in plain text', () => {
    const plain = only(compose(storm, 'plain'));
    expect(unquoted(plain.body.text)).toBe(read(only(compose(storm))).text);
    expect(plain.body.file).toEqual(only(compose(storm)).body.file);
  });

  test('without a file is several messages, each with its own alerts and their hashes', () => {
    const messages = compose(storm, 'minimal');
    expect(messages.length).toBeGreaterThan(1);
    expect(messages.flatMap(({ alerts }) => alerts).toSorted(byId)).toEqual(storm.toSorted(byId));
    expect(messages[0]?.alerts[0]).toBe(worst);
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
    for (const message of messages) {
      const { text } = read(message);
      expect(message.body.file).toBeUndefined();
      expect(text.match(/0x[0-9a-f]{64}/g)?.toSorted()).toEqual(message.alerts.map(({ txHash }) => txHash).toSorted());
      expect(text).toMatch(new RegExp(`^🔴 ${message.alerts.length} critical alerts in “Lending Pool”`));
    }
  });

  test('keeps its message as long as its alerts are the same', () => {
    expect(only(compose(storm.toReversed())).id).toBe(only(compose(storm)).id);
    expect(only(compose(storm, 'plain')).id).toBe(only(compose(storm)).id);
  });

  test('says whole why it comes this way, before what was counted', () => {
    const notice = `Fallback: ${'nobody took it, '.repeat(22)}so it is here.`;
    const { text } = read(only(compose(several(300).map((alert) => ({ ...alert, notice })))));
    expect(text).toContain(notice);
    expect(text).toMatch(/^🔴 300 critical .*\n🔴 CRITICAL .*\n“Borrowed /);
  });

  test('of five thousand alerts is sent all the same', () => {
    const flood = several(5000);
    const shown = new Set(everything(compose(flood)).match(/0x[0-9a-f]{64}/g));
    expect(flood.filter(({ txHash = '' }) => !shown.has(txHash))).toEqual([]);
  });
});

describe('an incident', () => {
  const found = ['Lending Pool', 'Stable Vault', 'Bridge'].map((protocol, n) =>
    inspectionAlert({ id: `id${n}`, protocol, item: { _id: `inspection-${n}`, protocol } }),
  );

  test('is one message that names every protocol and inspection, and the transaction once', () => {
    const message = only(compose(found));
    const { text } = read(message);
    expect(text).toMatch(
      /^🔴 CRITICAL · 3 protocols · one transaction\n“Lending Pool · Borrowed 12,400 ETH .*”\n“Stable /,
    );
    for (const fact of ['“Bridge · ', 'Protocol: Bridge', ': inspection-0', ': inspection-2']) {
      expect(text).toContain(fact);
    }
    expect(text.split(TX_HASH)).toHaveLength(2);
    expect(message.alerts).toEqual(found);
  });

  test('in its plainest form still has the transaction and the ids', () => {
    const { text } = read(only(compose(found, 'minimal')));
    for (const fact of [TX_HASH, 'inspection-0', 'inspection-2', 'Sent: ']) expect(text).toContain(fact);
  });

  test('of facts that fill the message leaves room for what the detectors say', () => {
    const huge = 'many words '.repeat(400);
    const alerts = Array.from({ length: 4 }, (_, n) =>
      inspectionAlert({
        id: `id${n}`,
        protocol: `${n}${huge}`,
        item: {
          _id: `${n}${huge}`,
          invokedMethodName: `${n}${huge}`,
          txOrigin: `${n}${huge}`,
          txTimestamp: `${n}${huge}`,
          createdAt: `${n}${huge}`,
          assets: [{ address: huge, descriptor: `${n}${huge}` }],
          detections: { [`${n}${huge}`]: { status: 'detected', message: 'Balance fell by 61.5 %' } },
        },
      }),
    );
    const { text } = read(only(compose(alerts)));
    for (const fact of [TX_HASH, 'Balance fell by', 'Inspection: ', 'Sent: ']) expect(text).toContain(fact);
  });
});

describe('any text', () => {
  const texts = fc.array(anyText(), { minLength: 6, maxLength: 6 });

  /** Everything of an alert that comes from outside, but its hash. */
  const hostile = (texts: readonly string[], n: number): Alert => {
    const at = (index: number): string => texts[(index + n) % texts.length] ?? '';
    return makeAlert(n, {
      protocol: at(0),
      ...(n % 5 === 4 ? { notice: at(3) } : {}),
      item: {
        _id: at(1),
        txHash: hashOf(n),
        // One that is not linked.
        chainId: n % 2 === 0 ? 8453 : 424_242,
        assessment: n % 7 === 3 ? at(5) : 'critical',
        assets: [{ address: at(2), descriptor: at(3) }],
        detections: { [at(4)]: { status: 'detected', message: at(5) }, [at(2)]: { status: 'detected', message: '' } },
      },
    });
  };

  test('every hash of a digest arrives, whatever stands around it, and nothing of it is live', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 6, max: 40 }), (values, count) => {
        const alerts = Array.from({ length: count }, (_, n) => hostile(values, n));
        for (const format of FORMATS) {
          const messages = compose(alerts, format);
          expect(messages.flatMap((message) => message.alerts.map(({ id }) => id)).toSorted()).toEqual(
            alerts.map(({ id }) => id).toSorted(),
          );
          const shown = everything(messages);
          for (const { txHash = '' } of alerts) expect(shown).toContain(txHash);
        }
        for (const [index, message] of compose(alerts).entries()) {
          const parsed = read(message);
          expect(activeIn(parsed).filter((target) => !target.startsWith(EXPLORER))).toEqual([]);
          expect(unquoted(parsed.text)).toBe(unquoted(compose(alerts, 'plain')[index]?.body.text ?? ''));
          // The first of the worst is in the message itself.
          expect(parsed.text).toMatch(/^0x[0-9a-f]{4}…[0-9a-f]{4}(?= ·|$)/m);
        }
      }),
      { numRuns: 40, interruptAfterTimeLimit: 20_000 },
    );
  });

  test('the findings of one transaction stay one message within every limit', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 2, max: 30 }), (values, count) => {
        const alerts = Array.from({ length: count }, (_, n) => ({ ...hostile(values, n * 2), txHash: hashOf(1) }));
        for (const alert of alerts) alert.item = { ...alert.item, chainId: 8453, txHash: hashOf(1) };
        for (const format of FORMATS) expect(read(only(compose(alerts, format))).text).toContain(hashOf(1));
        const parsed = read(only(compose(alerts)));
        expect(activeIn(parsed).filter((target) => !target.startsWith(EXPLORER))).toEqual([]);
      }),
      { interruptAfterTimeLimit: 20_000 },
    );
  });
});
