/** Redis through a proxy of the operator's, with real servers. */
import { Redis } from 'ioredis';
import { afterEach, describe, expect, test } from 'vitest';
import { checkRedis } from '../../src/redis/check.ts';
import { connectRedis, type RedisClient } from '../../src/redis/connect.ts';
import { addressOf, type RedisSettings } from '../../src/redis/settings.ts';
import { createSecret } from '../../src/secret.ts';
import { startProxy, type TestProxy } from '../support/proxy.ts';
import { type OwnRedis, ownRedis } from '../support/redis-server.ts';
import { until } from '../support/until.ts';

const clients: RedisClient[] = [];
const servers: OwnRedis[] = [];
const proxies: TestProxy[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect();
  for (const proxy of proxies.splice(0)) await proxy.close();
  for (const server of servers.splice(0)) await server.remove();
});

const serve = async (...args: string[]): Promise<OwnRedis> => {
  const server = await ownRedis(...args);
  servers.push(server);
  return server;
};

const relay = async (port = 0): Promise<TestProxy> => {
  const proxy = await startProxy(undefined, port);
  proxies.push(proxy);
  return proxy;
};

const connect = (settings: RedisSettings, errors: string[] = []): RedisClient => {
  const redis = connectRedis(settings, { role: 'poll', onError: ({ message }) => void errors.push(message) });
  clients.push(redis);
  return redis;
};

/** Of a name that only the proxy can resolve. */
const settingsFor = ({ port }: OwnRedis, { origin }: TestProxy): RedisSettings => ({
  url: createSecret(`redis://redis.internal.example:${port}/3`),
  proxy: createSecret(origin.replace('//', '//tocsin:pa%40s@')),
});

const portOf = ({ origin }: TestProxy): number => Number(new URL(origin).port);

test('every connection is a tunnel of the proxy, also those that BullMQ copies', async () => {
  const [server, proxy] = [await serve(), await relay()];
  const client = connect(settingsFor(server, proxy));
  await client.set('a', '1');
  if (!(client instanceof Redis)) throw new Error('no single Redis');
  expect(await client.client('INFO')).toContain('db=3');
  const copy = client.duplicate();
  clients.push(copy);
  expect(await copy.get('a')).toBe('1');
  expect(proxy.asked).toEqual(Array(2).fill(`redis.internal.example:${server.port}`));
  expect(new Set(proxy.credentials)).toEqual(new Set([`Basic ${btoa('tocsin:pa@s')}`]));
});

test('while the proxy is away commands wait, and go on when it is back', async () => {
  const [server, proxy] = [await serve(), await relay()];
  const errors: string[] = [];
  const client = connect(settingsFor(server, proxy), errors);
  await client.set('a', '1');
  await proxy.close();
  const waiting = client.get('a');
  await until('an error', () => errors.some((message) => message.includes('proxy failed')));
  const again = await relay(portOf(proxy));
  expect(await waiting).toBe('1');
  expect(again.asked.length).toBeGreaterThan(0);
});

test('a node of a Cluster is reached through it', async () => {
  const [server, proxy] = [
    await serve('--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'),
    await relay(),
  ];
  const admin = connect({ url: createSecret(`redis://127.0.0.1:${server.port}`) });
  await admin.call('CLUSTER', 'ADDSLOTS', ...Array.from({ length: 16_384 }, (_, slot) => slot));
  await until('the cluster is up', async () =>
    String(await admin.call('CLUSTER', 'INFO')).includes('cluster_state:ok'),
  );
  const cluster = connect({
    cluster: { nodes: [`redis.internal.example:${server.port}`] },
    proxy: createSecret(proxy.origin),
  });
  expect(await cluster.set('{a}', '1')).toBe('OK');
  expect(proxy.asked).toContain(`127.0.0.1:${server.port}`);
});

describe('what keeps Redis away is said with the key that mends it', () => {
  const findingOf = async (settings: RedisSettings): Promise<string> => {
    const about = { address: addressOf(settings), prefix: '{tocsin}' };
    const [finding] = await checkRedis(connect(settings), about, { timeoutMs: 700 });
    return finding?.message ?? 'no finding';
  };

  test.each([
    [407, /the proxy of redis\.proxy wants other credentials \(407\): correct user and password in redis\.proxy/],
    [403, /the proxy of redis\.proxy does not let us through \(403\).*redis\.proxy/],
    [502, /the proxy of redis\.proxy cannot reach it \(502\)/],
  ])('the proxy answers %d', async (status, says) => {
    const [server, proxy] = [await serve(), await relay()];
    proxy.refuse(...Array<number>(50).fill(status));
    const finding = await findingOf(settingsFor(server, proxy));
    expect(finding).toMatch(says);
    expect(finding).not.toMatch(/pa@s|pa%40s/);
  });

  test('nobody listens where the proxy should be', async () => {
    const [server, proxy] = [await serve(), await relay()];
    await proxy.close();
    expect(await findingOf(settingsFor(server, proxy))).toMatch(/the proxy of redis\.proxy refuses connections/);
  });
});
