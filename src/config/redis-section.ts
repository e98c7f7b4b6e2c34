/** The section of Redis. */
import { z } from 'zod';
import { pairedKey, proxyUrl, tlsFields } from '../schema/connection.ts';
import { count, hostPort, secret } from '../schema/fields.ts';
import { type Breach, has, mapOf, type Values } from './problems.ts';

const nodes = () =>
  z
    .array(hostPort())
    .min(1)
    .describe('host:port of some of them. One that answers is enough; Tocsin learns the others from it.');

const REDIS_URL = {
  pattern: /^(rediss?:\/\/|\/)\S+$/,
  rule: 'must be a redis:// or rediss:// URL, or the path of a unix socket',
};

/** Every key has to be in one slot of a Cluster. With several pairs of braces, Redis may take another one for the hash tag. */
const ONE_HASH_TAG = /^(?!.*\{.*\{)(?!.*\}.*\})/;

/** Where the queue lives. None of `url`, `sentinel`, `cluster`: a private redis-server under `dataDir`. */
export const redisSection = z
  .strictObject({
    url: secret(REDIS_URL)
      .exactOptional()
      .describe(
        'A single Redis: redis:// (or rediss:// for TLS) with user, password and database; or the path of a unix socket. Put a URL with a password into a variable. docs/redis-keys.md has the ACL rule of the user. Left out: a variable TOCSIN_REDIS_URL stands for it, which docker-compose.yml sets.',
      ),
    sentinel: z
      .strictObject({
        name: z.string().min(1).describe('Name of the master that the Sentinels watch.'),
        nodes: nodes(),
        username: z.string().min(1).exactOptional().describe('User at the Sentinels themselves, if they have users.'),
        password: secret().exactOptional().describe('Password of the Sentinels themselves.'),
        tls: z.boolean().exactOptional().describe('TLS to the Sentinels themselves. Left out: what redis.tls says.'),
      })
      .exactOptional()
      .describe('Redis behind Sentinel, instead of url.'),
    cluster: z.strictObject({ nodes: nodes() }).exactOptional().describe('Redis Cluster, instead of url.'),
    username: z
      .string()
      .min(1)
      .exactOptional()
      .describe('User for Redis behind Sentinel or for a Cluster, if it has users. With url, put the user there.'),
    password: secret()
      .exactOptional()
      .describe('Password for Redis behind Sentinel or for a Cluster. With url, put the password there.'),
    tls: z
      .boolean()
      .exactOptional()
      .describe('TLS to Redis behind Sentinel or to a Cluster. With url, write rediss://. Left out: no TLS.'),
    database: count({ min: 0, max: 65_535 })
      .exactOptional()
      .describe('Database of Redis behind Sentinel. With url, put it there; a Cluster has only one. Left out: 0.'),
    ...tlsFields('Redis and its Sentinels'),
    proxy: proxyUrl()
      .exactOptional()
      .describe(
        'http or https URL of the proxy to a single Redis or a Cluster, with user and password if needed; not behind Sentinel. docs/private-networks.md has the rules.',
      ),
    prefix: z
      .string()
      .regex(/^[\w.:{}-]{1,64}$/, { error: 'must be 1 to 64 letters, digits or any of _ - . : { }', abort: true })
      .regex(ONE_HASH_TAG, { error: 'may hold one pair of braces at most: Redis takes the first for the hash tag' })
      .default('tocsin')
      .describe(
        'Prefix of every key in Redis. Change it to run separate systems on one Redis. Daemons with the same prefix share their work.',
      ),
  })
  .superRefine(pairedKey);

const WAYS = ['url', 'sentinel', 'cluster'] as const;
type Way = (typeof WAYS)[number];

const wayOf = (redis: Values): Way | undefined => WAYS.find((key) => has(redis, key));

const breach = (key: string, rule: string): Breach => ({ path: ['redis', key], rule });

const oneRedis = (redis: Values): Breach[] => {
  const [first, ...others] = WAYS.filter((key) => has(redis, key));
  return others.map((key) => breach(key, `may not stand beside redis.${first}`));
};

/** What a URL says by itself, and else stands beside `sentinel` or `cluster`. */
const saidByUrl = (redis: Values): Breach[] => {
  const way = wayOf(redis);
  const given = ['username', 'password', 'tls', 'database'].filter((key) => has(redis, key));
  if (way === 'sentinel') return [];
  if (way === 'cluster') {
    return given.includes('database')
      ? [breach('database', 'is only for redis.sentinel: a Cluster has one alone')]
      : [];
  }
  if (way === undefined) return given.map((key) => breach(key, 'is only for redis.sentinel or redis.cluster'));
  return given.map((key) =>
    breach(key, key === 'tls' ? 'belongs into redis.url: rediss:// is with TLS' : 'belongs into redis.url'),
  );
};

/** Why certificates would not be used. */
const unusedBecause = (redis: Values): string | undefined => {
  const way = wayOf(redis);
  if (way === undefined) return 'is only for redis.url, redis.sentinel or redis.cluster';
  // They vouch for such a proxy, too.
  if (typeof redis.proxy === 'string' && /^https:/i.test(redis.proxy)) return undefined;
  if (way === 'url') {
    // A variable that is missing is a problem of its own.
    const isPlain = typeof redis.url === 'string' && /^(redis:|\/)/i.test(redis.url);
    return isPlain ? 'has no effect without TLS: write rediss:// in redis.url' : undefined;
  }
  const isTls = redis.tls === true || mapOf(redis.sentinel).tls === true;
  return isTls ? undefined : 'has no effect without redis.tls: true';
};

const certificatesInUse = (redis: Values): Breach[] => {
  const rule = unusedBecause(redis);
  const given = rule === undefined ? [] : ['ca', 'cert', 'key'].filter((key) => has(redis, key));
  return given.map((key) => breach(key, rule ?? ''));
};

/** ioredis makes the connections to Sentinels by itself. */
const proxiedWay = (redis: Values): Breach[] => {
  if (!has(redis, 'proxy')) return [];
  const isSocket = typeof redis.url === 'string' && redis.url.startsWith('/');
  if (isSocket) return [breach('proxy', 'has no effect with a unix socket')];
  const way = wayOf(redis);
  return way === 'url' || way === 'cluster' ? [] : [breach('proxy', 'is only for redis.url or redis.cluster')];
};

/** ioredis takes a database that is no number for database 0, where another system's keys may be. */
const numberedDatabase = ({ url: text }: Values): Breach[] => {
  if (typeof text !== 'string' || !/^rediss?:\/\/\S+$/.test(text)) return [];
  const url = URL.parse(text);
  if (url === null) return [breach('url', 'is no URL; in a user or password write @ : / ? # as %40 %3A %2F %3F %23')];
  const isNumber = /^(\/\d*)?$/.test(url.pathname) && /^\d*$/.test(url.searchParams.get('db') ?? '');
  return isNumber ? [] : [breach('url', 'must name its database by a number, like redis://127.0.0.1:6379/0')];
};

/** What goes together under `redis`: one way to it, and what that way needs. */
export const redisBreaches = (config: Values): Breach[] => {
  const redis = mapOf(config.redis);
  return [oneRedis, saidByUrl, certificatesInUse, proxiedWay, numberedDatabase].flatMap((rule) => rule(redis));
};
