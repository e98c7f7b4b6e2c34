/** The Telegram channel against the sandbox's Telegram, which was written from the Bot API's documents and sources. */

import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import type { Format, Message } from '../../../src/channels/channel.ts';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import { telegramConfig } from '../../../src/channels/telegram/config.ts';
import type { TelegramBody } from '../../../src/channels/telegram/message.ts';
import { createTelegramChannel } from '../../../src/channels/telegram/transport.ts';
import { atOnce } from '../../../src/chunks.ts';
import { DeliveryError } from '../../../src/errors.ts';
import { createTelegramReceiver, telegramVerdict } from '../../../src/sandbox/receivers/telegram/telegram.ts';
import { destinationOf, inspectionAlert, notificationAlert } from '../../support/alerts.ts';
import { startHttpReceiver } from '../../support/http-receiver.ts';
import { hashOf, makeAlert } from '../../support/numbered.ts';
import { until } from '../../support/until.ts';

const TOKEN = '123456789:sandbox';
const CHAT = '-1001234567890';
const TOPIC = `${CHAT}/7`;

const openChannel = (apiRoot: string) => {
  const dependencies = { post: () => Promise.reject(new Error('not by this way')), now: Date.now };
  const channel = createTelegramChannel(telegramConfig.parse({ botToken: TOKEN, apiRoot }), dependencies);
  onTestFinished(channel.close);
  const { amend } = channel;
  if (amend === undefined) throw new Error('it must know how');
  return { ...channel, amend };
};

const open = async () => {
  const receiver = createTelegramReceiver({ chats: [CHAT, '42'] });
  onTestFinished(() => receiver.stop());
  const { apiRoot } = await receiver.start();
  return { receiver, channel: openChannel(apiRoot) };
};

const nobody = (): AbortSignal => new AbortController().signal;

const compose = (
  channel: ReturnType<typeof openChannel>,
  alerts: Alert[],
  { to = CHAT, format = 'rich' as Format } = {},
): Message<TelegramBody>[] =>
  atOnce(
    channel.compose(
      { destination: destinationOf('telegram', to), alerts },
      { format, presentation: createPresentation(), sentAt: '2026-11-20T10:07:55.000Z' },
    ),
  ) as Message<TelegramBody>[];

const only = (messages: Message<TelegramBody>[]): Message<TelegramBody> => {
  const [message] = messages;
  if (message === undefined || messages.length > 1) throw new Error(`${messages.length} messages instead of one`);
  return message;
};

const STORM = Array.from({ length: 120 }, (_, n) => makeAlert(n));

const failureOf = async (sending: Promise<unknown>): Promise<DeliveryError> => {
  const error: unknown = await sending.then(
    () => 'accepted',
    (thrown: unknown) => thrown,
  );
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(TOKEN);
  if (!(error instanceof DeliveryError)) throw error;
  return error;
};

describe('a digest', () => {
  test.each(['rich', 'plain'] as const)('%s is one message: a caption, and a file with every hash', async (format) => {
    const { receiver, channel } = await open();
    const receipt = await channel.send(only(compose(channel, STORM, { format, to: TOPIC })), nobody());
    expect(receipt).toEqual({ providerId: '1', handle: `${CHAT}:1` });
    const [{ destination, raw, text } = { destination: '', raw: undefined, text: '' }, ...more] = receiver.received();
    expect(more).toEqual([]);
    expect(destination).toBe(TOPIC);
    expect(raw).toMatchObject({
      method: 'sendDocument',
      document: { filename: expect.stringMatching(/^tocsin-digest-[0-9a-f]{8}\.txt$/) },
    });
    expect(raw?.source.startsWith(format === 'rich' ? '<b>🔴 120 critical' : '🔴 120 critical')).toBe(true);
    for (let n = 0; n < STORM.length; n += 1) expect(raw?.document?.content.toString()).toContain(hashOf(n));
    expect(text).toContain('Lending Pool');
  });

  test('at its plainest is as many messages as its hashes need, without a file', async () => {
    const { receiver, channel } = await open();
    for (const message of compose(channel, STORM, { format: 'minimal' })) await channel.send(message, nobody());
    expect(receiver.received().length).toBeGreaterThan(1);
    expect(receiver.received().length).toBeLessThan(6);
    const text = receiver
      .received()
      .map((one) => one.text)
      .join('\n');
    for (let n = 0; n < STORM.length; n += 1) expect(text).toContain(hashOf(n));
  });

  test('answers an earlier message, which a file can, too', async () => {
    const { receiver, channel } = await open();
    const { handle = '' } = await channel.send(only(compose(channel, [inspectionAlert()])), nobody());
    await channel.send({ ...only(compose(channel, STORM)), replyTo: handle }, nobody());
    expect(receiver.received().map(({ raw }) => raw.replyTo)).toEqual([undefined, 1]);
  });

  test.each([
    ['400 no rights', telegramVerdict(400, 'Bad Request: not enough rights to send documents to the chat')],
    ['403 forbidden', telegramVerdict(400, 'Bad Request: CHAT_SEND_DOCS_FORBIDDEN')],
    ['413', telegramVerdict(413, 'Request Entity Too Large')],
  ])('that the chat takes no file for, %s, is sent more plainly', async (_name, verdict) => {
    const { receiver, channel } = await open();
    receiver.script.next(verdict);
    expect(await failureOf(channel.send(only(compose(channel, STORM)), nobody()))).toMatchObject({
      reason: 'bad-message',
      maybeDelivered: false,
    });
  });

  test('for a group that moved gets a new address, with its wait or its chat as named', async () => {
    const { receiver, channel } = await open();
    const moved = 'Bad Request: group chat was upgraded to a supergroup chat';
    receiver.script.next(telegramVerdict(400, moved, { migrate_to_chat_id: -100777 }));
    receiver.script.next(telegramVerdict(429, 'Too Many Requests: retry after 9', { retry_after: 9 }));
    const send = () => failureOf(channel.send(only(compose(channel, STORM, { to: TOPIC })), nobody()));
    expect(await send()).toMatchObject({ reason: 're-address', newAddress: '-100777/7' });
    expect(await send()).toMatchObject({ reason: 'rate-limited', retryAfterMs: 9000 });
  });
});

describe('a file on its way', () => {
  test('that nobody answers meets the time limit, or the abort; it may have arrived', async () => {
    const { receiver, channel } = await open();
    receiver.script.always({ kind: 'hang' });
    const message = only(compose(channel, STORM));
    expect(await failureOf(channel.send(message, AbortSignal.timeout(300)))).toMatchObject({
      reason: 'unavailable',
      code: 'TimeoutError',
      maybeDelivered: true,
    });
    const stop = new AbortController();
    const patient = openChannel(`http://127.0.0.1:${(await receiver.start()).port}`);
    const sending = failureOf(patient.send(message, stop.signal));
    await until('it has arrived', () => receiver.attempts().length === 2);
    stop.abort();
    expect(await sending).toMatchObject({ reason: 'unavailable', code: 'AbortError', maybeDelivered: true });
  });

  test('whose connection drops may have arrived; one that found nobody has not', async () => {
    const { receiver, channel } = await open();
    const message = only(compose(channel, STORM));
    receiver.script.next({ kind: 'reset' });
    expect(await failureOf(channel.send(message, nobody()))).toMatchObject({
      reason: 'unavailable',
      maybeDelivered: true,
    });
    await receiver.stop();
    expect(await failureOf(channel.send(message, nobody()))).toMatchObject({
      reason: 'unavailable',
      maybeDelivered: false,
    });
  });

  test('is not sent once the signal has aborted', async () => {
    const { receiver, channel } = await open();
    const error = await failureOf(channel.send(only(compose(channel, STORM)), AbortSignal.abort()));
    expect(error).toMatchObject({ reason: 'unavailable', maybeDelivered: false });
    expect(receiver.attempts()).toEqual([]);
  });
});

describe('an incident', () => {
  const found = (n: number): Alert =>
    inspectionAlert({ id: `id${n}`, protocol: `Vault ${n}`, item: { _id: `inspection-${n}`, protocol: `Vault ${n}` } });

  test('grows in its place', async () => {
    const { receiver, channel } = await open();
    const { handle = '' } = await channel.send(only(compose(channel, [found(1)], { to: TOPIC })), nobody());
    const grown = only(compose(channel, [found(1), found(2), found(3)], { to: TOPIC }));
    expect(await channel.amend(handle, grown, nobody())).toEqual({ providerId: '1', handle });
    expect(receiver.received()).toHaveLength(1);
    expect(receiver.edits()).toMatchObject([{ destination: TOPIC, messageId: 1 }]);
    for (const n of [1, 2, 3]) expect(receiver.edits()[0]?.text).toContain(`inspection-${n}`);
    expect(receiver.edits()[0]?.entities.some(({ type }) => type === 'bold')).toBe(true);
  });

  test('keeps its buttons, and loses no markup', async () => {
    const { receiver, channel } = await open();
    const { handle = '' } = await channel.send(only(compose(channel, [found(1)])), nobody());
    await channel.amend(handle, only(compose(channel, [found(1), found(2)])), nobody());
    const [sent] = receiver.received();
    expect(sent?.raw.lost).toEqual([]);
    expect(sent?.raw.keyboard?.[0]?.[0]?.text).toBe('Check transaction');
    expect(receiver.edits()[0]?.keyboard).toEqual(sent?.raw.keyboard);
  });

  test('that is assessed again says so in its title, with the buttons that it had', async () => {
    const { receiver, channel } = await open();
    const { handle = '' } = await channel.send(only(compose(channel, [found(1)])), nobody());
    const now: Alert = { ...found(1), reassessed: { was: 'critical', is: 'ok' } };
    await channel.amend(handle, only(compose(channel, [now])), nobody());
    const [edit] = receiver.edits();
    expect(edit?.text).toMatch(/^🟢 OK \(was CRITICAL\) · Vault 1 · /);
    expect(edit?.keyboard).toEqual(receiver.received()[0]?.raw.keyboard);
    expect(receiver.received()).toHaveLength(1);
  });

  test('that is judged better is told without a sound, also by a file', async () => {
    const { receiver, channel } = await open();
    const better = (n: number): Alert => ({
      ...found(n),
      type: 'inspection.downgraded',
      followUp: { of: `id${n}`, was: 'critical', is: 'ok' },
    });
    await channel.send(only(compose(channel, [better(1)])), nobody());
    await channel.send(
      only(
        compose(
          channel,
          Array.from({ length: 120 }, (_, n) => better(n)),
        ),
      ),
      nobody(),
    );
    await channel.send(only(compose(channel, [found(2)])), nobody());
    expect(receiver.received().map(({ raw }) => [raw.method, raw.silent])).toEqual([
      ['sendMessage', true],
      ['sendDocument', true],
      ['sendMessage', undefined],
    ]);
  });

  test('that says already what it should is done', async () => {
    const { receiver, channel } = await open();
    const message = only(compose(channel, [found(1)]));
    const { handle = '' } = await channel.send(message, nobody());
    expect(await channel.amend(handle, message, nobody())).toEqual({ providerId: '1', handle });
    expect(receiver.edits()).toEqual([]);
  });

  test('cannot take the place of what is gone, of a file, or of a message elsewhere', async () => {
    const { receiver, channel } = await open();
    const message = only(compose(channel, [found(1)]));
    const amend = (handle: string) => failureOf(channel.amend(handle, message, nobody()));
    expect(await amend(`${CHAT}:99`)).toMatchObject({ reason: 'bad-message', code: '400' });
    const { handle = '' } = await channel.send(only(compose(channel, STORM)), nobody());
    expect(await amend(handle)).toMatchObject({ reason: 'bad-message', code: '400' });
    for (const elsewhere of ['42:1', 'nonsense', ''])
      expect(await amend(elsewhere)).toMatchObject({ code: 'not-amendable' });
    expect(receiver.edits()).toEqual([]);
  });

  test('is not amended by a file, nor by what needs several messages', async () => {
    const { channel } = await open();
    const { handle = '' } = await channel.send(only(compose(channel, [found(1)])), nobody());
    for (const alerts of [STORM, [notificationAlert('a long line\n'.repeat(900))]]) {
      const error = await failureOf(channel.amend(handle, only(compose(channel, alerts)), nobody()));
      expect(error).toMatchObject({ reason: 'bad-message', code: 'not-amendable' });
    }
  });

  test('whose group moved gets a new address, and there answers nothing of the old one', async () => {
    const { receiver, channel } = await open();
    const message = only(compose(channel, [found(1)]));
    receiver.callScript.next(
      telegramVerdict(400, 'Bad Request: group chat was upgraded to a supergroup chat', { migrate_to_chat_id: 42 }),
    );
    const { handle = '' } = await channel.send(message, nobody());
    expect(await failureOf(channel.amend(handle, message, nobody()))).toMatchObject({
      reason: 're-address',
      newAddress: '42',
    });
    await channel.send(only(compose(channel, [found(9)], { to: '42' })), nobody());
    await channel.send({ ...only(compose(channel, [found(2)], { to: '42' })), replyTo: `${CHAT}:2` }, nobody());
    expect(receiver.received().at(-1)).toMatchObject({ destination: '42' });
    expect(receiver.received().at(-1)?.raw.replyTo).toBeUndefined();
  });

  test('answers an earlier message of its chat, and stands alone where that is gone', async () => {
    const { receiver, channel } = await open();
    const { handle = '' } = await channel.send(only(compose(channel, [found(1)])), nobody());
    const next = only(compose(channel, [found(2)]));
    await channel.send({ ...next, replyTo: handle }, nobody());
    await channel.send({ ...next, replyTo: `${CHAT}:99` }, nobody());
    expect(receiver.received().map(({ raw }) => raw.replyTo)).toEqual([undefined, 1, undefined]);
  });
});

describe('the name of a chat', () => {
  test('is its title, of one person their name; a public name is its own', async () => {
    const receiver = createTelegramReceiver({ chats: [CHAT, '42'], titles: { [CHAT]: 'On-call', '42': 'Ada' } });
    onTestFinished(() => receiver.stop());
    const { nameOf } = openChannel((await receiver.start()).apiRoot);
    expect(await nameOf?.(CHAT, nobody())).toBe('On-call');
    expect(await nameOf?.(TOPIC, nobody())).toBe('On-call');
    expect(await nameOf?.('42', nobody())).toBe('Ada');
    expect(await nameOf?.('@lending_alerts/7', nobody())).toBeUndefined();
  });

  test('that is gone is refused like a message to it', async () => {
    const { channel } = await open();
    const asked = failureOf(channel.nameOf?.('-100999', nobody()) ?? Promise.resolve());
    expect(await asked).toMatchObject({ reason: 'destination-dead' });
  });
});

describe('a redirect', () => {
  const HOWS = [301, 302, 303, 307, 308] as const;

  test.each(HOWS)('by %i is not followed, with or without a file', async (status) => {
    const elsewhere = await startHttpReceiver(() => ({ status: 200, body: '{"ok":true,"result":{"message_id":1}}' }));
    onTestFinished(elsewhere.close);
    const location = `${elsewhere.origin}/bot${TOKEN}/sendMessage`;
    const root = await startHttpReceiver(() => ({ status, headers: { location } }));
    onTestFinished(root.close);
    const channel = openChannel(root.origin);
    for (const alerts of [[inspectionAlert()], STORM]) {
      const error = await failureOf(channel.send(only(compose(channel, alerts)), nobody()));
      expect(error).toMatchObject({ reason: 'sender-misconfigured', code: 'redirect', maybeDelivered: false });
    }
    expect((await failureOf(channel.verify(nobody()))).reason).toBe('sender-misconfigured');
    expect(root.arrived).toHaveLength(3);
    expect(elsewhere.arrived).toEqual([]);
  });

  test('to another path of the same server is none that we know, either', async () => {
    const root = await startHttpReceiver(({ path }) =>
      path.startsWith('/api/') ? { status: 200 } : { status: 302, headers: { location: `/api${path}` } },
    );
    onTestFinished(root.close);
    const channel = openChannel(root.origin);
    expect((await failureOf(channel.send(only(compose(channel, [inspectionAlert()])), nobody()))).code).toBe(
      'redirect',
    );
    expect(root.arrived).toHaveLength(1);
  });
});
