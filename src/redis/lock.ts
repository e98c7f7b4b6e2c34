/** Locks by name in Redis, over all daemons. A lock expires when its holder dies. */
import { randomUUID } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';

export interface HeldLock {
  /** Prolongs the lock, which also happens by itself. False when it was lost: the holder must stop. */
  renew(): Promise<boolean>;
  release(): Promise<void>;
}

export interface Locks {
  /** Takes all of the names or none: `undefined` when somebody else holds one of them. */
  take(names: readonly string[]): Promise<HeldLock | undefined>;
}

/** KEYS the locks; ARGV[1] token, ARGV[2] milliseconds. */
const TAKE = `
for _, key in ipairs(KEYS) do if redis.call('EXISTS', key) == 1 then return 0 end end
for _, key in ipairs(KEYS) do redis.call('SET', key, ARGV[1], 'PX', ARGV[2]) end
return 1`;
const RENEW = `
for _, key in ipairs(KEYS) do if redis.call('GET', key) ~= ARGV[1] then return 0 end end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[2]) end
return 1`;
const RELEASE = `
for _, key in ipairs(KEYS) do if redis.call('GET', key) == ARGV[1] then redis.call('DEL', key) end end
return 1`;

/** Concurrent calls share one run: without Redis they would pile up. */
const oneAtATime = <T>(run: () => Promise<T>): (() => Promise<T>) => {
  let running: Promise<T> | undefined;
  return () => {
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };
};

/**
 * `ttlMs`: how long a killed holder keeps the others out. A live holder renews its lock every third of it, however long
 * its work takes. Where that failed because Redis was away for longer, `renew` gives false.
 */
export const createLocks = (redis: Redis | Cluster, prefix: string, ttlMs = 10_000): Locks => ({
  take: async (names) => {
    const token = randomUUID();
    const keys = names.map((name) => `${prefix}:lock:${name}`);
    const run = async (script: string): Promise<boolean> =>
      (await redis.eval(script, keys.length, ...keys, token, ttlMs)) === 1;
    if (!(await run(TAKE))) return undefined;
    const renew = oneAtATime(() => run(RENEW));
    const timer = setInterval(() => void renew().catch(() => {}), ttlMs / 3);
    return {
      renew,
      release: async () => {
        clearInterval(timer);
        await run(RELEASE);
      },
    };
  },
});
