/** Lua scripts. A connection gets the text of a script once, and after that only its hash, as BullMQ does it. */
import { createHash } from 'node:crypto';
import type { ChainableCommander } from 'ioredis';
import type { RedisClient } from './connect.ts';

type Value = string | number;

export interface Script {
  /** Runs it by itself. */
  run(keys: readonly string[], ...args: readonly Value[]): Promise<unknown>;
  /** Adds it to a pipeline of the same client. */
  add(batch: ChainableCommander, keys: readonly string[], ...args: readonly Value[]): void;
}

/**
 * Lua: which Redis this is; '' where it does not say. Another run id may be a replica that was promoted, or a server that
 * was started again, and may lack what was written last. In a Cluster it is the node that has the script's keys.
 */
export const SERVER_FUNCTION = `
local function server()
  local info = redis.pcall('INFO', 'server')
  return type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
end`;

type Commands = Record<string, (keys: number, ...values: Value[]) => Promise<unknown>>;

/**
 * Makes a script known to a client. Where Redis does not know it (any more), the client sends its text again: after a
 * restart, a failover, `SCRIPT FLUSH`. Not for transactions (`MULTI`), where it could not.
 */
export const defineScript = (redis: RedisClient, lua: string): Script => {
  const name = `script:${createHash('sha1').update(lua).digest('hex')}`;
  if (!(name in redis)) redis.defineCommand(name, { lua });
  const call = (target: unknown, keys: readonly string[], args: readonly Value[]) =>
    (target as Commands)[name]?.call(target, keys.length, ...keys, ...args);
  return {
    run: async (keys, ...args) => call(redis, keys, args),
    add: (batch, keys, ...args) => {
      call(batch, keys, args);
    },
  };
};
