import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import type { Message } from '../../../src/channels/channel.ts';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import { emailConfig } from '../../../src/channels/email/config.ts';
import { handleOf, readHandle, SUBJECT_LIMIT, threadIdOf } from '../../../src/channels/email/message.ts';
import { createEmailChannel } from '../../../src/channels/email/transport.ts';
import { atOnce } from '../../../src/chunks.ts';
import { announcementAlert } from '../../../src/features/announcements/announce.ts';
import { destinationOf, inspectionAlert, notificationAlert, TX_HASH } from '../../support/alerts.ts';
import { readMail } from '../../support/mail-reader.ts';
import { startSmtpRelay } from '../../support/smtp-relay.ts';
import { anyText } from '../../support/texts.ts';

const MAILBOX = destinationOf('email', 'oncall@example.com');

describe('one thread', () => {
  const threadOf = (...alerts: Alert[]) => threadIdOf(alerts, MAILBOX);

  test('has all mails about a transaction at a mailbox', () => {
    const first = threadOf(inspectionAlert());
    const other = inspectionAlert({ protocol: 'Other', item: { _id: 'another' } });
    expect(threadOf(other)).toBe(first);
    expect(threadOf(inspectionAlert(), other)).toBe(first);
    expect(threadOf(notificationAlert('names it', { txHash: TX_HASH }))).toBe(first);
    const followUp = { of: inspectionAlert().id, was: 'critical', is: 'ok' };
    expect(threadOf(inspectionAlert({ id: 'second', followUp }))).toBe(first);
    expect(threadOf(inspectionAlert({ txHash: `0x${'1'.repeat(64)}` }))).not.toBe(first);
    expect(threadIdOf([inspectionAlert()], destinationOf('email', 'lead@example.com'))).not.toBe(first);
  });

  test('has a finding without a transaction and its follow-ups', () => {
    const { txHash: _hash, ...alert } = inspectionAlert();
    const followUp = { ...alert, id: 'second', followUp: { of: alert.id, was: 'critical', is: 'ok' } };
    expect(threadOf(followUp)).toBe(threadOf(alert));
    expect(threadOf({ ...alert, id: 'another' })).not.toBe(threadOf(alert));
  });

  const announced = (about: Parameters<typeof announcementAlert>[0]['about'], key: string) =>
    announcementAlert({ about, key, message: 'x' }, 0);

  test('has what is announced about its transaction', () => {
    const of = { id: inspectionAlert().id, txHash: TX_HASH };
    const news = announcementAlert({ about: 'alert.acknowledged', key: of.id, message: 'x', of }, 0);
    expect(threadOf(news)).toBe(threadOf(inspectionAlert()));
  });

  test('has what is announced of one thing: its trouble and the end of it', () => {
    const broken = threadOf(announced('destination.broken', 'slack-1 2026-11-20'));
    expect(threadOf(announced('destination.well', 'slack-1 2026-11-20'))).toBe(broken);
    expect(threadOf(announced('destination.broken', 'slack-2 2026-11-20'))).not.toBe(broken);
    expect(threadOf(announced('service.unread', 'main 2026'))).toBe(
      threadOf(announced('service.read', 'main 2026 ff')),
    );
    expect(threadOf(announced('trouble.begun', '2026-11-20 aa'))).toBe(threadOf(announced('trouble.over', 'bb')));
    const several = [announced('destination.broken', 'slack-1 x'), announced('destination.broken', 'slack-2 x')];
    expect(threadOf(...several)).not.toBe(broken);
  });
});

describe('a handle', () => {
  test('comes back as it was, whatever the subject says', () => {
    fc.assert(
      fc.property(anyText(), fc.boolean(), (text, isUrgent) => {
        const earlier = readHandle(handleOf('<msg_1@example.com>', { subject: `CRITICAL: ${text}`, isUrgent }));
        // A subject of ours is one line; what is none is refused as a whole.
        if (earlier === undefined) {
          expect(text).toMatch(/[\n\r\u2028\u2029]/);
          return;
        }
        expect(earlier).toMatchObject({ messageId: '<msg_1@example.com>', first: { isUrgent } });
        expect(earlier.first?.subject).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
        expect(earlier.first?.subject.length).toBeLessThanOrEqual(SUBJECT_LIMIT);
      }),
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
  const channel = createEmailChannel(emailConfig.parse({ from: 'Tocsin <tocsin@example.com>', smtp }), {
    post: () => Promise.reject(new Error('not by this way')),
    now: Date.now,
  });
  closers.push(relay.close, channel.close);
  /** What the mailbox gets, and the handle for what follows. */
  const send = async (alert: Alert, replyTo?: string) => {
    const context = { format: 'rich', presentation: createPresentation(), sentAt: '2026-11-20T10:07:55.000Z' } as const;
    const [message] = atOnce(channel.compose({ destination: MAILBOX, alerts: [alert] }, context));
    const sent = { ...(message as Message), ...(replyTo === undefined ? {} : { replyTo }) };
    const { handle = '' } = await channel.send(sent, new AbortController().signal);
    const { headers, subject } = await readMail(relay.accepted.at(-1)?.raw ?? '');
    const header = (name: string) => headers.get(name)?.join(' ') ?? '';
    return {
      handle,
      subject,
      id: header('message-id'),
      inReplyTo: header('in-reply-to'),
      references: header('references'),
    };
  };
  return { relay, send };
};

const followUp = (was: string, is: string, of = inspectionAlert().id): Alert =>
  inspectionAlert({ id: `${was} ${is}`, type: 'inspection.changed', followUp: { of, was, is } });

describe('on the wire', () => {
  test('what follows goes on in the name of the first mail, and refers to the root and to the mail before it', async () => {
    const { send } = await openEmail();
    const first = await send(inspectionAlert());
    expect(first.subject).toContain('(0x5d1c…ab12)');
    const second = await send(followUp('critical', 'ok'), first.handle);
    expect(second).toMatchObject({ subject: `Re: ${first.subject}`, inReplyTo: first.id });
    expect(second.references).toBe(`${first.references} ${first.id}`);
    const third = await send(inspectionAlert({ id: 'third', protocol: 'Other' }), second.handle);
    expect(third).toMatchObject({ subject: `Re: ${first.subject}`, inReplyTo: second.id });
  });

  test('what follows about another protocol says which, and how bad it is, beside a subject that names the first', async () => {
    const { relay, send } = await openEmail();
    const first = await send(inspectionAlert());
    const beside = async (alert: Alert): Promise<string> => {
      expect((await send(alert, first.handle)).subject).toBe(`Re: ${first.subject}`);
      const { html } = await readMail(relay.accepted.at(-1)?.raw ?? '');
      return html?.text.split('\n', 1)[0] ?? '';
    };
    const bridge = { protocol: 'Lantern Bridge', item: { assets: [] } };
    const change = { of: 'x', was: 'critical', is: 'ok' };
    expect(await beside(inspectionAlert({ ...bridge, id: 'ok', followUp: change }))).toMatch(
      /^OK \(was CRITICAL\) · Lantern Bridge: The service calls it ok now/,
    );
    expect(await beside(inspectionAlert({ ...bridge, id: 'another' }))).toMatch(
      /^CRITICAL · Lantern Bridge: “Borrowed 12,400 ETH/,
    );
  });

  test('who acknowledged it follows quietly, and is what mail programs show beside the subject', async () => {
    const { relay, send } = await openEmail();
    const first = await send(inspectionAlert());
    const of = { id: inspectionAlert().id, txHash: TX_HASH };
    const message = 'Acknowledged by “Ann”, 02:45:10 UTC, on Slack #alerts (C024BE91L): 1 alert (Lending Pool).';
    const at = Date.parse('2026-11-20T02:45:10Z');
    const news = announcementAlert({ about: 'alert.acknowledged', key: 'x', message, of }, at);
    const second = await send(news, first.handle);
    expect(second).toMatchObject({ subject: `Re: ${first.subject}`, inReplyTo: first.id });
    expect(second.references).toBe(`${first.references} ${first.id}`);
    const { headers, html, plain } = await readMail(relay.accepted.at(-1)?.raw ?? '');
    expect(headers.has('importance')).toBe(false);
    expect(html?.text.split('\n', 1)[0]).toBe(message.slice(0, -1));
    expect(plain.replace(/\s+/g, ' ')).toContain(`${message} Transaction 0x5d1c…ab12`);
    expect(plain).toContain(`tocsin trace ${of.id}`);
  });

  test('what is more urgent than the first mail has a subject of its own', async () => {
    const { send } = await openEmail();
    const first = await send(inspectionAlert({ type: 'inspection.suspecious', item: { assessment: 'suspecious' } }));
    const second = await send(followUp('suspecious', 'critical'), first.handle);
    expect(second.subject).toMatch(/CRITICAL.*\(0x5d1c…ab12\)$/);
    expect(second.subject).not.toMatch(/^Re:/);
    expect(second.references).toBe(`${first.references} ${first.id}`);
    const third = await send(followUp('critical', 'ok'), second.handle);
    expect(third.subject).toBe(`Re: ${second.subject}`);
  });

  test.each([
    '<a@b>\r\nBcc: evil@b.example',
    'nothing',
    '<a@b>',
    '<a@b> <c@d>',
    '<a@b> high x\r\nBcc: evil@b.example',
    '',
  ])('a handle like %j is left out', async (handle) => {
    const { relay, send } = await openEmail();
    const { subject, references, inReplyTo } = await send(inspectionAlert(), handle);
    expect(references).toBe(inReplyTo);
    expect(references).toMatch(/^<thread_[0-9a-f]{32}@example\.com>$/);
    expect(subject).not.toMatch(/^Re:/);
    expect(relay.accepted[0]?.to).toEqual(['oncall@example.com']);
  });
});
