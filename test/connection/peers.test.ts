/** How services, Slack, Telegram and webhooks reach their peers: certificates and proxies, with real servers. */
import { inspect } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { createGuardedPost } from '../../src/channels/http.ts';
import { slackConfig } from '../../src/channels/slack/config.ts';
import { createSlackChannel } from '../../src/channels/slack/transport.ts';
import { telegramConfig } from '../../src/channels/telegram/config.ts';
import { createTelegramChannel } from '../../src/channels/telegram/transport.ts';
import { webhookConfig } from '../../src/channels/webhook/config.ts';
import { createWebhookChannel } from '../../src/channels/webhook/transport.ts';
import { serviceSection } from '../../src/config/poll-section.ts';
import { createProxyFor, type ProxyVariables } from '../../src/connection/proxy-variables.ts';
import { createConnections, settingsIn } from '../../src/connection/settings.ts';
import { createSecret } from '../../src/secret.ts';
import { createServiceClient } from '../../src/service/client.ts';
import { destinationOf } from '../support/alerts.ts';
import { type Certificate, createCertificate } from '../support/certificate.ts';
import { startHttpReceiver } from '../support/http-receiver.ts';
import { startProxy } from '../support/proxy.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

interface Peer {
  /** What of its address is behind the host. */
  path: string;
  /** Where its address is written; empty where it comes from outside. */
  address: string;
  section: string;
  /** One question or message; throws what it throws. */
  ask(url: string, settings: object, variables?: ProxyVariables): Promise<unknown>;
}

const anything = { status: 200, body: '{"ok":true,"result":{"username":"bot"},"user":"u","team":"t"}' };
const signal = () => AbortSignal.timeout(10_000);
const openPost = () => {
  const guard = createGuardedPost({
    allowHttp: true,
    allowNetworks: ['127.0.0.1'],
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  });
  closers.push(guard.close);
  return guard.post;
};

const PEERS: Record<string, Peer> = {
  service: {
    path: '/api',
    section: 'services.0',
    address: 'services.0.baseUrl',
    ask: async (baseUrl, settings, variables) => {
      const service = serviceSection.parse({ name: 'main', baseUrl, apiKey: 'key', ...settings });
      const place = { section: 'services.0', address: 'services.0.baseUrl' };
      const connection = createConnections(settingsIn(service), place, createProxyFor(variables))(baseUrl);
      const client = createServiceClient({ service, connection });
      closers.push(client.close);
      return await client.settings('p', signal());
    },
  },
  slack: {
    path: '/api/',
    section: 'channels.slack',
    address: 'channels.slack.apiUrl',
    ask: async (apiUrl, settings, variables) => {
      const config = slackConfig.parse({ botToken: 'xoxb-1', apiUrl, ...settings });
      const proxyFor = createProxyFor(variables);
      const channel = createSlackChannel(config, { post: openPost(), now: Date.now, proxyFor });
      closers.push(channel.close);
      return await channel.verify(signal());
    },
  },
  'slack hook': {
    path: '/services/T/B/X',
    section: 'channels.slack',
    address: '',
    ask: async (url, settings, variables) => {
      const proxyFor = createProxyFor(variables);
      const channel = createSlackChannel(slackConfig.parse(settings), { post: openPost(), now: Date.now, proxyFor });
      closers.push(channel.close);
      const body = { text: 'x' };
      const destination = destinationOf('slack', url);
      return await channel.send({ destination, alerts: [], id: '1', body, isDigest: false }, signal());
    },
  },
  telegram: {
    path: '',
    section: 'channels.telegram',
    address: 'channels.telegram.apiRoot',
    ask: async (apiRoot, settings, variables) => {
      const config = telegramConfig.parse({ botToken: '1:a', apiRoot, ...settings });
      const proxyFor = createProxyFor(variables);
      const channel = createTelegramChannel(config, { post: openPost(), now: Date.now, proxyFor });
      closers.push(channel.close);
      return await channel.verify(signal());
    },
  },
  webhook: {
    path: '/in',
    section: 'channels.webhook',
    address: '',
    ask: async (url, settings, variables) => {
      const proxyFor = createProxyFor(variables);
      const channel = createWebhookChannel(webhookConfig.parse(settings), {
        post: openPost(),
        now: Date.now,
        proxyFor,
      });
      closers.push(channel.close);
      const destination = destinationOf('webhook', url);
      return await channel.send(
        { destination, alerts: [], id: '1', body: [{ text: '{}' }], isDigest: false },
        signal(),
      );
    },
  },
};

const openServer = async (certificate: Certificate) => {
  const server = await startHttpReceiver(() => anything, certificate);
  closers.push(server.close);
  return server;
};

const openProxy = async (certificate?: Certificate) => {
  const proxy = await startProxy(certificate);
  closers.push(proxy.close);
  return { ...proxy, url: proxy.origin.replace('//', '//tocsin:s3cr3t%40proxy@') };
};

const failureOf = async (asking: Promise<unknown>): Promise<string> => {
  const error = await asking.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(/s3cr3t|czNjcjN0/);
  return error instanceof Error ? error.message : 'it did not fail';
};

/** Some answers are no good, but they came. */
const answered = (asking: Promise<unknown>) => asking.catch(() => {});

const authority = { ...createCertificate({ name: 'Our CA' }), name: 'Our CA' };
const issued = createCertificate({ issuer: authority });
const expired = createCertificate({ issuer: authority, end: Date.now() - 1000 });
const misnamed = createCertificate({ name: 'elsewhere.example', issuer: authority });

describe.each(Object.entries(PEERS))('%s', (_name, { path, section, address, ask }) => {
  test('trusts an authority of ours', async () => {
    const server = await openServer(issued);
    expect(await failureOf(ask(server.origin + path, {}))).toContain(
      `a certificate that nobody we trust vouches for (UNABLE_TO_VERIFY_LEAF_SIGNATURE): give the certificate of its issuer in ${section}.ca`,
    );
    expect(server.arrived).toHaveLength(0);
    await answered(ask(server.origin + path, { ca: authority.cert }));
    expect(server.arrived).toHaveLength(1);
  });

  test('says which certificate is expired, and which is for another name', async () => {
    const [old, other] = [await openServer(expired), await openServer(misnamed)];
    const settings = { ca: authority.cert };
    expect(await failureOf(ask(old.origin + path, settings))).toContain(
      'a certificate that has expired (CERT_HAS_EXPIRED): renew it',
    );
    const said = await failureOf(ask(other.origin + path, settings));
    expect(said).toContain('(ERR_TLS_CERT_ALTNAME_INVALID)');
    if (address !== '')
      expect(said).toContain(
        `a certificate for another name (ERR_TLS_CERT_ALTNAME_INVALID): give a name that is in it in ${address}`,
      );
    expect([old.arrived, other.arrived]).toEqual([[], []]);
  });

  test("trusts the peer's own certificate, for another name only where we chose the address", async () => {
    const server = await openServer(misnamed);
    await answered(ask(server.origin + path, { ca: misnamed.cert }));
    expect(server.arrived).toHaveLength(address === '' ? 0 : 1);
  });

  test('goes through a proxy, of http or https, with its credentials', async () => {
    const server = await openServer(issued);
    for (const proxy of [await openProxy(), await openProxy(issued)]) {
      await answered(ask(server.origin + path, { ca: authority.cert, proxy: proxy.url }));
      expect(proxy.asked).toEqual([new URL(server.origin).host]);
      expect(proxy.credentials).toEqual([`Basic ${Buffer.from('tocsin:s3cr3t@proxy').toString('base64')}`]);
    }
    expect(server.arrived.map(({ headers }) => headers.host)).toEqual(Array(2).fill(new URL(server.origin).host));
  });

  test('names what is wrong with its proxy, and where it is set', async () => {
    const server = await openServer(issued);
    const proxy = await openProxy();
    const { host } = new URL(proxy.origin);
    proxy.refuse(407, 403);
    const settings = { ca: authority.cert, proxy: proxy.url };
    expect(await failureOf(ask(server.origin + path, settings))).toContain(
      `the proxy ${host} wants other credentials (407): correct user and password in ${section}.proxy`,
    );
    expect(await failureOf(ask(server.origin + path, settings))).toContain(
      `the proxy ${host} does not let us through (403)`,
    );
    await proxy.close();
    expect(await failureOf(ask(server.origin + path, settings))).toContain(
      `the proxy ${host} refuses connections (ECONNREFUSED): see ${section}.proxy`,
    );
    expect(server.arrived).toHaveLength(0);
  });

  test('goes through the proxy of a variable where none is set', async () => {
    const proxy = await openProxy();
    proxy.refuse(407, 407);
    const https = { url: createSecret(proxy.url), key: 'HTTPS_PROXY' };
    const far = `https://far.example${path}`;
    expect(await failureOf(ask(far, {}, { https, except: [] }))).toContain('correct user and password in HTTPS_PROXY');
    expect(await failureOf(ask(far, { proxy: proxy.url }, { https, except: ['*'] }))).toContain(`${section}.proxy`);
    // The operator's name is the proxy's to resolve; of an address from outside the proxy gets what was checked.
    expect(proxy.asked).toEqual(Array(2).fill(address === '' ? '127.0.0.1:443' : 'far.example:443'));
  });
});

test.each(Object.entries(PEERS))('%s shows our certificate where it is asked for', async (_name, { path, ask }) => {
  const own = createCertificate({ name: 'tocsin' });
  const server = await startHttpReceiver(() => anything, { ...issued, ca: own.cert, requestCert: true });
  closers.push(server.close);
  const settings = { ca: authority.cert };
  expect(await failureOf(ask(server.origin + path, settings))).toMatch(/TLS|drop/);
  expect(server.arrived).toHaveLength(0);
  await answered(ask(server.origin + path, { ...settings, cert: own.cert, key: own.key }));
  const proxy = await openProxy();
  await answered(ask(server.origin + path, { ...settings, cert: own.cert, key: own.key, proxy: proxy.url }));
  expect(server.arrived).toHaveLength(2);
});

test.each([
  [{ cert: issued.cert }, 'cert and key go together: give both or neither'],
  [{ cert: issued.cert, key: authority.key }, 'is not the key of the first certificate in cert'],
])('a pair that is none is refused: %#', (settings, says) => {
  for (const parse of [slackConfig, webhookConfig]) {
    expect(parse.safeParse(settings).error?.issues.map(({ message }) => message)).toEqual([says]);
  }
});

test('webhooks ask nobody but their proxy whether it is there', async () => {
  const verify = (settings: object) => {
    const channel = createWebhookChannel(webhookConfig.parse(settings), { post: openPost(), now: Date.now });
    return channel.verify(signal());
  };
  const proxy = await openProxy(issued);
  const { host } = new URL(proxy.origin);
  expect(await verify({ proxy: proxy.url, ca: authority.cert })).toMatch(
    new RegExp(`; goes through the proxy ${host}$`),
  );
  expect(await failureOf(verify({ proxy: proxy.url }))).toBe(
    `the proxy ${host} has a certificate that nobody we trust vouches for (UNABLE_TO_VERIFY_LEAF_SIGNATURE): give the certificate of its issuer in channels.webhook.ca`,
  );
  await proxy.close();
  const away = `the proxy ${host} refuses connections (ECONNREFUSED): see channels.webhook.proxy`;
  expect(await failureOf(verify({ proxy: proxy.url }))).toBe(away);
  expect(proxy.asked).toEqual([]);
});

test('the authority of one receiver counts for it alone, and that of all webhooks for their proxy', async () => {
  const other = createCertificate();
  const [server, proxy] = [await openServer(other), await openProxy(issued)];
  const [peer, settings] = [PEERS.webhook, { ca: authority.cert, proxy: proxy.url }];
  const url = `${server.origin}/in`;
  const receivers = { [url]: { ca: other.cert } };
  expect(await failureOf(peer?.ask(url, settings) ?? Promise.resolve())).toContain('in channels.webhook.ca');
  await peer?.ask(url, { ...settings, receivers });
  expect(server.arrived).toHaveLength(1);
  const wrong = { [url]: { ca: createCertificate().cert } };
  const said = await failureOf(peer?.ask(url, { ...settings, receivers: wrong }) ?? Promise.resolve());
  expect(said).toMatch(/in channels\.webhook\.receivers\.127\.0\.0\.1:\d+.*\.ca$/);
});
