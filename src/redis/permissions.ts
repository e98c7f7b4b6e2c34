/**
 * Every command that a daemon and BullMQ send, also from within scripts: what a Redis user must be allowed. Each stands
 * here as a trial on keys of its own, so that what is listed and what is tried cannot differ.
 */
import { createHash } from 'node:crypto';
import { Cluster } from 'ioredis';
import type { RedisClient } from './connect.ts';

const SCRIPT = 'return redis.call("EXISTS",KEYS[1])';

/**
 * In this order; a name after `@` is a key. Should a later command be refused, the keys go by themselves. BZPOPMIN never
 * waits: something is in its key, or nothing could be added.
 */
const TRIALS = `
PING | INFO server | CLIENT SETNAME $name | CLIENT LIST
SET @string 1 PX 60000 | GET @string | MGET @string | EXISTS @string | TYPE @string | PERSIST @string | EXPIRE @string 60
PEXPIRE @string 60000 | TTL @string | PTTL @string | INCR @counter | PEXPIRE @counter 60000
HSET @hash a 1 | PEXPIRE @hash 60000 | HSETNX @hash b 1 | HMSET @hash c 1 | HINCRBY @hash a 1 | HGET @hash a
HMGET @hash a b | HGETALL @hash | HKEYS @hash | HVALS @hash | HLEN @hash | HEXISTS @hash a | HDEL @hash b
RENAME @hash @renamed
RPUSH @list a b c d | PEXPIRE @list 60000 | LPUSH @list e | LLEN @list | LRANGE @list 0 -1 | LINDEX @list 0 | LPOS @list a
LSET @list 0 f | LREM @list 1 a | LTRIM @list 0 10 | RPOPLPUSH @list @list | LPOP @list | RPOP @list
SADD @set a | PEXPIRE @set 60000 | SCARD @set | SISMEMBER @set a | SMEMBERS @set | SREM @set a
ZADD @sorted 1 a 2 b 3 c | PEXPIRE @sorted 60000 | ZCARD @sorted | ZCOUNT @sorted -inf +inf | ZSCORE @sorted a
ZMSCORE @sorted a | ZRANGE @sorted 0 -1 | ZREVRANGE @sorted 0 -1 | ZRANGEBYSCORE @sorted -inf +inf
ZREVRANGEBYSCORE @sorted +inf -inf | ZPOPMIN @sorted | BZPOPMIN @sorted 0.01 | ZREM @sorted a
ZREMRANGEBYRANK @sorted 1 1 | ZREMRANGEBYSCORE @sorted -inf 0
XADD @stream * a 1 | PEXPIRE @stream 60000 | XREAD COUNT 1 STREAMS @stream 0 | XREVRANGE @stream + - COUNT 1
XTRIM @stream MAXLEN 1
EVAL $script 1 @string | EVALSHA $sha 1 @string | DEL @string
UNLINK @string @counter @hash @renamed @list @set @sorted @stream`;

type Trial = readonly [command: string, ...args: string[]];

/** `base` is where their keys begin. */
const trials = (base: string, connectionName: string): Trial[] => {
  const values: Record<string, string> = {
    $name: connectionName,
    $script: SCRIPT,
    $sha: createHash('sha1').update(SCRIPT).digest('hex'),
  };
  const textOf = (word: string): string => (word.startsWith('@') ? `${base}:${word.slice(1)}` : (values[word] ?? word));
  return TRIALS.trim()
    .split(/ \| |\n/)
    .map((trial) => trial.split(' ').map(textOf) as [string, ...string[]]);
};

/** Of a container command, its subcommand counts: CLIENT LIST. */
const nameOfTrial = ([command, first]: Trial): string => (command === 'CLIENT' ? `${command} ${first}` : command);

/** What our user must be allowed, as an ACL rule spells it. What a connection begins with Redis allows everybody. */
export const NEEDED: readonly string[] = [
  ...new Set([...trials('', '').map(nameOfTrial), 'MULTI', 'EXEC'].map((name) => name.toLowerCase().replace(' ', '|'))),
];

interface Refused {
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
  const asked = redis.multi().exists(key).exec();
  const said = await asked.then(() => '', String);
  if (/EXEC without MULTI|'multi'/i.test(said)) return ['MULTI'];
  return /'exec'/i.test(said) ? ['EXEC'] : [];
};

/**
 * Tries each command that we need with a real write, and finds those that Redis does not let our user run. `base` is where
 * the keys of the trials begin.
 */
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
