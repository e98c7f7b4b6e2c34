/**
 * Rates as slots: the next free moment of a destination, reserved once in Redis and shared by all daemons. A job waits
 * for its slot as a delayed job; "try again in a second" would collapse under a storm.
 */
import type { Cluster, Redis } from 'ioredis';
import type { Destination } from '../alert.ts';
import { limitsOf, type Rate } from './pace.ts';

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
 * Generic cell rate algorithm. KEYS[1]; ARGV: now, the held slot's time and shift or two empty texts, then interval and
 * tolerance (milliseconds) of each limit. The hash has a theoretical arrival time for each limit, `hold` and `shift`.
 */
const RESERVE = `
local now = tonumber(ARGV[1])
local shift = tonumber(redis.call('HGET', KEYS[1], 'shift') or '0')
if ARGV[2] ~= '' then return {tostring(tonumber(ARGV[2]) + shift - tonumber(ARGV[3])), tostring(shift)} end
local slot = math.max(now, tonumber(redis.call('HGET', KEYS[1], 'hold') or '0'))
local n = (#ARGV - 3) / 2
for i = 1, n do
  local tat = tonumber(redis.call('HGET', KEYS[1], 'tat' .. i) or '0')
  slot = math.max(slot, tat - tonumber(ARGV[2 * i + 3]))
end
local last = slot
for i = 1, n do
  local tat = math.max(slot, tonumber(redis.call('HGET', KEYS[1], 'tat' .. i) or '0')) + tonumber(ARGV[2 * i + 2])
  redis.call('HSET', KEYS[1], 'tat' .. i, tostring(tat))
  last = math.max(last, tat)
end
redis.call('HSET', KEYS[1], 'shift', tostring(shift))
redis.call('PEXPIRE', KEYS[1], math.ceil(last - now) + 86400000)
return {tostring(slot), tostring(shift)}`;

/** KEYS[1]; ARGV: now, until. Answers to messages that were in flight together add up to one wait, not to several. */
const HOLD = `
local now = tonumber(ARGV[1])
local held = math.max(now, tonumber(redis.call('HGET', KEYS[1], 'hold') or '0'))
local more = math.max(0, tonumber(ARGV[2]) - held)
local shift = tonumber(redis.call('HGET', KEYS[1], 'shift') or '0') + more
redis.call('HSET', KEYS[1], 'hold', tostring(held + more), 'shift', tostring(shift))
for _, field in ipairs({'tat1', 'tat2'}) do
  local tat = tonumber(redis.call('HGET', KEYS[1], field) or '0')
  if tat > now then redis.call('HSET', KEYS[1], field, tostring(tat + more)) end
end
redis.call('PEXPIRE', KEYS[1], math.ceil(held + more - now) + 86400000)
return {tostring(held + more), tostring(shift)}`;

const toSlot = (answer: unknown): Slot => {
  const [at, shift] = answer as [string, string];
  return { at: Math.ceil(Number(at)), shift: Number(shift) };
};

export const createSlots = (redis: Redis | Cluster, prefix: string, now: () => number): Slots => {
  const keyOf = ({ id }: Destination): string => `${prefix}:slot:${id}`;
  return {
    reserve: async (destination, rate, held) => {
      const own = held === undefined ? ['', ''] : [held.at, held.shift];
      return toSlot(await redis.eval(RESERVE, 1, keyOf(destination), now(), ...own, ...limitsOf(rate).flat()));
    },
    hold: async (destination, until) => toSlot(await redis.eval(HOLD, 1, keyOf(destination), now(), Math.ceil(until))),
  };
};
