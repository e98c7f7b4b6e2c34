import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import { WELL_KNOWN_CHAINS } from '../../../src/channels/chains.ts';
import type { ComposeContext } from '../../../src/channels/channel.ts';
import type { MailBody } from '../../../src/channels/email/body.ts';
import { composeEmail } from '../../../src/channels/email/message.ts';
import { atOnce } from '../../../src/slices.ts';
import { cleanLine, cleanText } from '../../../src/text.ts';
import { destinationOf, inspectionAlert, notificationAlert, TX_HASH, TX_ORIGIN } from '../../support/alerts.ts';
import { readHtml } from '../../support/mail-reader.ts';
import { anyText } from '../../support/texts.ts';

const MAILBOX = destinationOf('email', 'oncall@example.com');
const OTHER_MAILBOX = destinationOf('email', 'lead@example.com');
const EXPLORER = 'https://basescan.org/';

const bodyOf = (alert: Alert, changes: Partial<ComposeContext> = {}, destination = MAILBOX): MailBody => {
  const context: ComposeContext = { format: 'rich', chains: WELL_KNOWN_CHAINS, sentAt: '2026-11-20T10:07:55.000Z' };
  const [message] = atOnce(composeEmail({ destination, alerts: [alert] }, { ...context, ...changes }));
  if (message === undefined) throw new Error('nothing composed');
  return message.body;
};

const shown = (alert: Alert) => readHtml(bodyOf(alert).html ?? '');

describe('an alert by mail', () => {
  test('reads like this, as text', () => {
    expect(bodyOf(inspectionAlert())).toMatchObject({
      subject: 'CRITICAL: Lending Pool: flashLoan, drasticBalanceChange',
      date: '2026-11-20T10:07:55.000Z',
      text: `CRITICAL: Lending Pool: flashLoan, drasticBalanceChange

Transaction: ${TX_HASH}
${EXPLORER}tx/${TX_HASH}
Chain: Base (8453)

flashLoan: Borrowed 12,400 ETH and repaid in the same transaction

drasticBalanceChange: Balance fell by 61.5 %

Origin: ${TX_ORIGIN}
${EXPLORER}address/${TX_ORIGIN}
Method: liquidateCall
Not fired: mixer
Assets: Lending vault (0x${'ab'.repeat(20)})
Transaction time: 2026-11-20 10:07:12 UTC
Inspected: 2026-11-20 10:07:31 UTC (19 s after the transaction, 23 s before sending)
Sent: 2026-11-20 10:07:55 UTC (43 s after the transaction)
Inspection: 673d2f0a1b2c3d4e5f607182

Sent by Tocsin to oncall@example.com.
Where this alert went: tocsin trace ${inspectionAlert().id}
`,
    });
  });

  test('reads like this, as HTML', () => {
    const { text, active } = shown(inspectionAlert());
    expect(text.trim()).toMatch(
      /^CRITICAL\nLending Pool\nflashLoan, drasticBalanceChange\nTransaction\n0x5d1c9a\w+\nChain\nBase \(8453\)\nflashLoan\n/,
    );
    expect(active).toEqual([`${EXPLORER}tx/${TX_HASH}`, `${EXPLORER}address/${TX_ORIGIN}`]);
  });

  test('loads nothing, follows a dark system, and fits a phone', () => {
    const { html = '' } = bodyOf(inspectionAlert());
    expect(html).not.toMatch(/<img|<link|<script|<table|url\(|@import/i);
    expect(html).toContain('<meta name="color-scheme" content="light dark">');
    expect(html).toContain('@media (prefers-color-scheme:dark)');
    expect(html).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
    for (const [, width = ''] of html.matchAll(/(?<!max-)width:\s*(\d+)px/g)) expect(Number(width)).toBeLessThan(320);
  });

  test('in plain format is the same text alone; at its plainest a few lines', () => {
    const plain = bodyOf(inspectionAlert(), { format: 'plain' });
    expect(plain).not.toHaveProperty('html');
    expect(plain.text).toBe(bodyOf(inspectionAlert()).text);
    const minimal = bodyOf(inspectionAlert(), { format: 'minimal' });
    expect(minimal).not.toHaveProperty('html');
    expect(minimal.text.split('\n').filter((line) => line !== '')).toHaveLength(6);
  });

  test('names a replay and a test in the subject and in the text', () => {
    expect(bodyOf(inspectionAlert({ replay: true })).subject).toMatch(/^CRITICAL \(replay\): /);
    expect(shown(inspectionAlert({ replay: true })).text).toContain('Replay: this was found earlier');
    expect(bodyOf(inspectionAlert({ type: 'test.sample' })).subject).toMatch(/^TEST: /);
  });

  test('lists several assets one by one', () => {
    const assets = [
      { address: '0xa', descriptor: 'Vault' },
      { address: '0xb', descriptor: 'Pool' },
    ];
    const alert = inspectionAlert({ item: { assets } });
    expect(bodyOf(alert).text).toContain('Assets:\n- Vault (0xa)\n- Pool (0xb)\n');
    expect(shown(alert).text).toContain('Assets\nVault (0xa)\nPool (0xb)\n');
  });
});

describe('a thread', () => {
  const thread = (alert: Alert, destination = MAILBOX) => bodyOf(alert, {}, destination).threadId;

  test('is one for a protocol at a destination', () => {
    const first = thread(inspectionAlert());
    expect(thread(inspectionAlert({ item: { _id: 'another' } }))).toBe(first);
    expect(thread(notificationAlert('x'))).toBe(first);
    expect(thread(inspectionAlert({ protocol: 'Other' }))).not.toBe(first);
    expect(thread(inspectionAlert({ service: 'second' }))).not.toBe(first);
    expect(thread(inspectionAlert(), OTHER_MAILBOX)).not.toBe(first);
  });

  test.each([
    ['Lending Pool', 'lending-pool'],
    ['  --A.B/C--  ', 'a-b-c'],
    ['漢字', 'protocol'],
    ['', 'unknown'],
    [`${'x'.repeat(39)}-y`, 'x'.repeat(39)],
  ])('of %j is listed as %s', (protocol, label) => {
    expect(bodyOf(inspectionAlert({ protocol })).list.label).toBe(label);
  });
});

describe('what is too long', () => {
  test('a stored notification is shown whole, far beyond what a person writes', () => {
    const message = Array.from({ length: 3000 }, (_, n) => `line ${n} says something`).join('\n');
    expect(bodyOf(notificationAlert(message)).text).toContain(`\n\n${message}\n\n`);
    expect(shown(notificationAlert(message)).text).toContain(`\n${message}\n`);
  });

  test('is cut at last, and says so; what follows stays', () => {
    const { text } = bodyOf(notificationAlert('x'.repeat(300_000)));
    expect(text).toMatch(/x… \[200,000 characters left out\]\n\nStored: /);
    expect(text.length).toBeLessThan(102_000);
  });

  test('many detectors are named, if not all with their whole message', () => {
    const detections = Object.fromEntries(
      Array.from({ length: 130 }, (_, n) => [`detector${n}`, { status: 'detected', message: `said ${n}` }]),
    );
    const { text } = bodyOf(inspectionAlert({ item: { detections } }));
    expect(text).toContain('detector99: said 99');
    expect(text).toContain('30 more detectors: detector100, detector101');
    expect(text).toContain('detector129');
  });
});

/** Shrinking a heap of text may take longer than anybody waits. */
const BOUNDED = { interruptAfterTimeLimit: 20_000 };

describe('any text', () => {
  const alertOf = ([protocol = '', method = '', detector = '', message = '', address = '', id = '']: string[]): Alert =>
    inspectionAlert({
      protocol,
      item: {
        _id: id,
        invokedMethodName: method,
        txOrigin: address,
        assessment: detector,
        assets: [{ address, descriptor: method }],
        detections: { [detector]: { status: 'detected', message } },
      },
    });

  test('leaves the HTML well formed, links nothing of its own, and stays one line in the subject', () => {
    fc.assert(
      fc.property(fc.array(anyText(), { minLength: 6, maxLength: 6 }), (texts) => {
        for (const alert of [alertOf(texts), notificationAlert(texts.join(' '))]) {
          const { subject } = bodyOf(alert);
          expect(subject.length).toBeLessThanOrEqual(120);
          expect(subject).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
          const { text, active } = shown(alert);
          expect(text).not.toContain('undefined');
          expect(active.filter((target) => target !== `${EXPLORER}tx/${TX_HASH}`)).toEqual([]);
        }
      }),
      BOUNDED,
    );
  });

  test('comes back as it was, from the text part and from the HTML', () => {
    const short = anyText().filter((text) => text.length < 200 && cleanLine(text) !== '');
    fc.assert(
      fc.property(short, (value) => {
        const alert = alertOf([value, value, value, value, value, value]);
        const line = cleanLine(value);
        for (const text of [bodyOf(alert).text, shown(alert).text]) {
          expect(text.split(line).length, 'protocol, detector, method, origin, assets, id').toBeGreaterThan(6);
          expect(text).toContain(cleanText(value));
        }
      }),
      BOUNDED,
    );
  });
});

describe('the reader that these tests rely on', () => {
  const page = (body: string) => `<!doctype html>\n<html lang="en"><body class="x">${body}</body></html>`;

  test.each([
    '<img src="x">',
    '<script>1</script>',
    '<p onclick="x">a</p>',
    '<p>a',
    'a</p>',
    '<p class=x>a</p>',
    '<p class="a" class="b">a</p>',
    'a & b',
    '&nbsp;',
    '<a href="x"<b>',
    '1 < 2',
  ])('refuses %j', (body) => expect(() => readHtml(page(body))).toThrow(/./));

  test('shows blocks as lines, and what is live', () => {
    expect(readHtml(page('<h1>A</h1>\n<p>b<br>c <a href="https://x.example/?a=1&amp;b=2">&lt;d&gt;</a></p>'))).toEqual({
      text: 'A\nb\nc <d>\n',
      active: ['https://x.example/?a=1&b=2'],
    });
  });
});
