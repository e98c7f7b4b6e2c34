/** Incidents and digests by mail: what is composed, and what arrives. */

import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import { WELL_KNOWN_CHAINS } from '../../../src/channels/chains.ts';
import type { ComposeContext, Format, Message } from '../../../src/channels/channel.ts';
import type { MailBody } from '../../../src/channels/email/body.ts';
import { emailConfig } from '../../../src/channels/email/config.ts';
import { INLINE_MAX } from '../../../src/channels/email/digest-shown.ts';
import { composeEmail, SUBJECT_LIMIT } from '../../../src/channels/email/message.ts';
import { createEmailChannel } from '../../../src/channels/email/transport.ts';
import { atOnce } from '../../../src/slices.ts';
import { destinationOf, inspectionAlert, notificationAlert } from '../../support/alerts.ts';
import { HOSTILE_TEXTS } from '../../support/hostile.ts';
import { readHtml, readMail } from '../../support/mail-reader.ts';
import { anyAlerts, hashOf, oneIncident, storm } from '../../support/parcels.ts';
import { startSmtpRelay } from '../../support/smtp-relay.ts';
import { anyText } from '../../support/texts.ts';

const MAILBOX = destinationOf('email', 'oncall@example.com');
const CONTEXT: ComposeContext = { format: 'rich', chains: WELL_KNOWN_CHAINS, sentAt: '2026-11-20T10:20:00.000Z' };

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

describe('an incident by mail', () => {
  test('is one mail that names all protocols, assets, findings and ids', () => {
    const body = bodyOf(oneIncident());
    expect(body.subject).toBe('CRITICAL: Lending Pool + 2 more: flashLoan, mixer');
    expect(body.attachments).toBeUndefined();
    for (const text of [body.text, shownOf(body).text]) {
      for (const told of [
        'Lending Pool',
        'Stable Vault',
        'Treasury',
        'mixer (Stable Vault)',
        'Treasury proxy (0xb2)',
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

  test('reads like this, as text', () => {
    const { text } = bodyOf(storm(6));
    expect(text.split('\n\n').slice(0, 6).join('\n\n')).toBe(`6 critical alerts in 3 protocols
2026-11-20 10:07:12 to 10:07:17 UTC

One message for all of them: they came together, or faster than this channel takes single messages.

Protocols
     2  Vault A
     2  Vault B
     2  Vault C

Detectors
     6  drasticBalanceChange
     6  flashLoan

Contracts
${Array.from({ length: 6 }, (_, n) => `     1  Asset ${n} (0x${'c'.repeat(39)}${n})`).join('\n')}

The worst first`);
    expect(text).toContain(`
1. CRITICAL: Vault A: flashLoan, drasticBalanceChange
${hashOf(0)}
Base (8453), 2026-11-20 10:07:12 UTC
flashLoan: Borrowed 12,400 ETH and repaid in the same transaction
drasticBalanceChange: Balance fell by 61.5 %
`);
  });

  test('has the worst in it, and everything in a file beside it', () => {
    const body = bodyOf(mixed);
    const [file, ...more] = body.attachments ?? [];
    expect(more).toEqual([]);
    expect(named(file?.content ?? '')).toEqual(hashes(mixed));
    const { text, active } = shownOf(body);
    expect(text).toContain('120 alerts in 4 protocols: 118 critical, 2 notifications');
    expect(text).toContain(`70 more: the attached ${file?.filename} lists all 120`);
    expect(named(text).size).toBe(INLINE_MAX);
    expect(active).toEqual([...named(text)].map((hash) => `https://basescan.org/tx/${hash}`));
    expect(named(body.text)).toEqual(named(text));
  });

  test('of no more than fit names every hash in the mail itself', () => {
    const body = bodyOf(storm(INLINE_MAX));
    expect(named(body.text)).toEqual(hashes(storm(INLINE_MAX)));
    expect(named(shownOf(body).text)).toEqual(hashes(storm(INLINE_MAX)));
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

  test('has a thread of its own, unless it is about one protocol', () => {
    const one = storm(30).filter(({ protocol }) => protocol === 'Vault A');
    const threadOf = (alerts: Alert[]) => bodyOf(alerts).threadId;
    expect(threadOf(one)).toBe(threadOf(one.slice(0, 1)));
    expect(threadOf(storm(30))).not.toBe(threadOf(one));
    expect(threadOf(storm(30))).toBe(threadOf(mixed));
    expect(bodyOf(one).list).toEqual({ label: 'vault-a', name: 'Vault A' });
  });

  test('says first why it comes this way', () => {
    const body = bodyOf(storm(6).map((alert) => ({ ...alert, notice: 'Slack did not take it in time.' })));
    expect(body.text).toMatch(/UTC\n\nSlack did not take it in time\.\n\nOne message/);
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
          const everywhere = named(`${text}\n${body.attachments?.[0]?.content ?? ''}`);
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

  test('what follows refers to the mail before it, and the receipt says by which handle', async () => {
    const { send, last } = await openEmail();
    const [first] = compose([inspectionAlert()]);
    const { handle } = await send(first as Message);
    const earlier = (await last()).headers;
    expect([handle]).toEqual(earlier.get('message-id'));
    const followUp = { of: 'first', was: 'critical', is: 'ok' };
    const [second] = compose([inspectionAlert({ id: 'second', followUp })]);
    await send({ ...(second as Message), replyTo: handle ?? '' });
    const { headers } = await last();
    expect(headers.get('in-reply-to')).toEqual([handle]);
    expect(headers.get('references')).toEqual([`${earlier.get('references')} ${handle}`]);
    expect(headers.get('subject')).toEqual(['FOLLOW-UP: Lending Pool: now OK (was CRITICAL)']);
  });

  test.each(['<a@b>\r\nBcc: evil@b.example', 'nothing', '<a@b> <c@d>', ''])(
    'a handle like %j is left out',
    async (handle) => {
      const { relay, send, last } = await openEmail();
      const [message] = compose([inspectionAlert()]);
      await send({ ...(message as Message), replyTo: handle });
      const { headers } = await last();
      expect(headers.get('references')).toEqual(headers.get('in-reply-to'));
      expect(headers.get('references')?.[0]).toMatch(/^<thread_[0-9a-f]{32}@example\.com>$/);
      expect(relay.accepted[0]?.to).toEqual(['oncall@example.com']);
    },
  );
});
