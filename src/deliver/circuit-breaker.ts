/**
 * A circuit per destination, and one per sender (a token, a mail server) that several share: after a few failures in a
 * row everything for it waits, and one message at a time is sent to see whether it works again. Nothing is discarded.
 */
import type { Cluster, Redis } from 'ioredis';
import type { DeliveryReason } from '../errors.ts';

export interface CircuitFailure {
  reason: DeliveryReason;
  /** Milliseconds until the failed message is tried again. */
  retryInMs: number;
  /** It was a test's: it keeps what is broken so, and breaks nothing. Default: false. */
  isTest?: boolean;
}

export interface Circuits {
  /** Undefined: one may send, as far as these are concerned. Else when to look again, in epoch milliseconds. */
  pausedUntil(ids: readonly string[]): Promise<number | undefined>;
  /** The same just before a message is sent, which tells how it went: of several that ask broken ones, one gets through. */
  admit(ids: readonly string[]): Promise<number | undefined>;
  /** What was let through said nothing of them: the next may try at once. */
  release(ids: readonly string[]): Promise<void>;
  failed(id: string, failure: CircuitFailure): Promise<CircuitAnswer>;
  /** That it broke has been told. False where it works again meanwhile. */
  told(id: string): Promise<boolean>;
  /** Gives true to one who is to tell that it was broken until now, and then to close it. */
  worked(id: string): Promise<boolean>;
  close(id: string): Promise<void>;
}

export interface CircuitAnswer {
  /** It has broken, and nobody has told yet. */
  isNews: boolean;
  /** Epoch milliseconds; absent where it does not pause. */
  pausedUntil?: number;
}

/** Failures in a row that break it; a single one may be a passing fault. */
const FAILURES = 3;
const SHORTEST_PAUSE_MS = 1000;
/** So long at most does it take to notice that it works again. */
const LONGEST_PAUSE_MS = 30_000;
/** A probe that was never heard of again, as its daemon ended, is replaced after this. */
const PROBE_MS = 20_000;
/** While a probe is on its way; it may be answered at any moment. */
const LOOK_AGAIN_MS = 5000;
/** Who was to tell of a break or its end and did not, as its daemon ended, is replaced after this. */
const TELL_MS = 60_000;
/** As long as what was told of it is remembered, see `deliver/breaks.ts`. */
const KEEP_MS = 35 * 86_400_000;

/** KEYS: circuits; ARGV: now, how long a probe may take ('' to change nothing), when to look again while there is one. */
const ASK = `
local now = tonumber(ARGV[1])
local pausedUntil = 0
for _, key in ipairs(KEYS) do
  local paused = tonumber(redis.call('HGET', key, 'until') or '0')
  if redis.call('HEXISTS', key, 'probe') == 1 then paused = math.min(paused, now + ARGV[3]) end
  pausedUntil = math.max(pausedUntil, paused)
end
if pausedUntil > now then return pausedUntil end
if ARGV[2] == '' or pausedUntil == 0 then return 0 end
for _, key in ipairs(KEYS) do
  if redis.call('HEXISTS', key, 'until') == 1 then redis.call('HSET', key, 'until', now + ARGV[2], 'probe', 1) end
end
return 0`;

/** KEYS: circuits; ARGV: now. */
const RELEASE = `
for _, key in ipairs(KEYS) do
  redis.call('HDEL', key, 'probe')
  if redis.call('HEXISTS', key, 'until') == 1 then redis.call('HSET', key, 'until', ARGV[1]) end
end
return 1`;

/**
 * KEYS: the circuit; ARGV: now, what this failure counts, how many break it, until when it pauses ('' for not at all), its
 * life, how long telling may take.
 */
const FAIL = `
local failures = redis.call('HINCRBY', KEYS[1], 'failures', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('HDEL', KEYS[1], 'probe')
if failures < tonumber(ARGV[3]) then return {0, 0} end
if ARGV[4] == '' then redis.call('HDEL', KEYS[1], 'until') else redis.call('HSET', KEYS[1], 'until', ARGV[4]) end
redis.call('HSETNX', KEYS[1], 'since', ARGV[1])
local telling = tonumber(redis.call('HGET', KEYS[1], 'telling') or '0')
if redis.call('HEXISTS', KEYS[1], 'told') == 1 or ARGV[1] - telling < tonumber(ARGV[6]) then
  return {0, tonumber(ARGV[4]) or 0}
end
redis.call('HSET', KEYS[1], 'telling', ARGV[1])
return {1, tonumber(ARGV[4]) or 0}`;

const TOLD = `
if redis.call('HEXISTS', KEYS[1], 'since') == 0 then return 0 end
redis.call('HSET', KEYS[1], 'told', 1)
return 1`;

/** KEYS: the circuit; ARGV: now, how long telling may take. */
const WORK = `
if redis.call('HEXISTS', KEYS[1], 'since') == 0 then
  redis.call('DEL', KEYS[1])
  return 0
end
if ARGV[1] - tonumber(redis.call('HGET', KEYS[1], 'ending') or '0') < tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], 'ending', ARGV[1])
return 1`;

/** What stays wrong until somebody mends it needs no second failure. */
const weightOf = (reason: DeliveryReason): number =>
  reason === 'destination-dead' || reason === 'sender-misconfigured' ? FAILURES : 1;

export const createCircuits = (redis: Redis | Cluster, prefix: string, now: () => number): Circuits => {
  const keyOf = (id: string): string => `${prefix}:circuit:${id}`;
  const ask = async (ids: readonly string[], probeMs: number | ''): Promise<number | undefined> =>
    Number(await redis.eval(ASK, ids.length, ...ids.map(keyOf), now(), probeMs, LOOK_AGAIN_MS)) || undefined;
  return {
    pausedUntil: (ids) => ask(ids, ''),
    admit: (ids) => ask(ids, PROBE_MS),
    release: async (ids) => {
      await redis.eval(RELEASE, ids.length, ...ids.map(keyOf), now());
    },
    failed: async (id, { reason, retryInMs, isTest = false }) => {
      const pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, retryInMs));
      // What is for a dead destination dies at once: there is nothing that could wait.
      const until = reason === 'destination-dead' ? '' : now() + pauseMs;
      const weight = isTest ? 0 : weightOf(reason);
      const answer = await redis.eval(FAIL, 1, keyOf(id), now(), weight, FAILURES, until, KEEP_MS, TELL_MS);
      const [isNews, pausedUntil] = answer as [number, number];
      return { isNews: isNews === 1, ...(pausedUntil === 0 ? {} : { pausedUntil }) };
    },
    told: async (id) => (await redis.eval(TOLD, 1, keyOf(id))) === 1,
    worked: async (id) => (await redis.eval(WORK, 1, keyOf(id), now(), TELL_MS)) === 1,
    close: async (id) => {
      await redis.del(keyOf(id));
    },
  };
};
