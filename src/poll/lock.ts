/** One poll at a time for a track, over all daemons. The lock runs out by itself when its holder dies. */
import { randomUUID } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import { type Track, trackKey } from './cursor.ts';

export interface HeldLock {
  /** Prolongs it; false when it was lost, and the holder must stop. */
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

/** `ttlMs` must be longer than one request may take: the lock is renewed between pages. */
export const createPollLock = (redis: Redis | Cluster, prefix: string, ttlMs: number): PollLock => ({
  take: async (tracks) => {
    const token = randomUUID();
    const keys = tracks.map((track) => `${prefix}:lock:${trackKey(track)}`);
    const run = (script: string) => redis.eval(script, keys.length, ...keys, token, ttlMs);
    if ((await run(TAKE)) !== 1) return undefined;
    return {
      renew: async () => (await run(RENEW)) === 1,
      release: async () => {
        await run(RELEASE);
      },
    };
  },
});
