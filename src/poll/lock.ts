/** One poll at a time for a track, over all daemons. The lock runs out by itself when its holder dies. */
import { randomUUID } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import { type Track, trackKey } from './cursor.ts';

export interface HeldLock {
  /** Prolongs it, as happens by itself; false when it was lost, and the holder must stop. */
  renew(): Promise<boolean>;
  release(): Promise<void>;
}

export interface PollLock {
  /** All of the tracks or none: `undefined` when somebody else polls one of them. */
  take(tracks: readonly Track[]): Promise<HeldLock | undefined>;
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

/**
 * `ttlMs`: how long a killed holder keeps the others out; a live one renews it by itself, however long a page takes.
 * Where that fails (Redis was away for longer), `renew` tells.
 */
export const createPollLock = (redis: Redis | Cluster, prefix: string, ttlMs = 10_000): PollLock => ({
  take: async (tracks) => {
    const token = randomUUID();
    const keys = tracks.map((track) => `${prefix}:lock:${trackKey(track)}`);
    const run = (script: string) => redis.eval(script, keys.length, ...keys, token, ttlMs);
    if ((await run(TAKE)) !== 1) return undefined;
    let asking: Promise<boolean> | undefined;
    const renew = (): Promise<boolean> => {
      // One question at a time: without Redis they would pile up.
      asking ??= run(RENEW)
        .then((answer) => answer === 1)
        .finally(() => {
          asking = undefined;
        });
      return asking;
    };
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
