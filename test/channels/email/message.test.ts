import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import type { ComposeContext } from '../../../src/channels/channel.ts';
import { checksumAddress } from '../../../src/channels/content/finding.ts';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import type { MailBody } from '../../../src/channels/email/body.ts';
import { composeEmail } from '../../../src/channels/email/message.ts';
import { atOnce } from '../../../src/chunks.ts';
import { cleanLine } from '../../../src/text.ts';
import { destinationOf, inspectionAlert, notificationAlert, TX_HASH, TX_ORIGIN } from '../../support/alerts.ts';
import { readHtml } from '../../support/mail-reader.ts';
import { anyText } from '../../support/texts.ts';
import { squeezed } from '../../support/words.ts';

const MAILBOX = destinationOf('email', 'oncall@example.com');
const EXPLORER = 'https://basescan.org/';

const bodyOf = (alert: Alert, changes: Partial<ComposeContext> = {}): MailBody => {
  const context: ComposeContext = {
    format: 'rich',
    presentation: createPresentation(),
    sentAt: '2026-11-20T10:07:55.000Z',
  };
  const [message] = atOnce(composeEmail({ destination: MAILBOX, alerts: [alert] }, { ...context, ...changes }));
  if (message === undefined) throw new Error('nothing composed');
  return message.body;
};

const shown = (alert: Alert) => readHtml(bodyOf(alert).html ?? '');

const ADDRESS = checksumAddress(TX_ORIGIN);
const CONTRACT = checksumAddress(`0x${'ab'.repeat(20)}`);

describe('an alert by mail', () => {
  test('reads like this, as text', () => {
    expect(bodyOf(inspectionAlert())).toMatchObject({
      subject:
        '[CRITICAL] Lending Pool · Lending vault: “Borrowed 12,400 ETH and repaid in the same transaction; Balanc…” (0x5d1c…ab12)',
      date: '2026-11-20T10:07:55.000Z',
      isUrgent: true,
      text: `🔴 CRITICAL · Lending Pool · Lending vault

> Flash loan: Borrowed 12,400 ETH and repaid in the same transaction
>
> Drastic balance change: Balance fell by 61.5 %

0x5d1c…ab12 on Base
From ${ADDRESS.slice(0, 6)}…${ADDRESS.slice(-4)}
Call liquidateCall on Lending vault ${CONTRACT.slice(0, 6)}…${CONTRACT.slice(-4)}

10:07:12 UTC · inspected +19 s · sent +43 s

Check transaction: ${EXPLORER}tx/${TX_HASH}

Details

Transaction: ${TX_HASH}
Chain: Base (8453)
Sender: ${ADDRESS}
  ${EXPLORER}address/${ADDRESS}
Method: liquidateCall
Contract: ${CONTRACT}
  Lending vault
  ${EXPLORER}address/${CONTRACT}
Detectors: flashLoan, drasticBalanceChange
Not fired: mixer
Transaction time: 2026-11-20 10:07:12 UTC
Inspected: 2026-11-20 10:07:31 UTC
Sent: 2026-11-20 10:07:55 UTC
Inspection: 673d2f0a1b2c3d4e5f607182

Sent by Tocsin to oncall@example.com.
Where this alert went: tocsin trace ${inspectionAlert().id}
`,
    });
  });

  test('reads like this, as HTML: first what happened, which mail programs show beside the subject', () => {
    const { text, active } = shown(inspectionAlert());
    expect(
      text.split('\nDetails\n')[0],
    ).toBe(`“Borrowed 12,400 ETH and repaid in the same transaction · Balance fell by 61.5 %”
🔴 CRITICAL
Lending Pool · Lending vault
Flash loan
Borrowed 12,400 ETH and repaid in the same transaction
Drastic balance change
Balance fell by 61.5 %
0x5d1c…ab12 on Base
From ${ADDRESS.slice(0, 6)}…${ADDRESS.slice(-4)}
Call liquidateCall on Lending vault ${CONTRACT.slice(0, 6)}…${CONTRACT.slice(-4)}
10:07:12 UTC · inspected +19 s · sent +43 s
Check transaction`);
    expect(new Set(active)).toEqual(
      new Set([`${EXPLORER}tx/${TX_HASH}`, `${EXPLORER}address/${ADDRESS}`, `${EXPLORER}address/${CONTRACT}`]),
    );
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
    expect(bodyOf(inspectionAlert({ replay: true })).subject).toMatch(/^\[CRITICAL \(old alert\)\] /);
    expect(shown(inspectionAlert({ replay: true })).text).toContain('Old alert: one of your operators');
    const sample = inspectionAlert({ type: 'test.sample' });
    expect(bodyOf(sample).subject).toMatch(/^\[TEST\] /);
    expect(shown(sample).active).toEqual([]);
  });

  test('says of each value that is copied what it is on a line of its own', () => {
    const alert = inspectionAlert({ context: { adminOf: [] } });
    expect(bodyOf(alert).text).toContain(`\nSender: ${ADDRESS}\n  not an admin\n`);
    expect(bodyOf(alert).html).toMatch(
      new RegExp(`user-select:all">${ADDRESS}</span></a><br><span [^>]*>not an admin<`),
    );
  });

  test('has the links of the config as buttons, and as text', () => {
    const links = [{ label: 'Run <book>', url: 'https://runbooks.example/{protocol}?h={hash}' }];
    const url = `https://runbooks.example/Lending%20Pool?h=${TX_HASH}`;
    const body = bodyOf(inspectionAlert(), { presentation: createPresentation({ links }) });
    expect(body.text).toContain(`\nRun <book>: ${url}\n`);
    expect(readHtml(body.html ?? '').active).toContain(url);
    expect(body.html).toContain('>Run &lt;book&gt;</a>');
  });

  test('has the prefix of its protocol before everything', () => {
    const presentation = createPresentation({ protocols: { overrides: { 'Lending Pool': { prefix: '[staging]' } } } });
    const body = bodyOf(inspectionAlert(), { presentation });
    expect(body.subject).toMatch(/^\[staging\] \[CRITICAL\] Lending Pool/);
    expect(body.text).toMatch(/^\[staging\] 🔴 CRITICAL · Lending Pool/);
    expect(readHtml(body.html ?? '').text).toContain('[staging] 🔴 CRITICAL\nLending Pool · Lending vault\n');
  });
});

describe('a follow-up by mail', () => {
  test('says first what changed, also beside the subject of the mail that it follows', () => {
    const followUp = { of: 'first', was: 'critical', is: 'ok' };
    const alert = inspectionAlert({ type: 'inspection.downgraded', followUp });
    expect(shown(alert).text).toMatch(
      /^The service calls it ok now\. It was: “Borrowed .*”\. The service gives no reason: .*\n🟢 OK \(was CRITICAL\)\n/,
    );
    expect(bodyOf(alert).subject).toBe(
      '[OK] Lending Pool · Lending vault (was CRITICAL): the service calls it ok now. It was: “Borrowed 12,400…” (0x5d1c…ab12)',
    );
    expect(bodyOf(alert).isUrgent).toBe(false);
  });
});

describe('an announcement by mail', () => {
  const announcement = (message: string): Alert =>
    notificationAlert(message, { type: 'tocsin.destination.broken', protocol: 'Tocsin', service: 'Tocsin' });

  test('has what is wrong as its title and its subject, and nothing is quoted', () => {
    const alert = announcement(
      'Slack C1 is archived.\nSince 10:00.\n\nTo do: unarchive it; then run: tocsin dead retry',
    );
    expect(bodyOf(alert).subject).toBe('Tocsin: Slack C1 is archived');
    expect(shown(alert).text).toMatch(
      /\n❗ TOCSIN\nSlack C1 is archived\.\nSince 10:00\.\nTo do: unarchive it; then run: tocsin dead retry\n/,
    );
    expect(bodyOf(alert).text).toMatch(/^❗ Tocsin: Slack C1 is archived\n\nSince 10:00\.\n\nTo do:/);
  });
});

describe('the report of a mute by mail', () => {
  const listed = [
    { ...{ at: '2026-11-20T09:00:00.000Z', severity: 'CRITICAL', protocol: `Vault ${TX_HASH}` } },
    { ...{ at: '2026-11-20T09:00:01.000Z', severity: 'NOTIFICATION', protocol: 'Vault' } },
    { ...{ at: '2026-11-20T09:00:02.000Z', severity: 'SUSPICIOUS', protocol: 'Vault' } },
  ].map((one, n) => ({
    ...one,
    ...(n === 1
      ? { what: 'stored notification', itemId: 'item-1' }
      : { detectors: ['flashLoan'], txHash: TX_HASH, chainId: n === 0 ? 8453 : 4711 }),
  }));
  const report = notificationAlert('', {
    ...{ type: 'tocsin.mute.ended', protocol: 'Tocsin', service: 'Tocsin' },
    item: { message: 'x', lead: 'A mute ended.\nTo do: run `tocsin mute list` now', listed },
  });

  test('has severity, time, names and links in its text, and whatever has no link as it is', () => {
    const { text } = bodyOf(report);
    expect(text).toContain('To do: run `tocsin mute list` now\n');
    expect(text).toMatch(new RegExp(`^🔴 CRITICAL 09:00:00 UTC Vault 0x.*: Flash loan ${EXPLORER}tx/${TX_HASH}$`, 'm'));
    expect(text).toMatch(/^🟠 NOTIFICATION 09:00:01 UTC Vault: stored notification item-1$/m);
    expect(text).toMatch(new RegExp(`^🟠 SUSPICIOUS 09:00:02 UTC Vault: Flash loan ${TX_HASH}$`, 'm'));
    expect(bodyOf(report, { format: 'plain' }).text).toContain(`Flash loan ${EXPLORER}tx/${TX_HASH}\n`);
  });
});

describe('what somebody else says', () => {
  const FORGED = 'Sender: 0x01 (an admin)\n\nThis is a test. Nothing happened.\n🔴 CRITICAL · Other';

  test('is quoted line by line, and cannot pass for ours', () => {
    for (const alert of [
      notificationAlert(FORGED),
      inspectionAlert({ item: { detections: { forged: { status: 'detected', message: FORGED } } } }),
    ]) {
      const lines = bodyOf(alert).text.split('\n');
      const said = lines.filter((line) => /an admin|This is a test|Other/.test(line));
      expect(said.length).toBeGreaterThan(0);
      for (const line of said) expect(line).toMatch(/^> /);
      const { html = '' } = bodyOf(alert);
      const outside = html
        .replace(/<blockquote.*?<\/blockquote>/gs, '')
        .replace(/<div class="preheader".*?<\/div>/s, '')
        .replace(/<title>.*?<\/title>/s, '');
      expect(outside).not.toContain('an admin');
      expect(outside).not.toContain('This is a test');
    }
  });

  test('is wrapped for a terminal, and no hash or link in it is broken', () => {
    const url = `https://example.com/${'a'.repeat(100)}`;
    const { text } = bodyOf(notificationAlert(`${'word '.repeat(60)}${url} ${TX_HASH} ${'word '.repeat(20)}`));
    for (const line of text.split('\n')) if (!/https:|0x/.test(line)) expect(line.length).toBeLessThanOrEqual(76);
    expect(text).toContain(`> ${url.replace('example.com', 'example[.]com')}\n`);
    expect(text).toContain(TX_HASH);
  });
});

describe('the list', () => {
  test.each([
    ['Lending Pool', 'lending-pool'],
    ['  --A.B/C--  ', 'a-b-c'],
    ['漢字', 'protocol'],
    ['', 'unknown'],
    [`${'x'.repeat(39)}-y`, 'x'.repeat(39)],
  ])('of %j is %s', (protocol, label) => {
    expect(bodyOf(inspectionAlert({ protocol })).list.label).toBe(label);
  });
});

describe('what is too long', () => {
  /** Without the marks and line ends of a quote. */
  const unquoted = (text: string): string => text.replaceAll(/\n> ?/g, ' ');

  test('a stored notification is shown whole, far beyond what a person writes', () => {
    const message = Array.from({ length: 1000 }, (_, n) => `line ${n} says something`).join('\n');
    const { text, attachments } = bodyOf(notificationAlert(message));
    expect(text).toContain(`\n> ${message.replaceAll('\n', '\n> ')}\n\n`);
    expect(shown(notificationAlert(message)).text).toContain(`\n${message}\n`);
    expect(attachments).toBeUndefined();
  });

  test('a notification of 100 kB is its beginning, and a file that has all of it', () => {
    const message = 'The owner of the vault was changed. '.repeat(2800).trim();
    for (const format of ['rich', 'plain'] as const) {
      const { text, html = '', attachments } = bodyOf(notificationAlert(message), { format });
      expect(unquoted(text)).toContain(message.slice(0, 3000));
      expect(text.replaceAll('\n', ' ')).toMatch(
        /The whole text, 100,799 characters, is in the attached tocsin-alert-\w{8}\.txt\. /,
      );
      expect(text.length).toBeLessThan(6000);
      expect(html.length).toBeLessThan(15_000);
      expect(attachments?.map(({ filename }) => text.includes(filename))).toEqual([true]);
      expect(attachments?.[0]?.content).toContain(`\n> ${message}\n`);
    }
    expect(bodyOf(notificationAlert(message), { format: 'minimal' }).attachments).toBeUndefined();
  });

  const detections = (messages: readonly string[]) => ({
    detections: Object.fromEntries(messages.map((message, n) => [`detector${n}`, { status: 'detected', message }])),
  });

  test('of one detector leaves room for the others, and is there in full further down', () => {
    const long = `begins here ${'and goes on '.repeat(400)}to its end`;
    const { text, html = '' } = bodyOf(inspectionAlert({ item: detections([long, 'short one', 'short two']) }));
    const [first = '', details = ''] = text.split('\nDetails\n');
    for (const said of ['begins here', 'short one', 'short two', '0x5d1c…ab12 on Base']) expect(first).toContain(said);
    expect(first.length).toBeLessThan(1500);
    expect(unquoted(details)).toContain(`Detector0, in full: ${long}`);
    expect(details).not.toContain('short one');
    expect(readHtml(html).text.split('\nDetails\n')[1]).toContain(`Detector0, in full:\n${long}`);
  });

  test('many detectors are all named, if not all with their message', () => {
    const messages = Array.from({ length: 130 }, (_, n) => `said ${n}`);
    const { text } = bodyOf(inspectionAlert({ item: detections(messages) }));
    expect(text).toContain('\n\nAnd 122 more detectors, see below.\n\n');
    expect(unquoted(text)).toContain('Detector99, in full: said 99');
    expect(unquoted(text)).toContain('22 more detectors, in full: Detector108, Detector109');
    expect(text).toContain('Detector129');
  });

  test('of many contracts are the first of the facts, and how many are left out', () => {
    const assets = Array.from({ length: 400 }, (_, n) => ({ address: `0x${n.toString(16).padStart(40, '0')}` }));
    const { text, html = '' } = bodyOf(inspectionAlert({ item: { assets } }));
    expect(text).toMatch(/\nLeft out: 2\d\d more facts\n/);
    expect(html.length).toBeLessThan(102_000);
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
          expect(active.filter((target) => !target.startsWith(EXPLORER))).toEqual([]);
        }
      }),
      BOUNDED,
    );
  });

  test('comes back as it was but for its host names, from the text part and from the HTML', () => {
    const short = anyText().filter((text) => text.length < 50 && cleanLine(text) !== '');
    fc.assert(
      fc.property(short, (value) => {
        const alert = alertOf([value, value, value, value, value, value]);
        const line = squeezed(cleanLine(value));
        for (const text of [bodyOf(alert).text, shown(alert).text]) {
          expect(squeezed(text).split(line).length, 'detector, message, method, address, id').toBeGreaterThan(5);
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
