/** Locks by name in Redis, over all daemons. A lock expires when its holder dies. */
import { randomUUID } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import { oneAtATime } from '../waiting.ts';

/**
 * Lua: which Redis this is; '' where it does not say. Another run id may be a replica that was promoted, or a server that
 * was started again, and may lack what was written last. In a Cluster it is the node that has the script's keys.
 */
export const SERVER_FUNCTION = `
local function server()
  local info = redis.pcall('INFO', 'server')
  return type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
end`;

/** KEYS the locks; ARGV[1] token, ARGV[2] milliseconds. Gives the server. */
const TAKE = `${SERVER_FUNCTION}
for i, key in ipairs(KEYS) do
  if not redis.call('SET', key, ARGV[1], 'NX', 'PX', ARGV[2]) then
    if i > 1 then redis.call('DEL', unpack(KEYS, 1, i - 1)) end
    return false
  end
end
return server()`;
const RENEW = `
for _, key in ipairs(KEYS) do if redis.call('GET', key) ~= ARGV[1] then return 0 end end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[2]) end
return 1`;
/** KEYS: what has an owner; ARGV: the owner. Deletes those that are still this owner's. */
export const RELEASE = `
for _, key in ipairs(KEYS) do if redis.call('GET', key) == ARGV[1] then redis.call('DEL', key) end end
return 1`;

/**
 * A script for `HeldLock.write`. `body`: Lua that has its own `keys` and `args`, and returns what is neither nil nor
 * false where it wrote.
 */
export const fenced = (body: string): string => `${SERVER_FUNCTION}
local locks = tonumber(ARGV[1])
for i = 1, locks do if redis.call('GET', KEYS[i]) ~= ARGV[2] then return false end end
if server() ~= ARGV[3] then return false end
local function write(keys, args)${body}
end
local answer = write({ unpack(KEYS, locks + 1) }, { unpack(ARGV, 5) })
if ARGV[4] == 'last' then for i = 1, locks do redis.call('DEL', KEYS[i]) end end
return answer`;

const LOST = 'the lock was lost to somebody else, or Redis lost what was written last';

type Args = readonly (string | number)[];

/**
 * `ttlMs`: how long a killed holder keeps the others out. A live holder renews its lock every third of it, however long
 * its work takes. Where that failed because Redis was away for longer, `renew` gives false.
 */
export const createLocks = (redis: Redis | Cluster, prefix: string, ttlMs = 10_000) => ({
  /** Takes all of the names or none: `undefined` when somebody else holds one of them. */
  take: async (names: readonly string[]) => {
    const token = randomUUID();
    const keys = names.map((name) => `${prefix}:lock:${name}`);
    const run = (script: string): Promise<unknown> => redis.eval(script, keys.length, ...keys, token, ttlMs);
    let heldAt = performance.now();
    const server = await run(TAKE);
    if (typeof server !== 'string') return undefined;
    const lost = new AbortController();
    const renew = oneAtATime(async () => {
      const askedAt = performance.now();
      const isHeld = (await run(RENEW)) === 1;
      if (isHeld) heldAt = askedAt;
      else lost.abort();
      return isHeld;
    });
    const timer = setInterval(() => void renew().catch(() => lost.abort()), ttlMs / 3);
    let isOver = false;
    const end = (): void => {
      isOver = true;
      clearInterval(timer);
    };
    const write = async (script: string, of: readonly string[], args: Args, last = ''): Promise<unknown> => {
      const own = [...keys, ...of];
      const answer = await redis.eval(script, own.length, ...own, keys.length, token, server, last, ...args);
      if (answer === null) throw new Error(LOST);
      return answer;
    };
    return {
      /** The run id of the Redis that gave it; '' where it does not say. */
      server,
      /** Prolongs the lock, which also happens by itself. False when it was lost: the holder must stop. */
      renew,
      /** The same, and asks Redis only where it was not renewed in time, as after the process stood still. */
      isHeld: async (): Promise<boolean> => !lost.signal.aborted && (performance.now() - heldAt < ttlMs / 2 || renew()),
      /** Aborts when a renewal finds it lost, or fails: somebody else may have it soon. */
      lost: lost.signal,
      /**
       * Runs a script that `fenced` made. It writes only while the lock is held, at the very Redis that gave it. Rejects
       * where the lock was lost, or the script gave nothing.
       */
      write: (script: string, of: readonly string[], args: Args): Promise<unknown> => write(script, of, args),
      /** The same, and releases the lock with it. */
      writeLast: async (script: string, of: readonly string[], args: Args): Promise<unknown> => {
        const answer = await write(script, of, args, 'last');
        end();
        return answer;
      },
      /** Once only; later calls do nothing. */
      release: async (): Promise<void> => {
        if (isOver) return;
        end();
        await run(RELEASE);
      },
    };
  },
});

export type Locks = ReturnType<typeof createLocks>;
export type HeldLock = NonNullable<Awaited<ReturnType<Locks['take']>>>;

/** Does something while the names are held; `undefined` when somebody else holds one of them. */
export const underLock = async <T>(
  locks: Pick<Locks, 'take'>,
  names: readonly string[],
  run: (held: HeldLock) => Promise<T>,
): Promise<T | undefined> => {
  const held = await locks.take(names);
  if (held === undefined) return undefined;
  try {
    return await run(held);
  } finally {
    await held.release();
  }
};
