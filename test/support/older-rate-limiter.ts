/**
 * The rate limiter of releases before the state was written by compare-and-set: scripts that hold the rule and change the
 * same keys. Such a daemon may still run on the same Redis during an upgrade, and its keys are taken over.
 */
import type { Redis } from 'ioredis';
import type { Rate } from '../../src/deliver/rate-limit-rule.ts';
import type { Paced, RateLimiter, Slot } from '../../src/deliver/rate-limiter.ts';

const RESERVE = `
local now = tonumber(ARGV[1])
local shift = tonumber(redis.call('HGET', KEYS[1], 'shift') or '0')
if ARGV[2] ~= '' then
  local held = tonumber(ARGV[2]) + shift - tonumber(ARGV[3])
  if now - held <= tonumber(ARGV[9]) then return {tostring(held), tostring(shift)} end
end
local slot = math.max(now, tonumber(redis.call('HGET', KEYS[1], 'hold') or '0'))
slot = math.max(slot, tonumber(redis.call('HGET', KEYS[1], 'rest') or '0'))
local tat = tonumber(redis.call('HGET', KEYS[1], 'tat') or '0')
if ARGV[4] ~= '' then slot = math.max(slot, tat - tonumber(ARGV[5])) end
if ARGV[6] ~= '' then
  local oldest = redis.call('LINDEX', KEYS[2], tonumber(ARGV[6]) - 1)
  if oldest then slot = math.max(slot, tonumber(oldest) + tonumber(ARGV[7])) end
end
if ARGV[8] ~= '' and slot > tonumber(ARGV[8]) then return {} end
local keep = math.ceil(slot - now) + 86400000
if ARGV[4] ~= '' then redis.call('HSET', KEYS[1], 'tat', tostring(math.max(slot, tat) + tonumber(ARGV[4]))) end
if ARGV[6] ~= '' then
  redis.call('LPUSH', KEYS[2], tostring(slot))
  redis.call('LTRIM', KEYS[2], 0, tonumber(ARGV[6]) - 1)
  redis.call('PEXPIRE', KEYS[2], keep)
end
redis.call('HSET', KEYS[1], 'shift', tostring(shift))
redis.call('PEXPIRE', KEYS[1], keep)
return {tostring(slot), tostring(shift)}`;

const HOLD = `
local now = tonumber(ARGV[1])
local held = math.max(now, tonumber(redis.call('HGET', KEYS[1], 'hold') or '0'))
local more = math.max(0, tonumber(ARGV[2]) - held)
local shift = tonumber(redis.call('HGET', KEYS[1], 'shift') or '0') + more
redis.call('HSET', KEYS[1], 'hold', tostring(held + more), 'shift', tostring(shift))
local tat = tonumber(redis.call('HGET', KEYS[1], 'tat') or '0')
if tat > now then redis.call('HSET', KEYS[1], 'tat', tostring(tat + more)) end
for index, slot in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
  if tonumber(slot) <= now then break end
  redis.call('LSET', KEYS[2], index - 1, tostring(tonumber(slot) + more))
end
local keep = math.ceil(held + more - now) + 86400000
redis.call('PEXPIRE', KEYS[1], keep)
redis.call('PEXPIRE', KEYS[2], keep)
return {tostring(held + more), tostring(shift)}`;

const REST_SCRIPT = `
local now = tonumber(ARGV[1])
local rested = tonumber(redis.call('HGET', KEYS[1], 'rest') or '0')
local times = tonumber(redis.call('HGET', KEYS[1], 'rests') or '0')
if now - rested > tonumber(ARGV[4]) then times = 0 end
local ms = math.min(tonumber(ARGV[3]), tonumber(ARGV[2]) * 2 ^ times)
redis.call('HSET', KEYS[1], 'rest', tostring(now + ms), 'rests', math.min(times + 1, 20))
redis.call('PEXPIRE', KEYS[1], 86400000)
return 1`;

const LATE_MS = 2000;
const NEAR_MS = 20;

const limitsOf = ({ perSecond, perMinute, burst = 1 }: Rate): (number | string)[] => {
  const cell = perSecond === undefined ? ['', ''] : [1000 / perSecond, ((burst - 1) * 1000) / perSecond];
  if (perMinute === undefined) return [...cell, '', ''];
  const count = Math.max(1, Math.floor(perMinute));
  return [...cell, count, Math.ceil((count * 60_000) / perMinute) + 500];
};

const toSlot = (answer: unknown): Slot => {
  const [at, shift] = answer as [string, string];
  return { at: Math.ceil(Number(at)), shift: Number(shift) };
};

export const createOlderRateLimiter = (redis: Redis, prefix: string, now: () => number): Omit<RateLimiter, 'queue'> => {
  const keysOf = ({ id }: Paced) => [`${prefix}:slot:${id}`, `${prefix}:slots:${id}`] as const;
  const run = async (paced: Paced, rate: Rate, own: (number | string)[], latest: number | '') => {
    const answer = await redis.eval(RESERVE, 2, ...keysOf(paced), now(), ...own, ...limitsOf(rate), latest, LATE_MS);
    return answer as string[];
  };
  return {
    reserve: async (paced, rate, held) => toSlot(await run(paced, rate, held ? [held.at, held.shift] : ['', ''], '')),
    take: async (paced, rate) => {
      const answer = await run(paced, rate, ['', ''], now() + NEAR_MS);
      return answer.length === 0 ? undefined : toSlot(answer);
    },
    hold: async (paced, until) => toSlot(await redis.eval(HOLD, 2, ...keysOf(paced), now(), Math.ceil(until))),
    rest: async (paced) => {
      const [key] = keysOf(paced);
      await redis.eval(REST_SCRIPT, 1, key, now(), 1000, 10_000, 30_000);
    },
  };
};
