/** Redis with TLS: certificates of our own, also behind Sentinel and of a Cluster, with real servers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkRedis } from '../../src/redis/check.ts';
import { connectRedis, keyPrefix, type RedisClient } from '../../src/redis/connect.ts';
import { addressOf, type RedisSettings } from '../../src/redis/settings.ts';
import { createSecret } from '../../src/secret.ts';
import { createCertificate } from '../support/certificate.ts';
import { startProxy } from '../support/proxy.ts';
import { lacksTls, type OwnRedis, ownSentinel, ownTlsRedis } from '../support/redis-server.ts';
import { until } from '../support/until.ts';

const directory = mkdtempSync(join(tmpdir(), 'tocsin-tls-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const authority = { ...createCertificate({ name: 'Our CA' }), name: 'Our CA' };
const server = createCertificate({ issuer: authority });
const own = createCertificate({ name: 'tocsin', issuer: authority });
const file = (name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
};

/** Clients have to show a certificate of the authority. */
const TLS = [
  ...['--tls-cert-file', file('cert.pem', server.cert), '--tls-key-file', file('key.pem', server.key)],
  ...['--tls-ca-cert-file', file('ca.pem', authority.cert), '--tls-replication', 'yes', '--tls-cluster', 'yes'],
];
/** The same as lines of a file. */
const TLS_LINES = TLS.flatMap((word, index) => (index % 2 === 0 ? [`${word.slice(2)} ${TLS[index + 1]}`] : []));

const missing = lacksTls();
beforeEach(({ skip }) => {
  if (missing !== undefined) skip(missing);
});

const clients: RedisClient[] = [];
const servers: OwnRedis[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect();
  for (const each of servers.splice(0).toReversed()) await each.remove();
});

const serve = async (starting: Promise<OwnRedis>): Promise<OwnRedis> => {
  const started = await starting;
  servers.push(started);
  return started;
};

const connect = (settings: RedisSettings): RedisClient => {
  const redis = connectRedis(settings, { role: 'poll', onError: () => {} });
  clients.push(redis);
  return redis;
};

const OURS = { ca: authority.cert, cert: own.cert, key: createSecret(own.key) };
const secret = createSecret;

const findingOf = async (settings: RedisSettings) => {
  const [finding] = await checkRedis(
    connect(settings),
    { address: addressOf(settings), prefix: '{tocsin}' },
    { timeoutMs: 700 },
  );
  return finding?.message ?? 'no finding';
};

describe('rediss', () => {
  test('trusts an authority of ours and shows our certificate, by user, password and database', async () => {
    const redis = await serve(ownTlsRedis(TLS, '--requirepass', 'pa55'));
    const url = secret(`rediss://:pa55@localhost:${redis.port}/3`);
    const client = connect({ url, ...OURS });
    await client.set('a', '1');
    expect(String(await client.client('INFO'))).toContain('db=3');
    // BullMQ makes its own connections of ours.
    if (!(client instanceof Redis)) throw new Error('no single Redis');
    const copy = client.duplicate();
    clients.push(copy);
    expect(await copy.get('a')).toBe('1');
  });

  test('is spoken inside the tunnel of a proxy', async () => {
    const redis = await serve(ownTlsRedis(TLS));
    const proxy = await startProxy();
    const url = secret(`rediss://localhost:${redis.port}`);
    try {
      const client = connect({ url, ...OURS, proxy: secret(proxy.origin) });
      expect(await client.ping()).toBe('PONG');
      expect(await findingOf({ url, proxy: secret(proxy.origin) })).toContain('redis.ca');
      expect(proxy.asked).toContain(`localhost:${redis.port}`);
    } finally {
      for (const client of clients.splice(0)) client.disconnect();
      await proxy.close();
    }
  });

  test.each<[string, Partial<RedisSettings>, RegExp]>([
    ['an authority', {}, /that nobody we trust vouches for \(\w+\): give the certificate of its issuer in redis\.ca/],
    ['our certificate', { ca: authority.cert }, /TLS handshake.*see redis\.cert|drops the connection/],
  ])('without %s says which key mends it', async (_what, settings, says) => {
    const redis = await serve(ownTlsRedis(TLS));
    expect(await findingOf({ url: secret(`rediss://localhost:${redis.port}`), ...settings })).toMatch(says);
  });

  test('with a certificate for another name, or an old one, says so', async () => {
    const pair = (name: string, options: Parameters<typeof createCertificate>[0]) => {
      const { cert, key } = createCertificate({ issuer: authority, ...options });
      return ['--tls-cert-file', file(`${name}.pem`, cert), '--tls-key-file', file(`${name}-key.pem`, key)];
    };
    const rest = ['--tls-ca-cert-file', join(directory, 'ca.pem')];
    const misnamed = await serve(ownTlsRedis([...pair('misnamed', { name: 'elsewhere.example' }), ...rest]));
    const old = await serve(ownTlsRedis([...pair('old', { end: Date.now() - 1000 }), ...rest]));
    const urlOf = ({ port }: OwnRedis) => secret(`rediss://127.0.0.1:${port}`);
    expect(await findingOf({ url: urlOf(misnamed), ...OURS })).toContain('(ERR_TLS_CERT_ALTNAME_INVALID): give a name');
    expect(await findingOf({ url: urlOf(old), ...OURS })).toContain('(CERT_HAS_EXPIRED): renew it');
  });
});

describe('behind Sentinel', () => {
  const start = async () => {
    const master = await serve(ownTlsRedis(TLS, '--requirepass', 'pa55', '--masterauth', 'pa55'));
    const asked = [...TLS_LINES, 'requirepass s3ntinel', 'sentinel auth-pass mymaster pa55'];
    const sentinel = await serve(ownSentinel(master, asked, 'tls-port'));
    const nodes = [`localhost:${sentinel.port}`];
    return { master, nodes };
  };

  test('TLS, passwords of both, and a database', async () => {
    const { master, nodes } = await start();
    const sentinel = { name: 'mymaster', nodes, password: secret('s3ntinel') };
    const redis = connect({ sentinel, tls: true, password: secret('pa55'), database: 2, ...OURS });
    await redis.set('by', 'sentinel');
    const straight = connect({ url: secret(`rediss://:pa55@127.0.0.1:${master.port}/2`), ...OURS });
    expect(await straight.get('by')).toBe('sentinel');
  });

  test('says what the Sentinels refuse, and whom it does not trust', async () => {
    const { nodes } = await start();
    const settings = { tls: true, password: secret('pa55') };
    const wrong = { name: 'mymaster', nodes, password: secret('wrong') };
    expect(await findingOf({ sentinel: wrong, ...settings, ...OURS })).toContain('WRONGPASS');
    expect(await findingOf({ sentinel: { name: 'mymaster', nodes }, ...settings, ...OURS })).toContain('NOAUTH');
    const right = { ...wrong, password: secret('s3ntinel') };
    expect(await findingOf({ sentinel: right, ...settings })).toContain('redis.ca');
  });
});

test('a Cluster with TLS and a password', async () => {
  const cluster = ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1', '--requirepass', 'pa55'];
  const node = await serve(ownTlsRedis(TLS, ...cluster));
  const admin = connect({ url: secret(`rediss://:pa55@127.0.0.1:${node.port}`), ...OURS });
  await admin.call('CLUSTER', 'ADDSLOTS', ...Array.from({ length: 16_384 }, (_, slot) => slot));
  await until('the cluster is whole', async () => String(await admin.call('CLUSTER', 'INFO')).includes('state:ok'));
  const settings = { cluster: { nodes: [`localhost:${node.port}`] }, tls: true, password: secret('pa55') };
  const redis = connect({ ...settings, ...OURS });
  await redis.set(`${keyPrefix('tocsin')}:a`, '1');
  expect(await redis.get(`${keyPrefix('tocsin')}:a`)).toBe('1');
  expect(await findingOf(settings)).toContain('redis.ca');
});
