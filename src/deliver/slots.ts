/**
 * Rates as slots: the next free moment of a destination, reserved once in Redis and shared by all daemons. A job waits
 * for its slot as a delayed job; "try again in a second" would collapse under a storm.
 */
import type { Cluster, Redis } from 'ioredis';
import type { Destination } from '../alert.ts';

/** Messages; absent means no limit. */
export interface Rate {
  perSecond?: number;
  perMinute?: number;
  /** So many may follow each other at once before the pace holds. Default 1. */
  burst?: number;
}

export interface Slots {
  /** Reserves the destination's next slot; epoch milliseconds, now or later. */
  reserve(destination: Destination, rate: Rate): Promise<number>;
  /** No slot before `until`: the provider said so. */
  hold(destination: Destination, until: number): Promise<void>;
}

/**
 * Generic cell rate algorithm. KEYS[1]; ARGV: now, then interval and tolerance (milliseconds) of each limit.
 * The hash holds a theoretical arrival time a limit and the `hold`; the slot is the latest of what each allows.
 */
const RESERVE = `
local now = tonumber(ARGV[1])
local slot = math.max(now, tonumber(redis.call('HGET', KEYS[1], 'hold') or '0'))
local n = (#ARGV - 1) / 2
for i = 1, n do
  local tat = tonumber(redis.call('HGET', KEYS[1], 'tat' .. i) or '0')
  slot = math.max(slot, tat - tonumber(ARGV[2 * i + 1]))
end
local last = slot
for i = 1, n do
  local tat = math.max(slot, tonumber(redis.call('HGET', KEYS[1], 'tat' .. i) or '0')) + tonumber(ARGV[2 * i])
  redis.call('HSET', KEYS[1], 'tat' .. i, tostring(tat))
  last = math.max(last, tat)
end
redis.call('PEXPIRE', KEYS[1], math.ceil(last - now) + 60000)
return tostring(slot)`;

const HOLD = `
local old = tonumber(redis.call('HGET', KEYS[1], 'hold') or '0')
local until_ = tonumber(ARGV[2])
if until_ > old then redis.call('HSET', KEYS[1], 'hold', ARGV[2]) end
if redis.call('PTTL', KEYS[1]) < until_ - tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], math.ceil(until_ - tonumber(ARGV[1])) + 60000) end
return 1`;

/** Interval and tolerance in milliseconds of each limit that is set. */
const limitsOf = ({ perSecond, perMinute, burst = 1 }: Rate): number[] => [
  ...(perSecond === undefined ? [] : [1000 / perSecond, ((burst - 1) * 1000) / perSecond]),
  ...(perMinute === undefined
    ? []
    : [60_000 / perMinute, ((Math.max(burst, Math.ceil(perMinute / 4)) - 1) * 60_000) / perMinute]),
];

export const createSlots = (redis: Redis | Cluster, prefix: string, now: () => number): Slots => {
  const keyOf = ({ id }: Destination): string => `${prefix}:slot:${id}`;
  return {
    reserve: async (destination, rate) => {
      const slot = await redis.eval(RESERVE, 1, keyOf(destination), now(), ...limitsOf(rate));
      return Math.ceil(Number(slot));
    },
    hold: async (destination, until) => {
      await redis.eval(HOLD, 1, keyOf(destination), now(), Math.ceil(until));
    },
  };
};
