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
}

export interface Circuits {
  /** Undefined: send, and tell how it went. Else: when to ask again, in epoch milliseconds. */
  ask(id: string): Promise<number | undefined>;
  /** Gives true where it has broken by this. */
  failed(id: string, failure: CircuitFailure): Promise<boolean>;
  /** Gives true where it had been broken until now. */
  worked(id: string): Promise<boolean>;
  /** Those of `ids` that are broken, and since when: epoch milliseconds. */
  broken(ids: readonly string[]): Promise<Map<string, number>>;
}

/** Failures in a row that break it; a single one may be a passing fault. */
const FAILURES = 3;
const SHORTEST_PAUSE_MS = 1000;
/** So long at most does it take to notice that it works again. */
const LONGEST_PAUSE_MS = 30_000;
/** A probe that was never heard of again, as its daemon ended, is replaced after this. */
const PROBE_MS = 20_000;
const KEEP_MS = 7 * 86_400_000;

/** KEYS: the circuit; ARGV: now, how long a probe may take. */
const ASK = `
local pausedUntil = tonumber(redis.call('HGET', KEYS[1], 'until') or '0')
if pausedUntil == 0 then return 0 end
if pausedUntil > tonumber(ARGV[1]) then return pausedUntil end
redis.call('HSET', KEYS[1], 'until', ARGV[1] + ARGV[2])
return 0`;

/** KEYS: the circuit; ARGV: now, what this failure counts, how many break it, until when it pauses ('' for not at all), life. */
const FAIL = `
local failures = redis.call('HINCRBY', KEYS[1], 'failures', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
if failures < tonumber(ARGV[3]) then return 0 end
if ARGV[4] ~= '' then redis.call('HSET', KEYS[1], 'until', ARGV[4]) end
return redis.call('HSETNX', KEYS[1], 'since', ARGV[1])`;

const WORK = `
local since = redis.call('HGET', KEYS[1], 'since')
redis.call('DEL', KEYS[1])
return since and 1 or 0`;

/** What stays wrong until somebody mends it needs no second failure. */
const isLasting = (reason: DeliveryReason): boolean =>
  reason === 'destination-dead' || reason === 'sender-misconfigured';

export const createCircuits = (redis: Redis | Cluster, prefix: string, now: () => number): Circuits => {
  const keyOf = (id: string): string => `${prefix}:circuit:${id}`;
  return {
    ask: async (id) => Number(await redis.eval(ASK, 1, keyOf(id), now(), PROBE_MS)) || undefined,
    failed: async (id, { reason, retryInMs }) => {
      const pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, retryInMs));
      // What is for a dead destination dies at once: there is nothing that could wait.
      const pausedUntil = reason === 'destination-dead' ? '' : now() + pauseMs;
      const weight = isLasting(reason) ? FAILURES : 1;
      return (await redis.eval(FAIL, 1, keyOf(id), now(), weight, FAILURES, pausedUntil, KEEP_MS)) === 1;
    },
    worked: async (id) => (await redis.eval(WORK, 1, keyOf(id))) === 1,
    broken: async (ids) => {
      const since = await Promise.all(ids.map((id) => redis.hget(keyOf(id), 'since')));
      return new Map(ids.flatMap((id, index) => (since[index] ? [[id, Number(since[index])] as const] : [])));
    },
  };
};
