import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import { emailConfig } from '../../../src/channels/email/config.ts';
import { createEmailChannel } from '../../../src/channels/email/transport.ts';
import { atOnce } from '../../../src/chunks.ts';
import { deliveryId } from '../../../src/item.ts';
import { cleanLine, cleanText } from '../../../src/text.ts';
import { destinationOf, inspectionAlert, notificationAlert } from '../../support/alerts.ts';
import { readMail } from '../../support/mail-reader.ts';
import { startSmtpRelay } from '../../support/smtp-relay.ts';
import { anyText } from '../../support/texts.ts';
import { squeezed } from '../../support/words.ts';

const DEPENDENCIES = { post: () => Promise.reject(new Error('not by this way')), now: Date.now };

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const openEmail = async (from = 'Tocsin <tocsin@example.com>') => {
  const relay = await startSmtpRelay();
  const smtp = { host: '127.0.0.1', port: relay.port, requireTLS: false };
  const channel = createEmailChannel(emailConfig.parse({ from, smtp }), DEPENDENCIES);
  closers.push(relay.close, channel.close);
  const compose = (alert: Alert, address: string) => {
    const [message] = atOnce(
      channel.compose(
        { destination: destinationOf('email', address), alerts: [alert] },
        { format: 'rich', presentation: createPresentation(), sentAt: '2026-11-20T10:07:55.000Z' },
      ),
    );
    if (message === undefined) throw new Error('nothing composed');
    return message;
  };
  const send = (alert = inspectionAlert(), address = 'oncall@example.com') =>
    channel.send(compose(alert, address), new AbortController().signal);
  return { relay, channel, send };
};

/** Of a mail that nobody should be woken by. */
const HEADERS = [
  'auto-submitted',
  'content-type',
  'date',
  'from',
  'in-reply-to',
  'list-id',
  'message-id',
  'mime-version',
  'references',
  'subject',
  'to',
  'x-auto-response-suppress',
  'x-mailer',
];

describe('a mail on the wire', () => {
  test('has one recipient, and headers that keep machines quiet and threads together', async () => {
    const { relay, send } = await openEmail();
    await send();
    const [mail] = relay.accepted;
    expect(mail).toMatchObject({ from: 'tocsin@example.com', to: ['oncall@example.com'] });
    const { headers, subject } = await readMail(mail?.raw ?? '');
    const id = deliveryId(inspectionAlert().id, destinationOf('email', 'oncall@example.com').id);
    expect(Object.fromEntries(headers)).toMatchObject({
      from: ['Tocsin <tocsin@example.com>'],
      to: ['oncall@example.com'],
      date: ['Fri, 20 Nov 2026 10:07:55 +0000'],
      'message-id': [`<${id}@example.com>`],
      'auto-submitted': ['auto-generated'],
      'x-auto-response-suppress': ['All'],
      'list-id': ['"Lending Pool" <lending-pool.example.com>'],
      'in-reply-to': [expect.stringMatching(/^<thread_[0-9a-f]{32}@example\.com>$/)],
      importance: ['high'],
      'x-priority': ['1'],
      'x-mailer': ['Tocsin'],
    });
    expect(subject).toMatch(/^\[CRITICAL\] Lending Pool · Lending vault: “Borrowed 12,400 ETH .*…” \(0x5d1c…ab12\)$/);
    expect(headers.get('references')).toEqual(headers.get('in-reply-to'));
    expect([...headers.keys()].toSorted()).toEqual([...HEADERS, 'importance', 'x-priority'].toSorted());
  });

  test('has no line that a mailbox of the mbox format would change', async () => {
    const { relay, send } = await openEmail();
    await send();
    const [{ raw } = { raw: '' }] = relay.accepted;
    expect((await readMail(raw)).plain).toMatch(/^From\s0x7e7e…7e7E/m);
    expect(raw.split('\r\n\r\n').slice(1).join('\n')).not.toMatch(/^From /m);
  });

  test('is important only where somebody should be woken', async () => {
    const { relay, send } = await openEmail();
    const followUp = (was: string, is: string) =>
      inspectionAlert({ type: 'inspection.changed', followUp: { of: 'a', was, is } });
    const alerts = [
      inspectionAlert(),
      followUp('suspecious', 'critical'),
      followUp('critical', 'ok'),
      inspectionAlert({ replay: true }),
      notificationAlert('a note'),
      notificationAlert('Slack is broken.', { type: 'tocsin.destination.broken' }),
      inspectionAlert({ type: 'test.sample' }),
    ];
    for (const alert of alerts) await send(alert);
    const mails = await Promise.all(relay.accepted.map(({ raw }) => readMail(raw)));
    const important = mails.map(({ headers }) => headers.get('importance')?.join() === 'high');
    expect(important).toEqual([true, true, false, false, false, false, false]);
  });

  test('carries the same Message-ID when it is sent again, and the receipt names it and the queue of the relay', async () => {
    const { relay, send } = await openEmail();
    const receipts = [await send(), await send()];
    const ids = await Promise.all(
      relay.accepted.map(async ({ raw }) => (await readMail(raw)).headers.get('message-id')),
    );
    expect(ids[0]).toEqual(ids[1]);
    expect(receipts.map(({ providerId }) => providerId)).toEqual(ids.flat());
  });

  test('goes over kept connections', async () => {
    const { relay, send } = await openEmail();
    for (let n = 0; n < 5; n += 1) await send();
    expect(relay.accepted).toHaveLength(5);
    expect(relay.connections()).toBe(1);
  });

  test('goes over a new connection where the relay had closed the kept one, once', async () => {
    const { relay, send } = await openEmail();
    await send();
    relay.dropConnections();
    await send();
    expect(relay.arrived).toHaveLength(2);
    expect(relay.connections()).toBe(2);
  });

  test('is not built for what is no address', async () => {
    const { relay, send } = await openEmail();
    for (const address of ['ok@a.example\r\nBcc: evil@b.example', 'a@x.example, b@x.example', '']) {
      await expect(send(inspectionAlert(), address)).rejects.toMatchObject({
        reason: 'destination-dead',
        code: 'address',
      });
    }
    expect(relay.connections()).toBe(0);
  });

  test('verify logs in and sends nothing', async () => {
    const { relay, channel } = await openEmail();
    expect(await channel.verify(new AbortController().signal)).toBe(`127.0.0.1:${relay.port} lets us in`);
    expect(relay.arrived).toHaveLength(0);
  });

  test('a refusal that blames the sender is not its failure while the relay lets us in', async () => {
    const { relay, channel } = await openEmail();
    expect(await channel.isSenderFailure?.(new AbortController().signal)).toBe(false);
    await relay.close();
    expect(await channel.isSenderFailure?.(new AbortController().signal)).toBe(true);
  });
});

describe('any text', () => {
  test('adds no header, no recipient and no part, and arrives as it was', async () => {
    const { relay, send } = await openEmail('Tocsin ünd Söhne <tocsin@example.com>');
    await fc.assert(
      fc.asyncProperty(anyText(), anyText(), async (protocol, message) => {
        relay.accepted.length = 0;
        await send(notificationAlert(message, { protocol }));
        const [mail] = relay.accepted;
        expect(mail?.to).toEqual(['oncall@example.com']);
        const { headers, plain, html, mail: parsed } = await readMail(mail?.raw ?? '');
        expect([...headers.keys()].toSorted()).toEqual(HEADERS);
        for (const values of headers.values()) expect(values).toHaveLength(1);
        expect(parsed.attachments).toEqual([]);
        expect(squeezed(plain)).toContain(squeezed(cleanLine(message)));
        expect(squeezed(html?.text ?? '')).toContain(squeezed(cleanText(message)));
      }),
      { numRuns: 100, interruptAfterTimeLimit: 20_000 },
    );
    expect(relay.connections()).toBe(1);
  });
});
