/** Many alerts as one Telegram message, and the alerts of one transaction as one. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import { WELL_KNOWN_CHAINS } from '../../../src/channels/chains.ts';
import { FORMATS, type Format, type Message } from '../../../src/channels/channel.ts';
import { composeTelegram, type TelegramBody } from '../../../src/channels/telegram/message.ts';
import { atOnce } from '../../../src/slices.ts';
import { destinationOf, inspectionAlert, notificationAlert, TX_HASH } from '../../support/alerts.ts';
import { hashOf, makeAlert } from '../../support/numbered.ts';
import { activeIn, limitBroken, type Parsed, parseTelegramHtml } from '../../support/telegram-reader.ts';
import { anyText } from '../../support/texts.ts';

const CHAT = destinationOf('telegram', '-1001234567890');
const EXPLORER = 'https://basescan.org/';
const CAPTION_MAX = 1024;

const compose = (alerts: Alert[], format: Format = 'rich'): Message<TelegramBody>[] =>
  atOnce(
    composeTelegram(
      { destination: CHAT, alerts },
      { format, chains: WELL_KNOWN_CHAINS, sentAt: '2026-11-20T10:07:55.000Z' },
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

describe('a digest that the text holds', () => {
  test('reads like this', () => {
    const message = only(compose(several(6)));
    expect(message.body.file).toBeUndefined();
    const [head = '', first = '', ...rest] = read(message).text.split(/\n\n(?=\d\. )/);
    expect(head).toBe(`6 critical alerts in Lending Pool
2026-11-20 10:07:12 UTC

Detectors: drasticBalanceChange ×6, flashLoan ×6
Contracts: Lending vault (0xabab…abab) ×6`);
    expect(first).toBe(`1. CRITICAL: Lending Pool
${hashOf(0)}
Base (8453), 2026-11-20 10:07:12 UTC
flashLoan: Borrowed 12,400 ETH and repaid in the same transaction
drasticBalanceChange: Balance fell by 61.5 %`);
    expect(rest).toHaveLength(5);
    expect(rest.at(-1)).toMatch(/\n\nOne message for all of them: .+\.$/);
  });

  test('links every hash, and marks what is first in each item', () => {
    const { text, entities } = read(only(compose(several(6))));
    const linked = entities.flatMap(({ url, offset, length }) =>
      url ? [[text.slice(offset, offset + length), url]] : [],
    );
    expect(linked).toEqual(several(6).map((_, n) => [hashOf(n), `${EXPLORER}tx/${hashOf(n)}`]));
    const bold = entities
      .filter(({ type }) => type === 'b')
      .map((one) => text.slice(one.offset, one.offset + one.length));
    expect(bold).toContain('1. CRITICAL: Lending Pool');
  });

  test('shows a stored notification whole, and names an item without a transaction by its id', () => {
    const note = notificationAlert('Paused withdrawals\nby the guardian');
    const { text } = read(only(compose([...several(5), note])));
    expect(text).toContain(`NOTIFICATION: Lending Pool\n${note.itemId}\n`);
    expect(text).toContain('Paused withdrawals\nby the guardian');
  });

  test('is plain, line by line the same', () => {
    const plain = only(compose(several(8), 'plain'));
    expect(plain.body.parse_mode).toBeUndefined();
    expect(plain.body.text).toBe(read(only(compose(several(8)))).text);
  });
});

describe('a digest that the text does not hold', () => {
  const worst = makeAlert(500, {
    item: {
      txHash: hashOf(500),
      detections: { a: { status: 'detected' }, b: { status: 'detected' }, c: { status: 'detected' } },
    },
  });
  const storm = [...several(119), worst];

  test('is the caption of a file: the counts, the worst, and where the rest is', () => {
    const message = only(compose(storm));
    const { text } = read(message);
    expect(text).toMatch(/^120 critical alerts in Lending Pool\n2026-11-20 10:07:12 UTC\n\nDetectors: /);
    expect(text).toContain(`\n\nCRITICAL: Lending Pool: a, b, c\n${hashOf(500)}\n\nCRITICAL: `);
    expect(text).toMatch(/\n\nThe file lists all of them, the worst first\. .+\.$/);
    expect(text.length).toBeGreaterThan(CAPTION_MAX - 250);
    for (const { txHash = '' } of storm) expect(message.body.file?.text).toContain(txHash);
    expect(message.alerts).toHaveLength(120);
  });

  test('has the same caption in plain text', () => {
    const plain = only(compose(storm, 'plain'));
    expect(plain.body.text).toBe(read(only(compose(storm))).text);
    expect(plain.body.file).toEqual(only(compose(storm)).body.file);
  });

  test('without a file is several messages, each with its own alerts and their hashes', () => {
    const messages = compose(storm, 'minimal');
    expect(messages.length).toBeGreaterThan(1);
    expect(messages.flatMap(({ alerts }) => alerts)).toEqual(storm);
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
    for (const message of messages) {
      const { text } = read(message);
      expect(message.body.file).toBeUndefined();
      expect(text.match(/0x[0-9a-f]{64}/g)?.toSorted()).toEqual(message.alerts.map(({ txHash }) => txHash).toSorted());
      expect(text).toMatch(new RegExp(`^${message.alerts.length} critical alerts in Lending Pool`));
    }
  });

  test('keeps its message as long as its alerts are the same', () => {
    expect(only(compose(storm.toReversed())).id).toBe(only(compose(storm)).id);
    expect(only(compose(storm, 'plain')).id).toBe(only(compose(storm)).id);
  });

  test('of five thousand alerts is sent all the same', () => {
    const flood = several(5000);
    const shown = everything(compose(flood));
    for (const { txHash = '' } of flood) expect(shown.includes(txHash)).toBe(true);
  });
});

describe('an incident', () => {
  const found = ['Lending Pool', 'Stable Vault', 'Bridge'].map((protocol, n) =>
    inspectionAlert({ id: `id${n}`, protocol, item: { _id: `inspection-${n}`, protocol } }),
  );

  test('is one message that names every protocol and inspection, and the transaction once', () => {
    const message = only(compose(found));
    const { text } = read(message);
    expect(text).toMatch(/^CRITICAL: Lending Pool \+ 2 more: flashLoan, drasticBalanceChange\n/);
    for (const fact of ['- Stable Vault', '- Bridge', '- inspection-0', '- inspection-2']) expect(text).toContain(fact);
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
          expect(parsed.text).toBe(compose(alerts, 'plain')[index]?.body.text);
          // The first of the worst is in the message itself.
          expect(parsed.text).toMatch(/0x[0-9a-f]{64}/);
        }
      }),
      { interruptAfterTimeLimit: 20_000 },
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
