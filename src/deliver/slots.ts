/**
 * Rates as slots: the next free moment of a destination, reserved once in Redis and shared by all daemons. A job waits
 * for its slot as a delayed job; "try again in a second" would collapse under a storm.
 */
import type { Cluster, Redis } from 'ioredis';
import type { Destination } from '../alert.ts';
import { cellRateOf, type Rate, windowOf } from './pace.ts';

export type { Rate } from './pace.ts';

/** A reserved moment; travels with the job that waits for it. */
export interface Slot {
  /** Epoch milliseconds. */
  at: number;
  /** How far the destination's slots had been moved when this one was reserved. */
  shift: number;
}

export interface Slots {
  /** The destination's next slot, now or later; for one that is `held` already, where it is by now. */
  reserve(destination: Destination, rate: Rate, held?: Slot): Promise<Slot>;
  /** The provider said to wait until then: every slot moves by what that adds. Gives the first slot afterwards. */
  hold(destination: Destination, until: number): Promise<Slot>;
}

/**
 * KEYS: the destination's hash, its latest slots. ARGV: now; the held slot's time and shift, or two empty texts; interval
 * and tolerance of the cell rate, or two empty texts; count and length of the window, likewise. All in milliseconds.
 * The hash has the theoretical arrival time `tat` of the generic cell rate algorithm, `hold` and `shift`.
 */
const RESERVE = `
local now = tonumber(ARGV[1])
local shift = tonumber(redis.call('HGET', KEYS[1], 'shift') or '0')
if ARGV[2] ~= '' then return {tostring(tonumber(ARGV[2]) + shift - tonumber(ARGV[3])), tostring(shift)} end
local slot = math.max(now, tonumber(redis.call('HGET', KEYS[1], 'hold') or '0'))
local tat = tonumber(redis.call('HGET', KEYS[1], 'tat') or '0')
if ARGV[4] ~= '' then slot = math.max(slot, tat - tonumber(ARGV[5])) end
if ARGV[6] ~= '' then
  local oldest = redis.call('LINDEX', KEYS[2], tonumber(ARGV[6]) - 1)
  if oldest then slot = math.max(slot, tonumber(oldest) + tonumber(ARGV[7])) end
end
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

const toSlot = (answer: unknown): Slot => {
  const [at, shift] = answer as [string, string];
  return { at: Math.ceil(Number(at)), shift: Number(shift) };
};

const limitsOf = (rate: Rate): (number | string)[] => {
  const cell = cellRateOf(rate);
  const window = windowOf(rate);
  return [cell?.interval ?? '', cell?.tolerance ?? '', window?.count ?? '', window?.length ?? ''];
};

export const createSlots = (redis: Redis | Cluster, prefix: string, now: () => number): Slots => {
  const keysOf = ({ id }: Destination) => [`${prefix}:slot:${id}`, `${prefix}:slots:${id}`] as const;
  return {
    reserve: async (destination, rate, held) => {
      const own = held === undefined ? ['', ''] : [held.at, held.shift];
      return toSlot(await redis.eval(RESERVE, 2, ...keysOf(destination), now(), ...own, ...limitsOf(rate)));
    },
    hold: async (destination, until) =>
      toSlot(await redis.eval(HOLD, 2, ...keysOf(destination), now(), Math.ceil(until))),
  };
};
