/**
 * Jobs whose worker is gone. BullMQ starts them again when their locks have expired and two of its checks have passed;
 * here their locks go at once, and the next check takes them.
 */
import type { RedisClient } from '../redis/connect.ts';

/**
 * KEYS: active jobs, stalled jobs, when BullMQ last checked; ARGV: where keys of jobs begin, then ids of workers. The token
 * of a lock is WORKER:NUMBER.
 */
const FREE = `
local dead, freed = {}, 0
for i = 2, #ARGV do dead[ARGV[i]] = true end
for _, id in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  local lock = ARGV[1] .. id .. ':lock'
  local worker = string.match(redis.call('GET', lock) or '', '^(.*):%d+$')
  if worker and dead[worker] then
    redis.call('DEL', lock)
    redis.call('SADD', KEYS[2], id)
    freed = freed + 1
  end
end
if freed > 0 then redis.call('DEL', KEYS[3]) end
return freed`;

export interface AbandonedJobs {
  /** Frees the jobs of a queue that these workers ran. Gives how many; BullMQ's next check starts them. */
  free(queue: string, workers: readonly string[]): Promise<number>;
}

export const createAbandonedJobs = (redis: RedisClient, prefix: string): AbandonedJobs => ({
  free: async (queue, workers) => {
    if (workers.length === 0) return 0;
    const base = `${prefix}:${queue}:`;
    const keys = ['active', 'stalled', 'stalled-check'].map((name) => base + name);
    return Number(await redis.eval(FREE, keys.length, ...keys, base, ...workers));
  },
});
