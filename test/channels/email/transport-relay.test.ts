/** Relays that are strange. */

import { createServer, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { startSmtpRelay } from '../../support/smtp-relay.ts';
import { closers, failureOf, openEmail, PASS, sendBy, USER } from './relay-client.ts';

describe('a relay that', () => {
  /** Answers by script, line by line; `undefined` is silence and `null` the end. */
  const startScripted = async (greeting: string | undefined | null, replies: Record<string, string | null>) => {
    const commands: string[] = [];
    const answer = (socket: Socket, reply: string | undefined | null): void => {
      if (reply === null) socket.destroy();
      else if (reply !== undefined) socket.write(`${reply}\r\n`);
    };
    const server = createServer((socket) => {
      socket.on('error', () => {});
      answer(socket, greeting);
      socket.on('data', (data) => {
        for (const line of data.toString().split('\r\n').filter(Boolean)) {
          const [verb = ''] = line.split(/[ :]/);
          commands.push(verb);
          if (Object.hasOwn(replies, verb)) answer(socket, replies[verb]);
        }
      });
      closers.push(() => socket.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => new Promise((resolve) => server.close(resolve)));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return { port: address.port, commands };
  };

  const HELLO = { EHLO: '250 ok', MAIL: '250 ok', RCPT: '250 ok' };
  const WHOLE = { ...HELLO, DATA: '354 go on' };

  test.each([
    ['never greets', undefined, {}, { reason: 'unavailable', maybeDelivered: false }],
    ['closes before it greets', null, {}, { reason: 'unavailable', maybeDelivered: false }],
    [
      'speaks HTTP',
      'HTTP/1.1 400 Bad Request',
      {},
      { reason: 'unavailable', code: 'EPROTOCOL', maybeDelivered: false },
    ],
    [
      'refuses in several lines',
      '554-5.7.1 you are\r\n554-5.7.1 not welcome\r\n554 5.7.1 here',
      {},
      { reason: 'sender-misconfigured', code: '554-5.7.1' },
    ],
    [
      'is silent after the recipient',
      '220 hi',
      { EHLO: '250 ok', MAIL: '250 ok' },
      { reason: 'unavailable', code: 'TimeoutError', maybeDelivered: false },
    ],
    ['drops us at DATA', '220 hi', { ...HELLO, DATA: null }, { reason: 'unavailable', maybeDelivered: false }],
    ['says 421 at DATA', '220 hi', { ...HELLO, DATA: '421 4.3.2 bye' }, { reason: 'unavailable', code: '421-4.3.2' }],
    ['drops us after the text', '220 hi', { ...WHOLE, '.': null }, { reason: 'unavailable', maybeDelivered: true }],
    [
      'is silent after the text',
      '220 hi',
      WHOLE,
      { reason: 'unavailable', code: 'TimeoutError', maybeDelivered: true },
    ],
    [
      'talks nonsense after the text',
      '220 hi',
      { ...WHOLE, '.': 'what?' },
      { reason: 'unavailable', maybeDelivered: true },
    ],
  ] as const)('%s', async (_what, greeting, replies, expected) => {
    const { port, commands } = await startScripted(greeting, replies);
    const error = await failureOf(sendBy(openEmail({ port, requireTLS: false }, '800ms'), AbortSignal.timeout(800)));
    expect({ ...error, reason: error.reason }).toMatchObject(expected);
    expect(commands.filter((command) => command === '.').length).toBeLessThanOrEqual(1);
  });

  test.each([
    ['opportunistic', ['EHLO', 'STARTTLS', 'MAIL']],
    ['verify', ['EHLO', 'STARTTLS']],
  ])('offers STARTTLS and then refuses it gets a mail or none: %s', async (tls, expected) => {
    const said = { ...WHOLE, EHLO: '250-hi\r\n250 STARTTLS', STARTTLS: '454 4.7.0 not now', '.': '250 ok' };
    const { port, commands } = await startScripted('220 hi', said);
    const sending = sendBy(openEmail({ port, tls }));
    if (tls === 'opportunistic') await sending;
    else
      expect(await failureOf(sending)).toMatchObject({
        reason: 'unavailable',
        code: '454-4.7.0',
        maybeDelivered: false,
      });
    expect(commands.filter((verb) => ['EHLO', 'STARTTLS', 'MAIL'].includes(verb))).toEqual(expected);
  });

  test('hangs is left at once when we stop, and verify too', async () => {
    const { port } = await startScripted(undefined, {});
    const channel = openEmail({ port, requireTLS: false });
    const stop = new AbortController();
    const both = [failureOf(sendBy(channel, stop.signal)), failureOf(channel.verify(stop.signal))];
    stop.abort();
    for (const error of await Promise.all(both))
      expect(error).toMatchObject({ reason: 'unavailable', code: 'AbortError' });
  });

  test('takes our mail but refuses the login at verify says so', async () => {
    const relay = await startSmtpRelay({ user: USER, pass: 'another' });
    closers.push(relay.close);
    const channel = openEmail({ port: relay.port, requireTLS: false, user: USER, pass: PASS });
    const error = await failureOf(channel.verify(new AbortController().signal));
    expect(error).toMatchObject({ reason: 'sender-misconfigured', code: '535-5.7.8' });
    expect(await channel.isSenderFailure?.(new AbortController().signal)).toBe(true);
  });
});
