/**
 * Rates as slots: the next free moment of a destination, reserved once in Redis and shared by all daemons. A job waits
 * for its slot as a delayed job; "try again in a second" would collapse under a storm.
 */
import type { Cluster, Redis } from 'ioredis';
import { cellRateOf, type Rate, REST, windowOf } from './pace.ts';

export type { Rate } from './pace.ts';

/** A reserved moment; travels with the job that waits for it. */
export interface Slot {
  /** Epoch milliseconds. */
  at: number;
  /** How far the destination's slots had been moved when this one was reserved. */
  shift: number;
}

/** Whom a rate is for: a destination, or a sender that several share. */
export interface Paced {
  id: string;
}

export interface Slots {
  /** The next slot, now or later; for one that is `held` already, where it is by now, unless it was missed. */
  reserve(paced: Paced, rate: Rate, held?: Slot): Promise<Slot>;
  /** The slot of this moment, where it is free; else nothing is reserved. */
  take(paced: Paced, rate: Rate): Promise<Slot | undefined>;
  /** The provider said to wait until then: every slot moves by what that adds. Gives the first slot afterwards. */
  hold(paced: Paced, until: number): Promise<Slot>;
  /** A digest goes out now: the more of them follow each other, the longer until the next message. */
  rest(paced: Paced): Promise<void>;
}

/** A slot that is so near, in milliseconds, is now: less is not worth a trip through the queue. */
export const NEAR_MS = 20;

/**
 * Whoever comes so much later than its slot, in milliseconds, gets another: what has missed its slots in an outage would
 * go out at once.
 */
export const LATE_MS = 2000;

/**
 * KEYS: the destination's hash, its latest slots. ARGV: now; the held slot's time and shift, or two empty texts; interval
 * and tolerance of the cell rate, or two empty texts; count and length of the window, likewise; the latest slot that is
 * wanted, or an empty text; how late a held slot may be used. All in milliseconds. The hash has the theoretical arrival
 * time `tat` of the generic cell rate algorithm, `hold` and `shift`, and until when and how often in a row there was a
 * `rest`.
 */
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

/** The same KEYS; ARGV: now, until. Answers to messages that were in flight together add up to one wait, not to several. */
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

/** KEYS: the hash; ARGV: now, first, longest, quiet. */
const REST_SCRIPT = `
local now = tonumber(ARGV[1])
local rested = tonumber(redis.call('HGET', KEYS[1], 'rest') or '0')
local times = tonumber(redis.call('HGET', KEYS[1], 'rests') or '0')
if now - rested > tonumber(ARGV[4]) then times = 0 end
local ms = math.min(tonumber(ARGV[3]), tonumber(ARGV[2]) * 2 ^ times)
redis.call('HSET', KEYS[1], 'rest', tostring(now + ms), 'rests', math.min(times + 1, 20))
redis.call('PEXPIRE', KEYS[1], 86400000)
return 1`;

const toSlot = (answer: unknown): Slot => {
  const [at, shift] = answer as [string, string];
  return { at: Math.ceil(Number(at)), shift: Number(shift) };
};

const limitsOf = (rate: Rate): (number | string)[] => {
  const cell = cellRateOf(rate);
  const window = windowOf(rate);
  return [cell?.interval ?? '', cell?.tolerance ?? '', window?.count ?? '', window?.length ?? ''];
};

export const createRateLimiter = (redis: Redis | Cluster, prefix: string, now: () => number): Slots => {
  const keysOf = ({ id }: Paced) => [`${prefix}:slot:${id}`, `${prefix}:slots:${id}`] as const;
  const run = async (paced: Paced, rate: Rate, own: (number | string)[], latest: number | '') => {
    const answer = await redis.eval(RESERVE, 2, ...keysOf(paced), now(), ...own, ...limitsOf(rate), latest, LATE_MS);
    return answer as string[];
  };
  return {
    reserve: async (paced, rate, held) =>
      toSlot(await run(paced, rate, held === undefined ? ['', ''] : [held.at, held.shift], '')),
    take: async (paced, rate) => {
      const answer = await run(paced, rate, ['', ''], now() + NEAR_MS);
      return answer.length === 0 ? undefined : toSlot(answer);
    },
    hold: async (paced, until) => toSlot(await redis.eval(HOLD, 2, ...keysOf(paced), now(), Math.ceil(until))),
    rest: async (paced) => {
      const [key] = keysOf(paced);
      await redis.eval(REST_SCRIPT, 1, key, now(), REST.firstMs, REST.longestMs, REST.quietMs);
    },
  };
};
