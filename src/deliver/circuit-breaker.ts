/**
 * A circuit per destination, and one per sender (a token, a mail server) that several share. After a few failures in a row
 * it opens: alerts for it wait, and one message at a time probes whether it works again. Nothing is discarded.
 */
import type { Cluster, Redis } from 'ioredis';
import type { DeliveryReason } from '../errors.ts';

export interface CircuitFailure {
  reason: DeliveryReason;
  /** Milliseconds until the failed message is tried again. */
  retryInMs: number;
  /** Test messages never open a circuit and never count toward one. Default: false. */
  isTest?: boolean;
}

export interface Circuits {
  /** Nothing is known of them: nothing failed since the last message that was delivered. */
  areClean(ids: readonly string[]): Promise<boolean>;
  /** When to ask again, in epoch milliseconds; undefined where all of these circuits are closed. */
  pausedUntil(ids: readonly string[]): Promise<number | undefined>;
  /** The same just before a message is sent: of several messages that ask for an open circuit, one may go as the probe. */
  admit(ids: readonly string[]): Promise<number | undefined>;
  /** The probe was inconclusive: allow the next one now. */
  release(ids: readonly string[]): Promise<void>;
  failed(id: string, failure: CircuitFailure): Promise<CircuitAnswer>;
  /** The outage has been announced. False where it works again meanwhile. */
  announced(id: string): Promise<boolean>;
  /** True for the one caller that now announces the end of the outage, and then closes the circuit. */
  worked(id: string): Promise<boolean>;
  close(id: string): Promise<void>;
  /** An operator says that it is mended: the next failure is announced as a new outage, and the next success as the end. */
  announceAnew(id: string): Promise<void>;
}

export interface CircuitAnswer {
  /** The circuit has opened, and nobody has announced it yet. */
  isNews: boolean;
  /** Epoch milliseconds; absent where the circuit is closed. */
  pausedUntil?: number;
}

/** Failures in a row that open a circuit; a single one may be a passing fault. */
const FAILURES = 3;
const SHORTEST_PAUSE_MS = 1000;
/** It takes at most this long to notice that a destination works again. */
const LONGEST_PAUSE_MS = 30_000;
/** A probe whose daemon ended is replaced after this. */
const PROBE_MS = 20_000;
/** While a probe is on its way: its answer may come at any moment. */
const ASK_AGAIN_MS = 5000;
/** Another daemon announces an outage or its end where the first one ended before it could. */
const ANNOUNCE_MS = 60_000;
/** As long as the outage's announcement is remembered, see `features/outages/store.ts`. */
const KEEP_MS = 35 * 86_400_000;

/** The clocks of several daemons differ a little. A moment that is further ahead was noted before a clock was set back. */
const CLOCKS_MS = 5000;

/**
 * KEYS: circuits; ARGV: now, how long a probe may take ('' to change nothing), when to ask again while there is one, the
 * longest pause, how far clocks differ.
 */
const ASK = `
local now = tonumber(ARGV[1])
local pausedUntil = 0
for _, key in ipairs(KEYS) do
  local paused = tonumber(redis.call('HGET', key, 'until') or '0')
  if paused > now + ARGV[4] + ARGV[5] then
    paused = now + ARGV[4]
    redis.call('HSET', key, 'until', paused)
  end
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
 * KEYS: the circuit; ARGV: now, what this failure counts, how many open the circuit, until when it pauses ('' for not at
 * all), how long it is kept, how long the announcement may take, how far clocks differ. In Redis 'telling' is when somebody
 * began to announce it, 'told' that it has been announced.
 */
const FAIL = `
local failures = redis.call('HINCRBY', KEYS[1], 'failures', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('HDEL', KEYS[1], 'probe')
if failures < tonumber(ARGV[3]) then return {0, 0} end
if ARGV[4] == '' then redis.call('HDEL', KEYS[1], 'until') else redis.call('HSET', KEYS[1], 'until', ARGV[4]) end
redis.call('HSETNX', KEYS[1], 'since', ARGV[1])
local tellingFor = ARGV[1] - tonumber(redis.call('HGET', KEYS[1], 'telling') or '0')
local isTelling = tellingFor < tonumber(ARGV[6]) and tellingFor >= -ARGV[7]
if redis.call('HEXISTS', KEYS[1], 'told') == 1 or isTelling then
  return {0, tonumber(ARGV[4]) or 0}
end
redis.call('HSET', KEYS[1], 'telling', ARGV[1])
return {1, tonumber(ARGV[4]) or 0}`;

const ANNOUNCED = `
if redis.call('HEXISTS', KEYS[1], 'since') == 0 then return 0 end
redis.call('HSET', KEYS[1], 'told', 1)
return 1`;

/** KEYS: the circuit; ARGV: now, how long the announcement of the end may take, how far clocks differ. */
const WORK = `
if redis.call('HEXISTS', KEYS[1], 'since') == 0 then
  redis.call('DEL', KEYS[1])
  return 0
end
local endingFor = ARGV[1] - tonumber(redis.call('HGET', KEYS[1], 'ending') or '0')
if endingFor < tonumber(ARGV[2]) and endingFor >= -ARGV[3] then return 0 end
redis.call('HSET', KEYS[1], 'ending', ARGV[1])
return 1`;

/** What stays wrong until somebody fixes it needs no second failure. */
const weightOf = (reason: DeliveryReason): number =>
  reason === 'destination-dead' || reason === 'sender-misconfigured' ? FAILURES : 1;

export const createCircuits = (redis: Redis | Cluster, prefix: string, now: () => number): Circuits => {
  const keyOf = (id: string): string => `${prefix}:circuit:${id}`;
  const ask = async (ids: readonly string[], probeMs: number | ''): Promise<number | undefined> => {
    const limits = [ASK_AGAIN_MS, LONGEST_PAUSE_MS, CLOCKS_MS];
    return Number(await redis.eval(ASK, ids.length, ...ids.map(keyOf), now(), probeMs, ...limits)) || undefined;
  };
  return {
    areClean: async (ids) => (await redis.exists(...ids.map(keyOf))) === 0,
    pausedUntil: (ids) => ask(ids, ''),
    admit: (ids) => ask(ids, PROBE_MS),
    release: async (ids) => {
      await redis.eval(RELEASE, ids.length, ...ids.map(keyOf), now());
    },
    failed: async (id, { reason, retryInMs, isTest = false }) => {
      const pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, retryInMs));
      // Deliveries to a dead destination die at once: there is nothing to pause.
      const until = reason === 'destination-dead' ? '' : now() + pauseMs;
      const weight = isTest ? 0 : weightOf(reason);
      const limits = [KEEP_MS, ANNOUNCE_MS, CLOCKS_MS];
      const answer = await redis.eval(FAIL, 1, keyOf(id), now(), weight, FAILURES, until, ...limits);
      const [isNews, pausedUntil] = answer as [number, number];
      return { isNews: isNews === 1, ...(pausedUntil === 0 ? {} : { pausedUntil }) };
    },
    announced: async (id) => (await redis.eval(ANNOUNCED, 1, keyOf(id))) === 1,
    worked: async (id) => (await redis.eval(WORK, 1, keyOf(id), now(), ANNOUNCE_MS, CLOCKS_MS)) === 1,
    close: async (id) => {
      await redis.del(keyOf(id));
    },
    announceAnew: async (id) => {
      await redis.hdel(keyOf(id), 'told', 'telling');
    },
  };
};
