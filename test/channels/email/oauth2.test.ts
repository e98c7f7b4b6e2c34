/** XOAUTH2 at a real relay, with a real token endpoint, also behind a proxy and with an authority of our own. */
import { describe, expect, test } from 'vitest';
import { emailConfig } from '../../../src/channels/email/config.ts';
import { createEmailChannel } from '../../../src/channels/email/transport.ts';
import { createProxyFor } from '../../../src/connection/proxy-variables.ts';
import { createSecret } from '../../../src/secret.ts';
import { createCertificate } from '../../support/certificate.ts';
import { type Answer, startHttpReceiver } from '../../support/http-receiver.ts';
import { startProxy } from '../../support/proxy.ts';
import { startSmtpRelay } from '../../support/smtp-relay.ts';
import { closers, failureOf, openEmail, PASS, sendBy } from './relay-client.ts';

const certificate = createCertificate();
const USER = 'tocsin@example.com';

/** Takes the tokens that `takes` says, by XOAUTH2 over TLS. */
const startRelay = async (takes: (token: string) => boolean) => {
  const tokens: string[] = [];
  const relay = await startSmtpRelay({
    server: {
      ...certificate,
      disabledCommands: [],
      allowInsecureAuth: false,
      authMethods: ['XOAUTH2'],
      onAuth: ({ username = '', accessToken = '' }, _session, done) => {
        tokens.push(`${username} ${accessToken}`);
        done(null, takes(accessToken) ? { user: username } : { data: { status: '401', schemes: 'bearer' } });
      },
    },
  });
  closers.push(relay.close);
  return { ...relay, tokens };
};

/** Gives `token-1`, `token-2` and so on, or what `answer` says. */
const startEndpoint = async (answer?: () => Answer, tls?: { key: string; cert: string }) => {
  let given = 0;
  const endpoint = await startHttpReceiver(() => {
    given += 1;
    return answer?.() ?? { status: 200, body: JSON.stringify({ access_token: `token-${given}`, expires_in: 3600 }) };
  }, tls);
  closers.push(endpoint.close);
  return endpoint;
};

const loginAt = (endpoint: { origin: string }, more: object = {}) => ({
  user: USER,
  clientId: 'tocsin-app',
  clientSecret: `${PASS}-client`,
  refreshToken: `${PASS}-refresh`,
  accessUrl: `${endpoint.origin}/token`,
  ...more,
});

const open = (port: number, oauth2: object) => openEmail({ host: 'localhost', port, ca: certificate.cert, oauth2 });

describe('XOAUTH2', () => {
  test('logs in with a token that the endpoint gives for the refresh token', async () => {
    const [relay, endpoint] = [await startRelay(() => true), await startEndpoint()];
    await sendBy(open(relay.port, loginAt(endpoint, { scope: 'smtp.send' })));
    expect(relay.accepted).toHaveLength(1);
    expect(relay.tokens).toEqual([`${USER} token-1`]);
    const [asked] = endpoint.arrived;
    expect(Object.fromEntries(new URLSearchParams(asked?.body))).toEqual({
      grant_type: 'refresh_token',
      refresh_token: `${PASS}-refresh`,
      client_id: 'tocsin-app',
      client_secret: `${PASS}-client`,
      scope: 'smtp.send',
    });
  });

  test('one token serves all connections', async () => {
    const [relay, endpoint] = [await startRelay(() => true), await startEndpoint()];
    const channel = open(relay.port, loginAt(endpoint));
    await Promise.all([sendBy(channel), sendBy(channel), sendBy(channel)]);
    relay.dropConnections();
    await sendBy(channel);
    expect(relay.accepted).toHaveLength(4);
    expect(endpoint.arrived).toHaveLength(1);
  });

  test('a token that the relay no longer takes is replaced at once', async () => {
    const [relay, endpoint] = [await startRelay((token) => token !== 'token-1'), await startEndpoint()];
    await sendBy(open(relay.port, loginAt(endpoint)));
    expect(relay.tokens).toEqual([`${USER} token-1`, `${USER} token-2`]);
    expect(relay.accepted).toHaveLength(1);
  });

  test('a newer refresh token is used from then on', async () => {
    const given = ['token-1', 'token-2', 'token-3'];
    const relay = await startRelay((token) => token === 'token-3');
    const endpoint = await startEndpoint(() => {
      const access_token = given.shift();
      return { status: 200, body: JSON.stringify({ access_token, refresh_token: `newer-than-${access_token}` }) };
    });
    const channel = open(relay.port, loginAt(endpoint));
    await failureOf(sendBy(channel));
    await sendBy(channel);
    const used = endpoint.arrived.map(({ body }) => new URLSearchParams(body).get('refresh_token'));
    expect(used).toEqual([`${PASS}-refresh`, 'newer-than-token-1', 'newer-than-token-2']);
  });

  test('a relay that takes no token at all is named, and the token is in no error', async () => {
    const [relay, endpoint] = [await startRelay(() => false), await startEndpoint()];
    const error = await failureOf(sendBy(open(relay.port, loginAt(endpoint))));
    expect(error.reason).toBe('sender-misconfigured');
    expect(error.message).toContain('AUTH XOAUTH2');
    expect(error.message).not.toContain('token-');
  });

  test.each<[Answer, string, string, string]>([
    [
      { status: 400, body: `{"error":"invalid_grant","error_description":"${PASS}-refresh is gone"}` },
      'sender-misconfigured',
      'oauth2-invalid_grant',
      'it has ended or was revoked: put a new one into channels.email.smtp.oauth2.refreshToken',
    ],
    [
      { status: 401, body: '{"error":"invalid_client"}' },
      'sender-misconfigured',
      'oauth2-invalid_client',
      'see channels.email.smtp.oauth2.clientId and clientSecret',
    ],
    [{ status: 404, body: '<html>' }, 'sender-misconfigured', 'oauth2-404', '(404): see channels.email.smtp.oauth2'],
    [{ status: 503 }, 'unavailable', 'oauth2-503', 'gives no access token now (503)'],
    [{ status: 200, body: '<html>' }, 'unavailable', 'oauth2-answer', 'see channels.email.smtp.oauth2.accessUrl'],
  ])('%j is named', async (answer, reason, code, says) => {
    const [relay, endpoint] = [await startRelay(() => true), await startEndpoint(() => answer)];
    const channel = open(relay.port, loginAt(endpoint));
    for (const attempt of [() => sendBy(channel), () => channel.verify(AbortSignal.timeout(10_000))]) {
      const error = await failureOf(attempt());
      expect(error).toMatchObject({ reason, code, maybeDelivered: false });
      expect(error.message).toContain(new URL(endpoint.origin).host);
      expect(error.message).toContain(says);
    }
    expect(relay.tokens).toEqual([]);
  });

  test('the endpoint may have an authority of its own, and be behind a proxy', async () => {
    const own = createCertificate();
    const [relay, endpoint, proxy] = [
      await startRelay(() => true),
      await startEndpoint(undefined, own),
      await startProxy(),
    ];
    closers.push(proxy.close);
    const error = await failureOf(sendBy(open(relay.port, loginAt(endpoint))));
    expect(error).toMatchObject({ reason: 'unavailable', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    expect(error.message).toContain('channels.email.smtp.oauth2.ca');
    await sendBy(open(relay.port, loginAt(endpoint, { ca: own.cert, proxy: proxy.origin })));
    expect(proxy.asked).toEqual([new URL(endpoint.origin).host]);
  });

  test('a proxy of the variables counts for the endpoint, not for the relay', async () => {
    const [relay, proxy] = [await startRelay(() => true), await startProxy()];
    closers.push(proxy.close);
    proxy.refuse(407);
    const oauth2 = loginAt({ origin: 'https://login.example' });
    const smtp = { host: 'localhost', port: relay.port, ca: certificate.cert, oauth2 };
    const config = emailConfig.parse({ from: 'tocsin@example.com', smtp });
    const https = { url: createSecret(proxy.origin), key: 'HTTPS_PROXY' };
    const proxyFor = createProxyFor({ https, except: [] });
    const channel = createEmailChannel(config, { post: () => Promise.reject(), now: Date.now, proxyFor });
    closers.push(channel.close);
    const error = await failureOf(sendBy(channel));
    expect(error).toMatchObject({ reason: 'sender-misconfigured', code: 'proxy-407' });
    expect(error.message).toContain('correct user and password in HTTPS_PROXY');
    expect(proxy.asked).toEqual(['login.example:443']);
  });
});

test.each<[object, string | undefined]>([
  [{}, undefined],
  [{ user: 'u', pass: 'p' }, 'may not stand beside user and pass: it is another way to log in'],
  [{ tls: 'off' }, 'must be verify with oauth2'],
  [{ host: 'localhost', tls: 'off' }, undefined],
  [{ oauth2: loginAt({ origin: 'http://login.example' }) }, 'must be an https URL: it gets secrets'],
])('with %j: %s', (smtp, says) => {
  const oauth2 = loginAt({ origin: 'https://login.example' });
  const parsed = emailConfig.safeParse({ from: 'a@b.example', smtp: { host: 'relay.example', oauth2, ...smtp } });
  expect(parsed.success).toBe(says === undefined);
  if (says !== undefined) expect(parsed.error?.issues[0]?.message).toContain(says);
});
