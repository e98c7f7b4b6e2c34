/** What goes together under `redis`: one way to it, and what that way needs. */
import { type Breach, has, mapOf, type Values } from './breach.ts';

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

export const redisBreaches = (config: Values): Breach[] => {
  const redis = mapOf(config.redis);
  return [oneRedis, saidByUrl, certificatesInUse, proxiedWay, numberedDatabase].flatMap((rule) => rule(redis));
};
