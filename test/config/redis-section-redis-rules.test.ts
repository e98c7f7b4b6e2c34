import { expect, test } from 'vitest';
import { redisBreaches } from '../../src/config/redis-section.ts';

const SENTINEL = { sentinel: { name: 'mymaster', nodes: ['10.0.0.1:26379'] } };
const CLUSTER = { cluster: { nodes: ['10.0.0.1:6379'] } };

test.each<[object, string[]]>([
  [{ url: 'rediss://h', ca: 'x', cert: 'x', key: 'x' }, []],
  [{ ...SENTINEL, tls: true, database: 2, username: 'u', password: 'p', ca: 'x' }, []],
  [{ sentinel: { ...SENTINEL.sentinel, tls: true }, ca: 'x' }, []],
  [{ ...CLUSTER, tls: true, password: 'p', ca: 'x' }, []],
  [{ url: 'redis://h', ca: 'x' }, ['ca has no effect without TLS: write rediss:// in redis.url']],
  [{ url: '/run/redis.sock', key: 'x' }, ['key has no effect without TLS: write rediss:// in redis.url']],
  // Its variable is missing.
  [{ url: undefined, ca: 'x' }, []],
  [{ url: 'rediss://h', tls: true }, ['tls belongs into redis.url: rediss:// is with TLS']],
  [{ url: 'rediss://h', database: 2 }, ['database belongs into redis.url']],
  [{ ...SENTINEL, cert: 'x' }, ['cert has no effect without redis.tls: true']],
  [{ ...CLUSTER, ca: 'x', tls: false }, ['ca has no effect without redis.tls: true']],
  [{ ...CLUSTER, database: 2 }, ['database is only for redis.sentinel: a Cluster has one alone']],
  [{ tls: true }, ['tls is only for redis.sentinel or redis.cluster']],
  [{ url: 'rediss://h', proxy: 'http://p:1' }, []],
  [{ ...CLUSTER, proxy: 'http://p:1' }, []],
  [{ url: 'redis://h', proxy: 'https://p:1', ca: 'x' }, []],
  [{ url: undefined, proxy: 'http://p:1' }, []],
  [{ url: '/run/redis.sock', proxy: 'http://p:1' }, ['proxy has no effect with a unix socket']],
  [{ ...SENTINEL, proxy: 'http://p:1' }, ['proxy is only for redis.url or redis.cluster']],
  [{ proxy: 'http://p:1' }, ['proxy is only for redis.url or redis.cluster']],
  [{ ca: 'x' }, ['ca is only for redis.url, redis.sentinel or redis.cluster']],
])('%j', (redis, expected) =>
  expect(redisBreaches({ redis }).map(({ path, rule }) => `${path.at(-1)} ${rule}`)).toEqual(expected),
);
