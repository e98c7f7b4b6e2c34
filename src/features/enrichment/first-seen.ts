/**
 * Which origins and detectors a protocol had alerts of before, so that people learn what is new. A fact belongs to the
 * first alert that had it, so that the same alert gets the same answer however often it is asked. The memory is bounded,
 * and says how far back it goes.
 */
import type { Cluster, Redis } from 'ioredis';
import type { Alert, AlertContext } from '../../alert.ts';
import { chunksOf, mapInChunks } from '../../chunks.ts';
import { contentId } from '../../item.ts';
import { iso } from '../../time.ts';

/** A fact's name by its kind; what is not known of the alert is left out. */
export interface Facts {
  origin?: string;
  detectors?: string;
}

export type First = NonNullable<AlertContext['first']>;

/** An alert and what it may have for the first time. */
export interface Noted {
  alert: Pick<Alert, 'id' | 'service' | 'protocol'>;
  facts: Facts;
}

export type FirstSeen = ReturnType<typeof createFirstSeen>;

/** Longer than the ledger keeps alerts: the number of facts is what bounds the memory. */
const KEPT_MS = 90 * 86_400_000;
/** By protocol, about 200 bytes each. */
const MOST_FACTS = 2000;

/** Alerts in one call. */
const CHUNK = 200;

/**
 * KEYS: facts by the last time, first alerts by fact; ARGV: now, milliseconds kept, how many at most, then of each fact the
 * alert's id and itself. Gives since when nothing was forgotten, and the first alert of each fact. What is old is
 * forgotten, the expiry put off, and what is there counted, only every ninetieth part of the time kept.
 */
const NOTE = `
local names, owners = {}, {}
for i = 4, #ARGV, 2 do
  local fact = ARGV[i + 1]
  if not owners[fact] then names[#names + 1] = fact; owners[fact] = ARGV[i] end
end
local known = redis.call('HMGET', KEYS[2], 'since', 'tidied', 'count', unpack(names))
local isDue = not known[2] or math.abs(ARGV[1] - known[2]) >= ARGV[2] / 90
local since = tonumber(known[1] or ARGV[1])
local fields, times, gone = {}, {}, {}
for i, fact in ipairs(names) do
  times[#times + 1] = ARGV[1]
  times[#times + 1] = fact
  if known[i + 3] then
    owners[fact] = known[i + 3]
  else
    fields[#fields + 1] = fact
    fields[#fields + 1] = owners[fact]
  end
end
local added = #times > 0 and redis.call('ZADD', KEYS[1], 'GT', unpack(times)) or 0
local count = not isDue and known[3] and known[3] + added or redis.call('ZCARD', KEYS[1])
local old = isDue and redis.call('ZRANGE', KEYS[1], '-inf', '(' .. (ARGV[1] - ARGV[2]), 'BYSCORE', 'LIMIT', 0, 1000) or {}
for _, fact in ipairs(old) do gone[#gone + 1] = fact end
local excess = #fields > 0 and count - #old - ARGV[3] or 0
if excess > 0 then
  local more = redis.call('ZRANGE', KEYS[1], #old, #old + excess - 1, 'WITHSCORES')
  for i = 1, #more, 2 do
    gone[#gone + 1] = more[i]
    since = math.max(since, tonumber(more[i + 1]))
  end
end
count = count - #gone
local noted = {
  since = since ~= tonumber(known[1] or '') and since or nil,
  tidied = isDue and ARGV[1] or nil,
  count = count ~= tonumber(known[3] or '') and count or nil
}
for field, value in pairs(noted) do
  fields[#fields + 1] = field
  fields[#fields + 1] = value
end
if #fields > 0 then redis.call('HSET', KEYS[2], unpack(fields)) end
if #gone > 0 then
  redis.call('ZREM', KEYS[1], unpack(gone))
  redis.call('HDEL', KEYS[2], unpack(gone))
end
if isDue then for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, 2 * ARGV[2]) end end
local found = {}
for i = 5, #ARGV, 2 do found[#found + 1] = owners[ARGV[i]] end
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
const answersOf = (
  alert: Noted['alert'],
  named: readonly Named[],
  ids: readonly (string | null)[],
): Omit<First, 'since'> =>
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
) => {
  const keysOf = ({ service, protocol }: Noted['alert']): [string, string] => {
    const name = JSON.stringify([service, protocol]);
    return [`${prefix}:facts:${name}`, `${prefix}:firsts:${name}`];
  };
  const sinceOf = (since: string): string => iso(Math.max(Number(since), now() - keptMs));

  const noteChunk = async (noted: readonly Noted[]): Promise<First[]> => {
    const [one] = noted;
    if (one === undefined) return [];
    const all = noted.map(({ alert, facts }) => ({ alert, named: namedOf(facts) }));
    const pairs = all.flatMap(({ alert, named }) => named.flatMap(({ member }) => [alert.id, member]));
    const answer = await redis.eval(NOTE, 2, ...keysOf(one.alert), now(), keptMs, mostFacts, ...pairs);
    const [from, ids] = answer as [string, string[]];
    const since = sinceOf(from);
    return all.map(({ alert, named }) => ({
      since,
      ...answersOf(alert, named, ids.splice(0, named.length)),
    }));
  };

  return {
    /** Which facts come for the first time, in the order of the alerts, which are of one protocol; notes them. */
    note: async (noted: readonly Noted[]): Promise<First[]> =>
      (await mapInChunks(chunksOf(noted, CHUNK), 1, noteChunk)).flat(),
    /** The same for facts of one alert that were noted before; notes nothing. */
    recall: async ({ alert, facts }: Noted): Promise<First | undefined> => {
      const named = namedOf(facts);
      const [since, ...ids] = await redis.hmget(keysOf(alert)[1], 'since', ...named.map(({ member }) => member));
      return since ? { since: sinceOf(since), ...answersOf(alert, named, ids) } : undefined;
    },
  };
};
