/** Relays that are strange, and relays that ask for TLS. */

import { createServer, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { inspect } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { WELL_KNOWN_CHAINS } from '../../../src/channels/chains.ts';
import { emailConfig } from '../../../src/channels/email/config.ts';
import { createEmailChannel } from '../../../src/channels/email/transport.ts';
import { DeliveryError } from '../../../src/errors.ts';
import { atOnce } from '../../../src/slices.ts';
import { destinationOf, inspectionAlert } from '../../support/alerts.ts';
import { createCertificate } from '../../support/certificate.ts';
import { type RelayOptions, startSmtpRelay } from '../../support/smtp-relay.ts';

const USER = 'tocsin-relay';
const PASS = 'pa55-s3cr3t';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const openEmail = (smtp: object, timeout = '20s') => {
  const config = emailConfig.parse({ from: 'tocsin@example.com', smtp: { host: '127.0.0.1', ...smtp }, timeout });
  const channel = createEmailChannel(config, {
    post: () => Promise.reject(new Error('not by this way')),
    now: Date.now,
  });
  closers.push(channel.close);
  return channel;
};

const sendBy = (channel: ReturnType<typeof openEmail>, signal = new AbortController().signal) => {
  const [message] = atOnce(
    channel.compose(
      { destination: destinationOf('email', 'oncall@example.com'), alerts: [inspectionAlert()] },
      { format: 'plain', chains: WELL_KNOWN_CHAINS, sentAt: '2026-11-20T10:07:55.000Z' },
    ),
  );
  if (message === undefined) throw new Error('nothing composed');
  return channel.send(message, signal);
};

const failureOf = async (sending: Promise<unknown>): Promise<DeliveryError> => {
  const error: unknown = await sending.then(
    () => 'accepted',
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof DeliveryError)) throw error;
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(PASS);
  return error;
};

describe('TLS', () => {
  const certificate = createCertificate();
  const trusted = getCACertificates('default');
  const trust = (): void => {
    setDefaultCACertificates([...trusted, certificate.cert]);
    closers.push(() => setDefaultCACertificates(trusted));
  };
  const startRelay = async (server: RelayOptions['server'] = {}) => {
    const relay = await startSmtpRelay({
      user: USER,
      pass: PASS,
      server: { ...certificate, disabledCommands: [], allowInsecureAuth: false, ...server },
    });
    closers.push(relay.close);
    return relay;
  };
  const login = { user: USER, pass: PASS };

  test('by STARTTLS carries login and mail', async () => {
    trust();
    const relay = await startRelay();
    await sendBy(openEmail({ host: 'localhost', port: relay.port, ...login }));
    expect(relay.accepted).toHaveLength(1);
    expect(relay.secured()).toBe(1);
  });

  test('from the first byte carries login and mail', async () => {
    trust();
    const relay = await startRelay({ secure: true });
    await sendBy(openEmail({ port: relay.port, secure: true, ...login }));
    expect(relay.accepted).toHaveLength(1);
    expect(relay.secured()).toBe(1);
  });

  test.each([
    ['STARTTLS', {}],
    ['TLS from the start', { secure: true }],
  ])('with a certificate nobody knows sends nothing, by %s', async (_how, options) => {
    const relay = await startRelay(options);
    const error = await failureOf(sendBy(openEmail({ port: relay.port, ...options, ...login })));
    expect(error).toMatchObject({ reason: 'retry', code: 'DEPTH_ZERO_SELF_SIGNED_CERT', maybeDelivered: false });
    expect(relay.arrived).toHaveLength(0);
  });

  test('required but not offered keeps the password back', async () => {
    const relay = await startRelay({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
    const error = await failureOf(sendBy(openEmail({ port: relay.port, ...login })));
    expect(error.reason).toBe('sender-misconfigured');
    expect(relay.logins()).toBe(0);
    expect(relay.arrived).toHaveLength(0);
  });

  test('spoken to a relay that does not is a passing fault with a name', async () => {
    const relay = await startRelay({ disabledCommands: ['STARTTLS'] });
    const error = await failureOf(sendBy(openEmail({ port: relay.port, secure: true, ...login })));
    expect(error).toMatchObject({ reason: 'retry', maybeDelivered: false });
    expect(error.message).toContain('TLS');
  });
});

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
    ['never greets', undefined, {}, { reason: 'retry', maybeDelivered: false }],
    ['closes before it greets', null, {}, { reason: 'retry', maybeDelivered: false }],
    ['speaks HTTP', 'HTTP/1.1 400 Bad Request', {}, { reason: 'retry', code: 'EPROTOCOL', maybeDelivered: false }],
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
      { reason: 'retry', code: 'TimeoutError', maybeDelivered: false },
    ],
    ['drops us at DATA', '220 hi', { ...HELLO, DATA: null }, { reason: 'retry', maybeDelivered: false }],
    ['says 421 at DATA', '220 hi', { ...HELLO, DATA: '421 4.3.2 bye' }, { reason: 'retry', code: '421-4.3.2' }],
    ['drops us after the text', '220 hi', { ...WHOLE, '.': null }, { reason: 'retry', maybeDelivered: true }],
    ['is silent after the text', '220 hi', WHOLE, { reason: 'retry', code: 'TimeoutError', maybeDelivered: true }],
    ['talks nonsense after the text', '220 hi', { ...WHOLE, '.': 'what?' }, { reason: 'retry', maybeDelivered: true }],
  ] as const)('%s', async (_what, greeting, replies, expected) => {
    const { port, commands } = await startScripted(greeting, replies);
    const error = await failureOf(sendBy(openEmail({ port, requireTLS: false }, '800ms')));
    expect({ ...error, reason: error.reason }).toMatchObject(expected);
    expect(commands.filter((command) => command === '.').length).toBeLessThanOrEqual(1);
  });

  test('hangs is left at once when we stop, and verify too', async () => {
    const { port } = await startScripted(undefined, {});
    const channel = openEmail({ port, requireTLS: false });
    const stop = new AbortController();
    const both = [failureOf(sendBy(channel, stop.signal)), failureOf(channel.verify(stop.signal))];
    stop.abort();
    for (const error of await Promise.all(both)) expect(error).toMatchObject({ reason: 'retry', code: 'AbortError' });
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
