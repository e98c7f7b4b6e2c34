/**
 * Which origins and detectors a protocol had alerts of before, so that people learn what is new. A fact belongs to the
 * first alert that had it, so that the same alert gets the same answer however often it is asked. The memory is bounded,
 * and says how far back it goes.
 */
import type { Cluster, Redis } from 'ioredis';
import { type Alert, type AlertContext, contentId } from '../../alert.ts';
import { iso } from '../../time.ts';

/** A fact's name by its kind; what is not known of the alert is left out. */
export interface Facts {
  origin?: string;
  detectors?: string;
}

type First = NonNullable<AlertContext['first']>;

export interface FirstSeen {
  /** Which facts come for the first time; notes them. */
  note(alert: Alert, facts: Facts): Promise<First>;
  /** The same for facts that were noted before; notes nothing. */
  recall(alert: Alert, facts: Facts): Promise<First | undefined>;
}

const KEPT_MS = 35 * 86_400_000;
/** By protocol, about 200 bytes each. */
const MOST_FACTS = 2000;

/**
 * KEYS: facts by the last time, first alerts by fact; ARGV: now, milliseconds kept, how many at most, alert's id, facts.
 * Gives since when nothing was forgotten, and the first alert of each fact.
 */
const NOTE = `
local since = tonumber(redis.call('HGET', KEYS[2], 'since') or ARGV[1])
local found = {}
for i = 5, #ARGV do
  redis.call('HSETNX', KEYS[2], ARGV[i], ARGV[4])
  redis.call('ZADD', KEYS[1], 'GT', ARGV[1], ARGV[i])
  found[#found + 1] = redis.call('HGET', KEYS[2], ARGV[i])
end
local old = redis.call('ZRANGE', KEYS[1], '-inf', '(' .. (ARGV[1] - ARGV[2]), 'BYSCORE', 'LIMIT', 0, 100)
local excess = redis.call('ZCARD', KEYS[1]) - #old - ARGV[3]
if excess > 0 then
  local more = redis.call('ZRANGE', KEYS[1], #old, #old + excess - 1, 'WITHSCORES')
  for i = 1, #more, 2 do
    old[#old + 1] = more[i]
    since = math.max(since, tonumber(more[i + 1]))
  end
end
for _, fact in ipairs(old) do
  redis.call('ZREM', KEYS[1], fact)
  redis.call('HDEL', KEYS[2], fact)
end
redis.call('HSET', KEYS[2], 'since', since)
redis.call('PEXPIRE', KEYS[1], 2 * ARGV[2])
redis.call('PEXPIRE', KEYS[2], 2 * ARGV[2])
return { tostring(since), found }`;

const KINDS = ['origin', 'detectors'] as const;

interface Named {
  kind: keyof Facts;
  /** In Redis. */
  member: string;
}

const namedOf = (facts: Facts): Named[] =>
  KINDS.flatMap((kind) => {
    const name = facts[kind];
    return name === undefined ? [] : [{ kind, member: contentId(kind, name) }];
  });

/** `ids`: the first alert of each fact, null where none is remembered. */
const answersOf = (alert: Alert, named: readonly Named[], ids: readonly (string | null)[]): Omit<First, 'since'> =>
  Object.fromEntries(
    named.flatMap(({ kind }, index) => {
      const first = ids[index] ?? null;
      return first === null ? [] : [[kind, first === alert.id]];
    }),
  );

export const createFirstSeen = (
  redis: Redis | Cluster,
  prefix: string,
  now: () => number,
  { keptMs = KEPT_MS, mostFacts = MOST_FACTS } = {},
): FirstSeen => {
  const keysOf = ({ service, protocol }: Alert): [string, string] => {
    const name = JSON.stringify([service, protocol]);
    return [`${prefix}:facts:${name}`, `${prefix}:firsts:${name}`];
  };
  const sinceOf = (since: string): string => iso(Math.max(Number(since), now() - keptMs));

  return {
    note: async (alert, facts) => {
      const named = namedOf(facts);
      const settings = [now(), keptMs, mostFacts, alert.id];
      const answer = await redis.eval(NOTE, 2, ...keysOf(alert), ...settings, ...named.map(({ member }) => member));
      const [since, ids] = answer as [string, string[]];
      return { since: sinceOf(since), ...answersOf(alert, named, ids) };
    },
    recall: async (alert, facts) => {
      const named = namedOf(facts);
      const [since, ...ids] = await redis.hmget(keysOf(alert)[1], 'since', ...named.map(({ member }) => member));
      return since ? { since: sinceOf(since), ...answersOf(alert, named, ids) } : undefined;
    },
  };
};
