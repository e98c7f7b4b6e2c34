/** Incidents and digests by mail: what is composed, and what arrives. */

import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import type { ComposeContext, Format, Message } from '../../../src/channels/channel.ts';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import type { MailBody } from '../../../src/channels/email/body.ts';
import { emailConfig } from '../../../src/channels/email/config.ts';
import { INLINE_MAX } from '../../../src/channels/email/digest.ts';
import { composeEmail, SUBJECT_LIMIT } from '../../../src/channels/email/message.ts';
import { createEmailChannel } from '../../../src/channels/email/transport.ts';
import { atOnce } from '../../../src/chunks.ts';
import { destinationOf, notificationAlert } from '../../support/alerts.ts';
import { HOSTILE_TEXTS } from '../../support/hostile.ts';
import { readHtml, readMail } from '../../support/mail-reader.ts';
import { anyAlerts, hashOf, oneIncident, storm } from '../../support/parcels.ts';
import { startSmtpRelay } from '../../support/smtp-relay.ts';
import { anyText } from '../../support/texts.ts';

const MAILBOX = destinationOf('email', 'oncall@example.com');
const CONTEXT: ComposeContext = {
  format: 'rich',
  presentation: createPresentation(),
  sentAt: '2026-11-20T10:20:00.000Z',
};

const compose = (alerts: Alert[], format: Format = 'rich'): Message<MailBody>[] =>
  atOnce(composeEmail({ destination: MAILBOX, alerts }, { ...CONTEXT, format }));

const bodyOf = (alerts: Alert[], format: Format = 'rich'): MailBody => {
  const [message, ...more] = compose(alerts, format);
  if (message === undefined || more.length > 0) throw new Error(`${more.length + 1} mails`);
  return message.body;
};

const shownOf = ({ html = '' }: MailBody) => readHtml(html);
const named = (text: string): Set<string> => new Set(text.match(/0x[0-9a-f]{64}/g));
const hashes = (alerts: readonly Alert[]): Set<string> => new Set(alerts.flatMap(({ txHash }) => txHash ?? []));

test('a subject says once how bad it is', () => {
  const mixed = [...storm(8), ...['a', 'b'].map((text) => notificationAlert(text))];
  expect(bodyOf(storm(8)).subject).toMatch(/^\[CRITICAL\] 8 alerts, worst: “Vault /);
  expect(bodyOf(mixed).subject).toMatch(/^\[CRITICAL\] 10 alerts, worst: “Vault /);
});

describe('an incident by mail', () => {
  test('is one mail that names all protocols, assets, findings and ids', () => {
    const body = bodyOf(oneIncident());
    expect(body.subject).toMatch(
      /^\[CRITICAL\] 3 protocols · one transaction: “Lending Pool: Borrowed 12,400 ETH; .*” \(0x5555…5ea3\)$/,
    );
    expect(body.attachments).toBeUndefined();
    for (const text of [body.text, shownOf(body).text]) {
      for (const told of [
        'Lending Pool',
        'Stable Vault',
        'Treasury',
        'Mixer (Stable Vault)',
        'Treasury proxy',
        '0xb2',
      ]) {
        expect(text).toContain(told);
      }
      for (const id of ['incident0', 'incident1', 'incident2']) expect(text).toContain(id);
      expect(text).toContain(`tocsin trace ${hashOf(999)}`);
    }
    expect(body.list.name).toBe('Several protocols');
  });

  test('puts nothing into a command but what has the form of a hash', () => {
    const odd = oneIncident().map((alert) => ({ ...alert, txHash: '$(reboot)' }));
    expect(bodyOf(odd).text).toMatch(/tocsin trace [0-9a-f]{32}\n$/);
  });
});

describe('a digest by mail', () => {
  const mixed = [...storm(118), notificationAlert('Paused\nby the guardian'), notificationAlert('Open again')];

  const itemText = (n: number): string => `🔴 CRITICAL · Vault ${'ABC'[n]} · Asset ${n}
> Flash loan: Borrowed 12,400 ETH and repaid in the same transaction
> Drastic balance change: Balance fell by 61.5 %
${hashOf(n)}
62 % · Base · 2026-11-20 10:07:1${2 + n} UTC`;

  test('reads like this, as text', () => {
    const { text } = bodyOf(storm(6));
    const [head = ''] = text.split('\nContracts\n');
    expect(head).toBe(`🔴 6 critical alerts in 3 protocols

The worst first

${[0, 1, 2].map(itemText).join('\n\n')}

Protocols
     2  Vault A
     2  Vault B
     2  Vault C

Detectors
     6  Drastic balance change
     6  Flash loan
`);
    expect(text).toContain(
      '\n\n2026-11-20 10:07:12 to 10:07:17 UTC\nToo many at once for single messages. The worst comes first: start there.\n\nThe others\n',
    );
    expect(text).toContain('\nThe others\n\n🔴 CRITICAL · Vault A · Asset 3\n> Borrowed 12,400 ETH');
  });

  test('has the worst in it, and everything in a file beside it', () => {
    const body = bodyOf(mixed);
    const [file, ...more] = body.attachments ?? [];
    expect(more).toEqual([]);
    expect(named(file?.content ?? '')).toEqual(hashes(mixed));
    const { text, active } = shownOf(body);
    expect(text).toContain('120 alerts in 4 protocols: 118 critical, 2 notifications');
    expect(text).toContain(`100 more: the attached ${file?.filename} lists all 120`);
    const transactions = active.filter((url) => url.startsWith('https://basescan.org/tx/'));
    expect(named(transactions.join(' '))).toEqual(hashes(mixed));
    expect(named(body.text).size).toBe(INLINE_MAX);
    expect(body.text.replaceAll('\n', ' ')).toContain('CRITICAL, 98 more by time: 0x5555…');
    const addresses = active.filter((url) => !transactions.includes(url));
    expect(addresses.slice(-1)).toEqual([expect.stringContaining('/address/0x7e7e')]);
    expect(addresses.slice(0, -1)).toEqual(['', '', ''].map(() => expect.stringMatching(/\/address\/0xc/i)));
  });

  test('of no more than fit names every hash in the mail itself', () => {
    const body = bodyOf(storm(INLINE_MAX));
    expect(named(body.text)).toEqual(hashes(storm(INLINE_MAX)));
    expect(named(shownOf(body).active.join(' '))).toEqual(hashes(storm(INLINE_MAX)));
    expect(body.html?.length).toBeLessThan(100_000);
  });

  test('in plain format is the same text and file; at its plainest every hash without a file', () => {
    const rich = bodyOf(mixed);
    const plain = bodyOf(mixed, 'plain');
    expect(plain).not.toHaveProperty('html');
    expect(plain).toMatchObject({ text: rich.text, attachments: rich.attachments });
    const minimal = bodyOf(mixed, 'minimal');
    expect(minimal).not.toHaveProperty('html');
    expect(minimal).not.toHaveProperty('attachments');
    expect(named(minimal.text)).toEqual(hashes(mixed));
    expect(minimal.text).toContain('tocsin replay --since ');
  });

  test('has a thread of its own, is in the list of its protocol, and is as important as the worst in it', () => {
    const one = storm(30).filter(({ protocol }) => protocol === 'Vault A');
    const threadOf = (alerts: Alert[]) => bodyOf(alerts).threadId;
    expect(new Set([one, one.slice(0, 1), storm(30), mixed].map(threadOf)).size).toBe(4);
    expect(bodyOf(one).list).toEqual({ label: 'vault-a', name: 'Vault A' });
    expect(bodyOf(storm(30)).list).toEqual({ label: 'several-protocols', name: 'Several protocols' });
    expect(bodyOf(mixed).isUrgent).toBe(true);
    expect(bodyOf(storm(30).map((alert) => ({ ...alert, replay: true }))).isUrgent).toBe(false);
  });

  test('says why it comes this way below the worst', () => {
    const body = bodyOf(storm(6).map((alert) => ({ ...alert, notice: 'Slack did not take it in time.' })));
    expect(body.text).toMatch(/UTC\n\nSlack did not take it in time\.\n\nProtocols\n/);
    expect(shownOf(body).text).toContain('Slack did not take it in time.');
  });

  test('loads nothing, and stays well formed whatever it is made of', () => {
    fc.assert(
      fc.property(anyAlerts(30), anyText(), (alerts, hostile) => {
        const item = { assets: [{ address: hostile, descriptor: hostile }], invokedMethodName: hostile };
        const detections = { [hostile]: { status: 'detected', message: hostile } };
        const all = alerts.map((alert) => ({
          ...alert,
          protocol: hostile,
          item: { ...alert.item, ...item, detections },
        }));
        for (const { body, alerts: told } of compose(all)) {
          expect(body.subject.length).toBeLessThanOrEqual(SUBJECT_LIMIT);
          expect(body.subject).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
          const { active, text } = shownOf(body);
          expect(active.filter((target) => !/^https:\/\/(basescan|etherscan)\./.test(target))).toEqual([]);
          const everywhere = named(`${text}\n${active.join(' ')}\n${body.attachments?.[0]?.content ?? ''}`);
          for (const { txHash } of told) if (txHash) expect(everywhere).toContain(txHash);
        }
      }),
      { interruptAfterTimeLimit: 20_000 },
    );
  });
});

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const openEmail = async () => {
  const relay = await startSmtpRelay();
  const smtp = { host: '127.0.0.1', port: relay.port, requireTLS: false };
  const config = emailConfig.parse({ from: 'Tocsin <tocsin@example.com>', smtp });
  const channel = createEmailChannel(config, {
    post: () => Promise.reject(new Error('not by this way')),
    now: Date.now,
  });
  closers.push(relay.close, channel.close);
  const send = (message: Message) => channel.send(message, new AbortController().signal);
  const last = () => readMail(relay.accepted.at(-1)?.raw ?? '');
  return { relay, send, last };
};

describe('on the wire', () => {
  test('the file arrives byte by byte, as plain text that is no part of the body', async () => {
    const { send, last } = await openEmail();
    const odd = HOSTILE_TEXTS.map((text, n) => ({ ...(storm(n + 1)[n] as Alert), protocol: text }));
    const [message] = compose([...odd, ...storm(90).slice(odd.length)]);
    await send(message as Message);
    const { mail, plain, html, files } = await last();
    expect(mail.attachments).toHaveLength(1);
    const [file] = mail.attachments;
    expect(file).toMatchObject({
      filename: message?.body.attachments?.[0]?.filename,
      mimeType: 'text/plain',
      disposition: 'attachment',
    });
    expect(files).toEqual([message?.body.attachments?.[0]?.content]);
    expect(plain.trim()).toBe(message?.body.text.trim());
    expect(html?.text).toContain('90 critical alerts');
  });

  test('a storm of thousands is one mail that the relay takes', async () => {
    const { relay, send, last } = await openEmail();
    const [message, ...more] = compose(storm(5000));
    expect(more).toEqual([]);
    await send(message as Message);
    const { files } = await last();
    expect(named(files[0] ?? '').size).toBe(5000);
    expect(relay.accepted[0]?.raw.length).toBeLessThan(4_000_000);
  });
});
