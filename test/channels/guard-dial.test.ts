/** Connections as the operator sets them for one receiver: certificates and a proxy, against real servers. */
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { inspect } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { createGuardedPost, type GuardedPostOptions } from '../../src/channels/http.ts';
import type { ConnectionSettings } from '../../src/connection/settings.ts';
import { createConnections } from '../../src/connection/settings.ts';
import { DeliveryError } from '../../src/errors.ts';
import { createSecret } from '../../src/secret.ts';
import { createCertificate } from '../support/certificate.ts';
import { startHttpReceiver } from '../support/http-receiver.ts';
import { startProxy } from '../support/proxy.ts';
import { TEST_CERTIFICATE, TEST_KEY } from '../support/tls.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const toLoopback: GuardedPostOptions['resolve'] = async () => [{ address: '127.0.0.1', family: 4 }];

const openPost = (options: Partial<GuardedPostOptions> = {}) => {
  const guarded = createGuardedPost({ allowHttp: true, allowNetworks: ['127.0.0.1'], resolve: toLoopback, ...options });
  closers.push(guarded.close);
  const post = (url: string, connection?: ConnectionSettings) =>
    guarded.post({
      url,
      headers: { 'x-api-key': 's3cr3t-header' },
      body: '{}',
      signal: AbortSignal.timeout(10_000),
      ...(connection === undefined ? {} : { connection }),
    });
  return { ...guarded, post };
};

const failureOf = async (sending: Promise<unknown>): Promise<DeliveryError> => {
  const error: unknown = await sending.catch((thrown: unknown) => thrown);
  if (!(error instanceof DeliveryError)) throw new Error(`it did not fail as it should: ${inspect(error)}`);
  expect(`${inspect(error, { depth: 9, showHidden: true })} ${JSON.stringify(error)}`).not.toMatch(/s3cr3t|czNjcjN0/);
  return error;
};

const openReceiver = async () => {
  const receiver = await startHttpReceiver();
  closers.push(receiver.close);
  return receiver;
};

const openProxy = async () => {
  const proxy = await startProxy();
  closers.push(proxy.close);
  const withCredentials = proxy.origin.replace('//', '//tocsin:s3cr3t%40proxy@');
  const settings = createConnections({ proxy: createSecret(withCredentials) }, { section: 'channels.webhook' })('');
  return { ...proxy, settings };
};

/** Serves https for `hooks.example`; gives the origin and whose client certificates came. */
const openTlsReceiver = async (options: TlsOptions = {}) => {
  const clients: string[] = [];
  const server = createServer({ cert: TEST_CERTIFICATE, key: TEST_KEY, ...options }, (request, response) => {
    clients.push((request.socket as TLSSocket).getPeerCertificate().fingerprint256);
    request.resume();
    response.writeHead(204).end();
  });
  server.on('tlsClientError', () => {}).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { clients, origin: `https://hooks.example:${(server.address() as AddressInfo).port}` };
};

describe('certificates', () => {
  test('an authority of the receiver is trusted for it alone', async () => {
    const { origin } = await openTlsReceiver();
    const { post } = openPost();
    expect((await post(`${origin}/in`, { ca: TEST_CERTIFICATE })).status).toBe(204);
    const other = await failureOf(post(`${origin}/in`));
    expect(other).toMatchObject({ reason: 'unavailable', code: 'DEPTH_ZERO_SELF_SIGNED_CERT', maybeDelivered: false });
  });

  test('it vouches instead of the others', async () => {
    const { origin } = await openTlsReceiver();
    const error = await failureOf(openPost().post(origin, { ca: createCertificate().cert }));
    expect(error).toMatchObject({ reason: 'unavailable', maybeDelivered: false });
  });

  test('our own certificate is shown to a receiver that asks for one', async () => {
    const own = createCertificate();
    const { clients, origin } = await openTlsReceiver({ ca: own.cert, requestCert: true, rejectUnauthorized: true });
    const { post } = openPost();
    const settings = { ca: TEST_CERTIFICATE, cert: own.cert, key: createSecret(own.key) };
    expect((await post(origin, settings)).status).toBe(204);
    expect(clients).toEqual([expect.stringMatching(/^([0-9A-F]{2}:){31}/)]);
    const other = createCertificate();
    const refused = [{ ca: TEST_CERTIFICATE }, { ...settings, cert: other.cert, key: createSecret(other.key) }];
    for (const connection of refused) {
      expect(await failureOf(post(origin, connection))).toMatchObject({ reason: 'unavailable' });
    }
    expect(clients).toHaveLength(1);
  });
});

describe('through a proxy', () => {
  test.each(['http', 'https'])('%s goes by a tunnel, with the credentials of the proxy', async (scheme) => {
    const proxy = await openProxy();
    const receiver = await openReceiver();
    const tls = await openTlsReceiver();
    const origin = scheme === 'http' ? receiver.origin.replace('127.0.0.1', 'hooks.example') : tls.origin;
    const { post } = openPost();
    const settings = { ...proxy.settings, ca: TEST_CERTIFICATE };
    expect((await post(`${origin}/in`, settings)).status).toBe(204);
    expect(proxy.asked).toEqual([`127.0.0.1:${new URL(origin).port}`]);
    expect(proxy.credentials).toEqual([`Basic ${Buffer.from('tocsin:s3cr3t@proxy').toString('base64')}`]);
    for (const { headers } of receiver.arrived) {
      expect(headers).toMatchObject({ host: new URL(origin).host });
      expect(headers).not.toHaveProperty('proxy-authorization');
    }
    expect(receiver.arrived.length + tls.clients.length).toBe(1);
  });

  test('only what is set so, and the tunnel is kept', async () => {
    const proxy = await openProxy();
    const receiver = await openReceiver();
    const { post } = openPost();
    await post(receiver.origin);
    expect(proxy.asked).toHaveLength(0);
    for (let index = 0; index < 6; index += 1) await post(receiver.origin, proxy.settings);
    // A second one may open when a request follows in the very turn in which the first answer ended.
    expect(proxy.asked.length).toBeLessThanOrEqual(2);
    expect(receiver.accepted).toHaveLength(7);
  });

  test('the port of the scheme is named', async () => {
    const proxy = await openProxy();
    proxy.refuse(502, 502);
    const { post } = openPost();
    await failureOf(post('https://hooks.example/in', proxy.settings));
    await failureOf(post('http://hooks.example/in', proxy.settings));
    expect(proxy.asked).toEqual(['127.0.0.1:443', '127.0.0.1:80']);
  });

  test('a forbidden target is not asked for, by address or by name', async () => {
    const proxy = await openProxy();
    const addresses: Record<string, string[]> = {
      'inside.example': ['10.0.0.7'],
      'mixed.example': ['93.184.215.14', '169.254.169.254'],
    };
    const { post } = openPost({
      resolve: async (host) => (addresses[host] ?? []).map((address) => ({ address, family: 4 })),
    });
    const hosts = ['10.0.0.1', '169.254.169.254', '[::1]', '2130706434', 'inside.example', 'mixed.example'];
    for (const host of hosts) {
      const error = await failureOf(post(`https://${host}/`, proxy.settings));
      expect(error, host).toMatchObject({ reason: 'destination-dead', code: 'blocked' });
    }
    expect(proxy.asked).toEqual([]);
    const strict = openPost({ allowHttp: false });
    expect((await failureOf(strict.post('http://hooks.example/', proxy.settings))).code).toBe('blocked');
    expect(proxy.asked).toEqual([]);
  });

  test('it is asked for the addresses that were checked, one after the other, IPv4 first, and never for the name', async () => {
    const proxy = await openProxy();
    proxy.refuse(502, 504);
    const { post } = openPost({
      allowNetworks: ['127.0.0.0/8'],
      resolve: async () => [
        { address: '2606:4700::1111', family: 6 },
        { address: '127.0.0.7', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ],
    });
    const error = await failureOf(post('https://hooks.example:4/in', proxy.settings));
    expect(proxy.asked).toEqual(['127.0.0.7:4', '127.0.0.1:4', '[2606:4700::1111]:4']);
    expect(error.maybeDelivered).toBe(false);
  });

  test('a name is resolved once for each tunnel: what it resolves to later does not count', async () => {
    const proxy = await openProxy();
    const receiver = await openReceiver();
    const answers = [['127.0.0.1'], ['169.254.169.254']];
    const asked: string[] = [];
    const { post } = openPost({
      resolve: async (host) => {
        asked.push(host);
        return (answers.shift() ?? []).map((address) => ({ address, family: 4 }));
      },
    });
    const { port } = new URL(receiver.origin);
    expect((await post(`http://rebinding.example:${port}/`, proxy.settings)).status).toBe(204);
    expect(asked).toEqual(['rebinding.example']);
    expect(proxy.asked).toEqual([`127.0.0.1:${port}`]);
  });

  test('a name that only the proxy can resolve is left to it where the operator allows it by name, else refused', async () => {
    const proxy = await openProxy();
    const receiver = await openReceiver();
    const resolve = () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' }));
    const { port } = new URL(receiver.origin);
    const far = `http://far.example:${port}/`;
    const error = await failureOf(openPost({ resolve }).post(far, proxy.settings));
    expect(error).toMatchObject({ reason: 'unavailable', code: 'name-ENOTFOUND', maybeDelivered: false });
    expect(error.message).toMatch(/^far\.example cannot be found by name .* channels\.webhook\.allowNetworks$/);
    expect(proxy.asked).toEqual([]);
    const allowed = openPost({ resolve, allowNetworks: ['far.example'] });
    expect((await allowed.post(far, proxy.settings)).status).toBe(204);
    expect(proxy.asked).toEqual([`far.example:${port}`]);
  });

  test.each([
    [302, 'sender-misconfigured'],
    [400, 'sender-misconfigured'],
    [403, 'sender-misconfigured'],
    [407, 'sender-misconfigured'],
    [408, 'unavailable'],
    [429, 'unavailable'],
    [502, 'unavailable'],
    [503, 'unavailable'],
  ])('its %d is no fault of the destination: %s', async (status, reason) => {
    const proxy = await openProxy();
    proxy.refuse(status);
    const receiver = await openReceiver();
    const { post } = openPost();
    const error = await failureOf(post(`${receiver.origin}/s3cr3t`, proxy.settings));
    expect(error).toMatchObject({ reason, code: `proxy-${status}`, maybeDelivered: false });
    expect(error.message).toContain(`the proxy ${new URL(proxy.origin).host} `);
    if (status === 407) expect(error.message).toContain('correct user and password in channels.webhook.proxy');
    if (status === 403) expect(error.message).toContain('channels.webhook.allowNetworks');
    expect((await post(receiver.origin, proxy.settings)).status).toBe(204);
  });

  test('one that is away, or is no proxy, is no fault of the destination either', async () => {
    const gone = await openProxy();
    await gone.close();
    const away = await failureOf(openPost().post('https://hooks.example/', gone.settings));
    expect(away).toMatchObject({ reason: 'unavailable', code: 'proxy-ECONNREFUSED', maybeDelivered: false });
    expect(away.message).toMatch(/^the proxy /);
    const receiver = await openReceiver();
    const noProxy = { proxy: createSecret(receiver.origin) };
    const error = await failureOf(openPost().post('https://hooks.example/', noProxy));
    expect(error).toMatchObject({ reason: 'unavailable', code: 'proxy-UND_ERR_SOCKET', maybeDelivered: false });
    const noTls = { proxy: createSecret(receiver.origin.replace('http:', 'https:')) };
    expect(await failureOf(openPost().post('https://hooks.example/', noTls))).toMatchObject({ reason: 'unavailable' });
  });

  test("a failure behind the proxy is reported as the receiver's", async () => {
    const proxy = await openProxy();
    const { origin } = await openTlsReceiver();
    const error = await failureOf(openPost().post(origin, proxy.settings));
    expect(error).toMatchObject({ reason: 'unavailable', code: 'DEPTH_ZERO_SELF_SIGNED_CERT', maybeDelivered: false });
    expect(error.message).toMatch(/^hooks\.example /);
  });

  test('closing ends its tunnels', async () => {
    const proxy = await openProxy();
    const receiver = await openReceiver();
    const { post, close } = openPost();
    receiver.script('hang');
    const sending = failureOf(post(receiver.origin, proxy.settings));
    while (receiver.arrived.length === 0) await new Promise(setImmediate);
    await close();
    expect(await sending).toMatchObject({ reason: 'unavailable', maybeDelivered: true });
    expect(await failureOf(post(receiver.origin, proxy.settings))).toMatchObject({ code: 'UND_ERR_CLOSED' });
  });
});
