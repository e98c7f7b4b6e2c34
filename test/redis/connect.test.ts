import { Cluster, type Redis } from 'ioredis';
import { afterEach, describe, expect, inject, onTestFinished, test } from 'vitest';
import type { RedisClient } from '../../src/redis/connect.ts';
import { connectRedis, keyPrefix } from '../../src/redis/connect.ts';
import { addressOf, type RedisSettings } from '../../src/redis/settings.ts';
import { createSecret } from '../../src/secret.ts';
import { freePort, type OwnRedis, ownRedis, ownSentinel } from '../support/redis-server.ts';
import { until } from '../support/until.ts';

const clients: RedisClient[] = [];
const servers: OwnRedis[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect();
  for (const server of servers.splice(0).toReversed()) await server.remove();
});

const serve = async (...args: string[]): Promise<OwnRedis> => {
  const server = await ownRedis(...args);
  servers.push(server);
  return server;
};

const connect = (settings: RedisSettings, onError: (error: Error, times: number) => void = () => {}): RedisClient => {
  const redis = connectRedis(settings, { role: 'poll', onError });
  clients.push(redis);
  return redis;
};

const urlOf = (server: OwnRedis, credentials = ''): RedisSettings => ({
  url: createSecret(`redis://${credentials}127.0.0.1:${server.port}`),
});

describe('keyPrefix', () => {
  test('puts the prefix into one slot of a cluster', () => {
    expect(keyPrefix('tocsin')).toBe('{tocsin}');
  });

  test('leaves a tag of the operator alone', () => {
    expect(keyPrefix('prod:{tocsin}')).toBe('prod:{tocsin}');
  });

  test('knows that empty braces are no tag', () => {
    expect(keyPrefix('a{}')).toBe('{a{}}');
  });
});

describe('addressOf', () => {
  const address = (url: string) => addressOf({ url: createSecret(url) });

  test('shows no user and no password', () => {
    expect(address('redis://user:pa55@redis.example:6380/3')).toBe('redis.example:6380/3');
    expect(address('rediss://:pa55@redis.example')).toBe('redis.example:6379');
    expect(address('redis://redis.example/?password=pa55')).toBe('redis.example:6379');
    expect(address('/run/redis.sock?password=pa55')).toBe('/run/redis.sock');
  });

  test('of a URL that cannot be taken apart it shows nothing', () => {
    for (const url of [
      'redis://:pa/55@redis.example',
      'redis://user:12/55@h',
      'redis://:pa@55@h',
      'redis://:pa#55@h',
    ]) {
      expect(address(url)).toBe('the Redis of redis.url');
    }
  });

  test('knows Sentinels, Clusters and sockets', () => {
    expect(addressOf({ sentinel: { name: 'mymaster', nodes: ['a:1', 'b:2'] } })).toBe('mymaster behind a:1, b:2');
    expect(addressOf({ cluster: { nodes: ['a:1', 'b:2'] } })).toBe('a:1, b:2');
    expect(addressOf({ socketPath: '/run/redis.sock' })).toBe('/run/redis.sock');
  });
});

describe('connectRedis', () => {
  test('writes what is asked in one tick to the socket at once, also after a reconnection', async () => {
    const redis = connect({ socketPath: inject('redisSocket') }) as Redis;
    for (const round of ['first', 'second']) {
      await redis.ping();
      let writes = 0;
      const { stream } = redis;
      const { _writev, _write } = stream;
      stream._writev = (...all) => {
        writes += 1;
        _writev?.apply(stream, all);
      };
      stream._write = (...all) => {
        writes += 1;
        _write.apply(stream, all);
      };
      const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => redis.echo(`${round} ${n}`)));
      expect(answers).toEqual(Array.from({ length: 20 }, (_, n) => `${round} ${n}`));
      expect(writes).toBe(1);
      stream.destroy();
    }
  });

  test('names its connection by role, over a unix socket', async () => {
    const redis = connect({ socketPath: inject('redisSocket') });
    expect(await redis.call('CLIENT', 'GETNAME')).toBe('tocsin:poll');
  });

  test('takes the path of a unix socket for a URL', async () => {
    expect(await connect({ url: createSecret(inject('redisSocket')) }).ping()).toBe('PONG');
  });

  test('signs in with the password and takes the database from the URL', async () => {
    const server = await serve('--requirepass', 'pa55 word');
    const redis = connect({ url: createSecret(`redis://:pa55%20word@127.0.0.1:${server.port}/3`) });
    expect(await redis.call('CLIENT', 'INFO')).toMatch(/ db=3 /);
  });

  test('never works in database 0 instead of one that there is not', async () => {
    const server = await serve('--requirepass', 'right');
    const told: string[] = [];
    const url = createSecret(`redis://:right@127.0.0.1:${server.port}/99`);
    const redis = connect({ url }, ({ message }) => told.push(message));
    await expect(redis.set('stray', '1')).rejects.toThrow('DB index is out of range');
    await until('it has tried again', () => told.length > 0 && redis.status === 'reconnecting');
    await expect(redis.set('stray', '2')).rejects.toThrow('DB index is out of range');
    expect(await connect(urlOf(server, ':right@')).dbsize()).toBe(0);
    expect(told).toEqual(['ERR DB index is out of range']);
  });

  test('a command given while Redis is away is done when it is back', async () => {
    const server = await serve('--appendonly', 'yes');
    const redis = connect(urlOf(server));
    await redis.set('before', '1');
    await server.kill('SIGKILL');
    const [set, before] = [redis.set('during', '2'), redis.get('before')];
    await server.start();
    expect(await Promise.all([set, before])).toEqual(['OK', '1']);
  });

  test('waits for a Redis that is not there yet', async () => {
    const server = await serve();
    await server.kill('SIGKILL');
    const redis = connect(urlOf(server));
    const answer = redis.ping();
    await server.start();
    expect(await answer).toBe('PONG');
  });

  test('reports an outage once, not with every try', async () => {
    const told: string[] = [];
    const port = await freePort();
    const redis = connect({ url: createSecret(`redis://127.0.0.1:${port}`) }, ({ message }) => told.push(message));
    let tries = 0;
    redis.on('reconnecting', () => {
      tries += 1;
    });
    await until('six tries', () => tries >= 6);
    expect(told).toEqual([`connect ECONNREFUSED 127.0.0.1:${port}`]);
  });

  test('finds the master through a sentinel', async () => {
    const master = await serve();
    const sentinel = await ownSentinel(master);
    servers.push(sentinel);
    const redis = connect({ sentinel: { name: 'mymaster', nodes: [`127.0.0.1:${sentinel.port}`] } });
    await redis.set('by', 'sentinel');
    expect(await connect(urlOf(master)).get('by')).toBe('sentinel');
  });

  test('works on a cluster, whose scripts need the hash tag', async () => {
    const node = await serve('--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1');
    await connect(urlOf(node)).call('CLUSTER', 'ADDSLOTS', ...Array.from({ length: 16_384 }, (_, slot) => slot));
    const redis = connect({ cluster: { nodes: [`127.0.0.1:${node.port}`] } });
    expect(redis).toBeInstanceOf(Cluster);
    const prefix = keyPrefix('tocsin');
    expect(await redis.mset(`${prefix}:a`, '1', `${prefix}:b`, '2')).toBe('OK');
    expect(await redis.mget(`${prefix}:a`, `${prefix}:b`)).toEqual(['1', '2']);
    await expect(redis.mset('a', '1', 'b', '2')).rejects.toThrow(/CROSSSLOT/);
  });

  test('a connection to a cluster that is down for a moment settles: BullMQ waits for it, and would wait for ever', async () => {
    const node = await serve('--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1');
    const admin = connect(urlOf(node));
    await admin.call('CLUSTER', 'ADDSLOTS', ...Array.from({ length: 16_384 }, (_, slot) => slot));
    const redis = connect({ cluster: { nodes: [`127.0.0.1:${node.port}`] } });
    await redis.set('{tocsin}:a', '1');
    redis.disconnect();
    await until('it is disconnected', () => redis.status === 'end');
    await admin.call('CLUSTER', 'DELSLOTS', 0);
    await until('the cluster is down', async () => String(await admin.call('CLUSTER', 'INFO')).includes('state:fail'));
    const connecting = redis.connect();
    // The client finds the cluster down, and tries again by itself.
    await until('it has tried', () => redis.status === 'ready' || redis.status === 'reconnecting');
    await admin.call('CLUSTER', 'ADDSLOTS', 0);
    await connecting;
    expect(await redis.get('{tocsin}:a')).toBe('1');
  });

  test('refuses to guess where Redis is', () => {
    expect(() => connectRedis({}, { role: 'poll', onError: () => {} })).toThrow(/no Redis is named/);
  });
});

test('after a failover, each write that was refused is repeated, and Node warns of nothing', async () => {
  const server = await serve();
  const [redis, other] = [connect(urlOf(server)), connect(urlOf(server))];
  if (redis instanceof Cluster || other instanceof Cluster) throw new Error('it is a single server');
  const warnings: string[] = [];
  const onWarning = ({ message }: Error): void => void warnings.push(message);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  await redis.replicaof('127.0.0.1', 1);
  const writes = Array.from({ length: 20 }, (_, n) => redis.set(`{t}:${n}`, 1));
  await until('it connects again', () => redis.status !== 'ready');
  await other.replicaof('NO', 'ONE');
  expect(await Promise.all(writes)).toEqual(writes.map(() => 'OK'));
  expect(warnings).toEqual([]);
});
