/** The mail receiver, asked by nodemailer. */
import nodemailer from 'nodemailer';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { SmtpVerdict } from '../../../../src/sandbox/receivers/smtp/session.ts';
import { createSmtpReceiver, type SmtpReceiverOptions } from '../../../../src/sandbox/receivers/smtp/smtp.ts';
import { until } from '../../../support/until.ts';

const start = async (options: SmtpReceiverOptions = {}, auth?: { user: string; pass: string }) => {
  const receiver = createSmtpReceiver(options);
  const { host, port } = await receiver.start();
  const transport = nodemailer.createTransport({ host, port, secure: false, ...(auth && { auth }) });
  onTestFinished(async () => {
    transport.close();
    await receiver.stop();
  });
  const send = (fields: object = {}) =>
    transport.sendMail({ from: 'tocsin@example.com', to: 'a@example.com', subject: 's', text: 't', ...fields });
  return { receiver, send, host, port };
};

test('a mail is kept whole, once for each recipient', async () => {
  const { receiver, send } = await start();
  const info = await send({
    from: 'Tocsin <tocsin@example.com>',
    to: ['Ops@Example.com', 'b@example.com'],
    subject: 'Größe 🧨',
    text: 'plain 漢字',
    html: '<p>rich</p>',
    headers: { 'X-Finding': 'one' },
    messageId: '<msg_1@example.com>',
    attachments: [{ filename: 'digest.csv', content: 'hash\n0x1' }],
  });
  expect(info.accepted).toHaveLength(2);
  expect(receiver.received().map(({ destination }) => destination)).toEqual(['ops@example.com', 'b@example.com']);
  expect(receiver.received()[0]).toMatchObject({
    kind: 'email',
    id: '<msg_1@example.com>',
    text: expect.stringMatching(/^Größe 🧨\nplain 漢字\s+hash\n0x1$/),
    raw: {
      envelope: { from: 'tocsin@example.com', to: ['ops@example.com', 'b@example.com'] },
      headers: { 'x-finding': 'one', from: 'Tocsin <tocsin@example.com>' },
      subject: 'Größe 🧨',
      html: expect.stringContaining('<p>rich</p>'),
      attachments: [{ filename: 'digest.csv', mimeType: 'text/csv', content: Buffer.from('hash\n0x1') }],
    },
  });
  expect(receiver.attempts().map(({ outcome }) => outcome)).toEqual(['accepted', 'accepted']);
});

describe('passwords', () => {
  const auth = { user: 'u', pass: 'p' };

  test('the right one is let in', async () => {
    const { receiver, send } = await start({ auth }, auth);
    await send();
    expect(receiver.received()).toHaveLength(1);
  });

  test('a wrong one is refused with 535, none with 530', async () => {
    const wrong = await start({ auth }, { user: 'u', pass: 'other' });
    await expect(wrong.send()).rejects.toMatchObject({ code: 'EAUTH', responseCode: 535 });
    const none = await start({ auth });
    await expect(none.send()).rejects.toMatchObject({ responseCode: 530 });
    expect(wrong.receiver.received()).toEqual([]);
  });
});

test('an unknown recipient is refused, the others get theirs', async () => {
  const { receiver, send } = await start({ recipients: ['a@example.com'] });
  const info = await send({ to: ['a@example.com', 'nobody@example.com'] });
  expect(info.rejected).toEqual(['nobody@example.com']);
  expect(info.rejectedErrors?.[0]).toMatchObject({ responseCode: 550 });
  expect(receiver.received().map(({ destination }) => destination)).toEqual(['a@example.com']);
  await expect(send({ to: 'nobody@example.com' })).rejects.toMatchObject({ responseCode: 550 });
});

test('a mail that is too big is refused', async () => {
  const { receiver, send } = await start({ maxBytes: 2000 });
  await expect(send({ text: 'x'.repeat(5000) })).rejects.toMatchObject({ responseCode: 552 });
  await send();
  expect(receiver.received()).toHaveLength(1);
});

describe('scripts', () => {
  const reply = (stage: SmtpVerdict['stage'], code: number, text: string): SmtpVerdict => ({
    kind: 'reply',
    stage,
    code,
    text,
  });

  test.each([
    ['connect', 421, '4.7.0 Too many connections'],
    ['mail', 451, '4.7.1 Greylisted'],
    ['rcpt', 452, '4.2.2 Mailbox full'],
    ['data', 554, '5.7.1 Looks like spam'],
  ] as const)('a reply at %s, once', async (stage, code, text) => {
    const { receiver, send } = await start();
    receiver.script.next(reply(stage, code, text));
    await expect(send()).rejects.toMatchObject({ responseCode: code, response: expect.stringContaining(text) });
    await send();
    expect(receiver.received()).toHaveLength(1);
    expect(receiver.attempts().map(({ outcome, code: seen }) => `${outcome} ${seen}`)).toEqual([
      `scripted ${code}`,
      'accepted 250',
    ]);
  });

  test('a reply for one recipient', async () => {
    const { receiver, send } = await start();
    receiver.script.always(reply('rcpt', 550, '5.2.1 Disabled'), { destination: 'off@example.com' });
    await send();
    await expect(send({ to: 'OFF@example.com' })).rejects.toMatchObject({ responseCode: 550 });
    expect(receiver.received()).toHaveLength(1);
  });

  test.each(['connect', 'mail', 'rcpt', 'data'] as const)('a reset at %s', async (stage) => {
    const { receiver, send } = await start();
    receiver.script.next({ kind: 'reset', stage });
    await expect(send()).rejects.toThrow();
    expect(receiver.received()).toEqual([]);
    await send();
    expect(receiver.received()).toHaveLength(1);
  });

  test('a connection lost after the message was taken', async () => {
    const { receiver, send } = await start();
    receiver.script.next({ kind: 'reset', stage: 'data', recorded: true });
    await expect(send({ messageId: '<same@example.com>' })).rejects.toThrow();
    await send({ messageId: '<same@example.com>' });
    expect(receiver.received().map(({ id }) => id)).toEqual(['<same@example.com>', '<same@example.com>']);
  });

  test('silence until the server stops', async () => {
    const { receiver, send } = await start();
    receiver.script.next({ kind: 'hang', stage: 'data' });
    const sent = send().then(
      () => 'sent',
      () => 'broken',
    );
    await until('the mail arrived', () => receiver.attempts().length === 1);
    await receiver.stop();
    expect(await sent).toBe('broken');
  });
});

test('rates answer 450', async () => {
  const now = 1_000_000;
  const { receiver, send } = await start({
    rates: [{ limit: 2, windowMs: 1000, scope: 'destination' }],
    now: () => now,
  });
  await send();
  await send();
  await expect(send()).rejects.toMatchObject({ responseCode: 450 });
  await send({ to: 'b@example.com' });
  expect(receiver.received()).toHaveLength(3);
});

test('a restart keeps the port, and stop leaves no connection', async () => {
  const { receiver, send, port } = await start();
  await send();
  await receiver.stop();
  await receiver.stop();
  await expect(send()).rejects.toThrow();
  expect((await receiver.start()).port).toBe(port);
  await send();
  expect(receiver.received()).toHaveLength(2);
});
