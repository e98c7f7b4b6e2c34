/** Tries each command that we need with a real write, and finds those that Redis does not let our user run. */

import { Cluster } from 'ioredis';
import { nameOfTrial, trials } from './commands.ts';
import type { RedisClient } from './connect.ts';

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
