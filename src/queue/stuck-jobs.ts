/** Jobs that BullMQ would start too late: those whose worker is gone, and those that wait by a clock that was set back. */
import type { RedisClient } from '../redis/connect.ts';
import { CLOCKS_DIFFER_MS } from '../time.ts';
import { queueKey } from './settings.ts';

/**
 * KEYS: active jobs, stalled jobs, when BullMQ last checked, the marker that wakes workers; ARGV: where keys of jobs begin,
 * then ids of workers. The token of a lock is WORKER:NUMBER. The marker wakes a worker in any case: one that is gone may
 * have been the one that waited for the next delayed job.
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
redis.call('ZADD', KEYS[4], 0, '0')
return freed`;

/**
 * Jobs whose worker is gone. BullMQ starts them again when their locks have expired and two of its checks have passed; here
 * their locks go at once, and the next check takes them.
 */
export const createAbandonedJobs = (redis: RedisClient, prefix: string) => ({
  /** Frees the jobs of a queue that these workers ran. Gives how many; BullMQ's next check starts them. */
  free: async (queue: string, workers: readonly string[]): Promise<number> => {
    if (workers.length === 0) return 0;
    const keys = ['active', 'stalled', 'stalled-check', 'marker'].map((name) => queueKey(prefix, queue, name));
    return Number(await redis.eval(FREE, keys.length, ...keys, queueKey(prefix, queue, ''), ...workers));
  },
});

interface OverlongWaitsDependencies {
  redis: RedisClient;
  /** Of the queues. */
  prefix: string;
  queues: readonly string[];
  now(): number;
  monotonic(): number;
}

/** So many jobs, those due first, are looked at for one that waits too long; after a clock was set back nearly all do. */
const LOOKED_AT = 100;
const MOVED_AT_ONCE = 500;

/** BullMQ's scores are milliseconds times this, and in the rest the order within one. */
const PER_MS = 4096;

/** Lua: from which score on jobs are far ahead, and by how much one is delayed, where it is due after longer than that. */
const TOO_LONG = `
local from = (ARGV[1] + ARGV[2]) * ${PER_MS}
local function delayOf(job, score)
  local delay = tonumber(redis.call('HGET', ARGV[3] .. job, 'delay') or '')
  return delay and math.floor(score / ${PER_MS}) - ARGV[1] > delay + ARGV[2] and delay
end`;

/** KEYS: the delayed jobs; ARGV: now, how far ahead is too far, the jobs' prefix, how many to look at. */
const FIND = `${TOO_LONG}
local jobs = redis.call('ZRANGEBYSCORE', KEYS[1], from, '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[4])
for index = 1, #jobs, 2 do
  local delay = delayOf(jobs[index], jobs[index + 1])
  if delay then return {jobs[index] .. ' ' .. math.floor(jobs[index + 1] / ${PER_MS}), delay} end
end
return false`;

/**
 * KEYS: the delayed jobs, the marker that wakes workers; ARGV: as above, with the highest score to look at. From the job
 * that is due last, so that none is met twice as one that is too far ahead. Answers with how many it moved, and where to
 * go on.
 */
const MOVE = `${TOO_LONG}
local jobs = redis.call('ZREVRANGEBYSCORE', KEYS[1], ARGV[5], from, 'WITHSCORES', 'LIMIT', 0, ARGV[4])
local moved = 0
for index = 1, #jobs, 2 do
  local delay = delayOf(jobs[index], jobs[index + 1])
  if delay then
    local due = string.format('%.0f', (ARGV[1] + delay) * ${PER_MS} + jobs[index + 1] % ${PER_MS})
    redis.call('ZADD', KEYS[1], due, jobs[index])
    moved = moved + 1
  end
end
local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
if first[2] then redis.call('ZADD', KEYS[2], first[2] / ${PER_MS}, '1') end
if #jobs < 2 * ARGV[4] then return {moved, ''} end
return {moved, '(' .. jobs[#jobs]}`;

/**
 * Delayed jobs that would wait for longer than they were meant to, as after a clock was set back by an hour: BullMQ keeps
 * when they are due, by the clock of then. Beside it is the delay that was asked for, and that is what they wait at most.
 */
export const createOverlongWaits = ({ redis, prefix, queues, now, monotonic }: OverlongWaitsDependencies) => {
  /** By queue: the first job that waits too long, and since when it is known. */
  const waiting = new Map<string, { job: string; since: number }>();

  const shorten = async (queue: string): Promise<number> => {
    const lists = [queueKey(prefix, queue, 'delayed'), queueKey(prefix, queue, 'marker')] as const;
    let moved = 0;
    for (let from = '+inf'; from !== ''; ) {
      const answer = await redis.eval(
        MOVE,
        2,
        ...lists,
        now(),
        CLOCKS_DIFFER_MS,
        queueKey(prefix, queue, ''),
        MOVED_AT_ONCE,
        from,
      );
      const [count, next] = answer as [number, string];
      moved += count;
      from = next;
    }
    return moved;
  };

  /**
   * A job that waits too long by this daemon's clock may be on time by another's, which then takes it: so it has to stand
   * there for as long as it was meant to wait.
   */
  const check = async (queue: string): Promise<number> => {
    const delayed = queueKey(prefix, queue, 'delayed');
    const found = await redis.eval(FIND, 1, delayed, now(), CLOCKS_DIFFER_MS, queueKey(prefix, queue, ''), LOOKED_AT);
    if (found === null) {
      waiting.delete(queue);
      return 0;
    }
    const [job, delayMs] = found as [string, number];
    const known = waiting.get(queue);
    const since = known?.job === job ? known.since : monotonic();
    waiting.set(queue, { job, since });
    if (monotonic() - since < delayMs + CLOCKS_DIFFER_MS) return 0;
    waiting.delete(queue);
    return shorten(queue);
  };

  /** Lets such jobs wait no longer than was asked for; gives how many there were. One command a queue where there are none. */
  return async (): Promise<number> => {
    const moved = await Promise.all(queues.map(check));
    return moved.reduce((sum, count) => sum + count, 0);
  };
};
