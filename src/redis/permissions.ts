/**
 * Every command that a daemon and BullMQ send, also from within scripts: what a Redis user must be allowed. Each stands
 * here as a trial on keys of its own, so that what is listed and what is tried cannot differ.
 */
import { createHash } from 'node:crypto';
import { Cluster } from 'ioredis';
import type { RedisClient } from './connect.ts';

export type Trial = readonly [command: string, ...args: string[]];

const SCRIPT = 'return redis.call("EXISTS", KEYS[1])';
/** Should a trial's last command be refused, its keys go by themselves. */
const KEPT_MS = '60000';

const strings = (key: string, counter: string): Trial[] => [
  ['SET', key, '1', 'PX', KEPT_MS],
  ['GET', key],
  ['MGET', key],
  ['EXISTS', key],
  ['TYPE', key],
  ['PERSIST', key],
  ['EXPIRE', key, '60'],
  ['PEXPIRE', key, KEPT_MS],
  ['TTL', key],
  ['PTTL', key],
  ['INCR', counter],
  ['PEXPIRE', counter, KEPT_MS],
];

const hashes = (key: string): Trial[] => [
  ['HSET', key, 'a', '1'],
  ['PEXPIRE', key, KEPT_MS],
  ['HSETNX', key, 'b', '1'],
  ['HMSET', key, 'c', '1'],
  ['HINCRBY', key, 'a', '1'],
  ['HGET', key, 'a'],
  ['HMGET', key, 'a', 'b'],
  ['HGETALL', key],
  ['HKEYS', key],
  ['HVALS', key],
  ['HLEN', key],
  ['HEXISTS', key, 'a'],
  ['HDEL', key, 'b'],
];

const lists = (key: string): Trial[] => [
  ['RPUSH', key, 'a', 'b', 'c', 'd'],
  ['PEXPIRE', key, KEPT_MS],
  ['LPUSH', key, 'e'],
  ['LLEN', key],
  ['LRANGE', key, '0', '-1'],
  ['LINDEX', key, '0'],
  ['LPOS', key, 'a'],
  ['LSET', key, '0', 'f'],
  ['LREM', key, '1', 'a'],
  ['LTRIM', key, '0', '10'],
  ['RPOPLPUSH', key, key],
  ['LPOP', key],
  ['RPOP', key],
];

const sets = (key: string): Trial[] => [
  ['SADD', key, 'a'],
  ['PEXPIRE', key, KEPT_MS],
  ['SCARD', key],
  ['SISMEMBER', key, 'a'],
  ['SMEMBERS', key],
  ['SREM', key, 'a'],
];

const sortedSets = (key: string): Trial[] => [
  ['ZADD', key, '1', 'a', '2', 'b', '3', 'c'],
  ['PEXPIRE', key, KEPT_MS],
  ['ZCARD', key],
  ['ZCOUNT', key, '-inf', '+inf'],
  ['ZSCORE', key, 'a'],
  ['ZMSCORE', key, 'a'],
  ['ZRANGE', key, '0', '-1'],
  ['ZREVRANGE', key, '0', '-1'],
  ['ZRANGEBYSCORE', key, '-inf', '+inf'],
  ['ZREVRANGEBYSCORE', key, '+inf', '-inf'],
  ['ZPOPMIN', key],
  // Never waits: something is in it, or nothing could be added.
  ['BZPOPMIN', key, '0.01'],
  ['ZREM', key, 'a'],
  ['ZREMRANGEBYRANK', key, '1', '1'],
  ['ZREMRANGEBYSCORE', key, '-inf', '0'],
];

const streams = (key: string): Trial[] => [
  ['XADD', key, '*', 'a', '1'],
  ['PEXPIRE', key, KEPT_MS],
  ['XREAD', 'COUNT', '1', 'STREAMS', key, '0'],
  ['XREVRANGE', key, '+', '-', 'COUNT', '1'],
  ['XTRIM', key, 'MAXLEN', '1'],
];

/** In this order. `base` is where their keys begin. */
const trials = (base: string, connectionName: string): Trial[] => {
  const key = (of: string): string => `${base}:${of}`;
  const all = ['string', 'counter', 'hash', 'renamed', 'list', 'set', 'sorted-set', 'stream'].map(key);
  return [
    ['PING'],
    ['INFO', 'server'],
    ['CLIENT', 'SETNAME', connectionName],
    ['CLIENT', 'LIST'],
    ...strings(key('string'), key('counter')),
    ...hashes(key('hash')),
    ['RENAME', key('hash'), key('renamed')],
    ...lists(key('list')),
    ...sets(key('set')),
    ...sortedSets(key('sorted-set')),
    ...streams(key('stream')),
    ['EVAL', SCRIPT, '1', key('string')],
    ['EVALSHA', createHash('sha1').update(SCRIPT).digest('hex'), '1', key('string')],
    ['DEL', key('string')],
    ['UNLINK', ...all],
  ];
};

/** Of a container command, its subcommand counts: CLIENT LIST. */
const nameOfTrial = ([command, first]: Trial): string => (command === 'CLIENT' ? `${command} ${first}` : command);

/** What our user must be allowed, as an ACL rule spells it. Whatever a connection begins with Redis allows everybody. */
export const NEEDED: readonly string[] = [
  ...new Set([...trials('', '').map(nameOfTrial), 'MULTI', 'EXEC'].map((name) => name.toLowerCase().replace(' ', '|'))),
];

// Tries each command that we need with a real write, and finds those that Redis does not let our user run.

export interface Refused {
  /** Commands that this user may not run, or that this server does not have. */
  commands: string[];
  /** Keys of ours are out of bounds. */
  isKeyRefused: boolean;
  /** What the server says to any write now, such as OOM, READONLY or MISCONF. */
  unwritable?: string;
}

/** Each server version has its own words for it. */
const REFUSED = /^NOPERM /;
const ABOUT_COMMAND = /\brun the '/;
const UNKNOWN = /unknown (sub)?command/i;
const UNWRITABLE = /^(OOM|READONLY|MISCONF|NOREPLICAS|CLUSTERDOWN)\b/;

interface Failure {
  command: string;
  said: string;
}

/** It keeps the name that it has. */
const connectionName = (redis: RedisClient): string =>
  (redis instanceof Cluster ? redis.options.redisOptions : redis.options)?.connectionName ?? 'tocsin';

const tryEach = async (redis: RedisClient, base: string): Promise<Failure[]> => {
  const all = trials(base, connectionName(redis));
  const batch = redis.pipeline();
  for (const [command, ...args] of all) batch.call(command, ...args);
  const answers = (await batch.exec()) ?? [];
  return all.flatMap((trial, index) => {
    const error = answers[index]?.[0];
    return error ? [{ command: nameOfTrial(trial), said: error.message }] : [];
  });
};

/** MULTI and EXEC frame other commands, so they cannot be tried among them. */
const tryTransaction = async (redis: RedisClient, key: string): Promise<string[]> => {
  const said = await redis
    .multi()
    .exists(key)
    .exec()
    .then(
      () => '',
      (error: unknown) => String(error),
    );
  if (/EXEC without MULTI|'multi'/i.test(said)) return ['MULTI'];
  return /'exec'/i.test(said) ? ['EXEC'] : [];
};

/** `base` is where the keys of the trials begin. */
export const refusedOf = async (redis: RedisClient, base: string): Promise<Refused> => {
  const failures = await tryEach(redis, base);
  const isRefused = ({ said }: Failure): boolean =>
    UNKNOWN.test(said) || (REFUSED.test(said) && ABOUT_COMMAND.test(said));
  const commands = failures.filter(isRefused).map(({ command }) => command);
  const unwritable = failures.find(({ said }) => UNWRITABLE.test(said))?.said;
  return {
    commands: [...new Set([...commands, ...(await tryTransaction(redis, base))])],
    isKeyRefused: failures.some((one) => REFUSED.test(one.said) && !isRefused(one)),
    ...(unwritable === undefined ? {} : { unwritable }),
  };
};
