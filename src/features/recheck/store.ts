/** Inspections that have to be read again, and when: one due-list a service, shared by all daemons. */
import type { Cluster, Redis } from 'ioredis';
import type { JsonObject } from '../../alert.ts';

export interface Watched {
  protocol: string;
  itemId: string;
  /** Lower-case. */
  txHash?: string;
  /** When the service wrote it, in epoch milliseconds by its clock. */
  writtenAt: number;
  /** What a follow-up shows of it should it vanish; only of inspections that were forwarded. */
  item?: JsonObject;
  /** The assessment in the last follow-up; absent: the one in the first alert. */
  announced?: string;
  /** Follow-ups so far. */
  followUps: number;
  /** Rechecks in a row that did not find it. */
  misses: number;
}

export interface DueRecheck {
  watched: Watched;
  /** Epoch milliseconds by the service's clock. */
  dueAt: number;
}

export type RecheckStore = ReturnType<typeof createRecheckStore>;

/** Under 1 kB each. A service that writes more within two hours is watched in part. */
const MOST_WATCHED = 50_000;

/** KEYS: the due-list, what is known; ARGV: how many at most, then member, due and known of each. Gives the refused. */
const NOTE = `
local room = tonumber(ARGV[1]) - redis.call('ZCARD', KEYS[1])
local refused = 0
for i = 2, #ARGV, 3 do
  if not redis.call('ZSCORE', KEYS[1], ARGV[i]) then
    if room > 0 then
      redis.call('ZADD', KEYS[1], ARGV[i + 1], ARGV[i])
      redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 2])
      room = room - 1
    else
      refused = refused + 1
    end
  end
end
return refused`;

/** KEYS: the due-list, what is known; ARGV: now, how many, until when they are leased. */
const CLAIM = `
local members = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
local known = {}
for _, member in ipairs(members) do
  redis.call('ZADD', KEYS[1], ARGV[3], member)
  known[#known + 1] = redis.call('HGET', KEYS[2], member) or ''
end
return known`;

export const createRecheckStore = (redis: Redis | Cluster, prefix: string, mostWatched = MOST_WATCHED) => {
  const keysOf = (service: string): [string, string] => [`${prefix}:look:${service}`, `${prefix}:looked:${service}`];
  const memberOf = ({ protocol, itemId }: Watched): string => JSON.stringify([protocol, itemId]);

  return {
    /** Watches what is not watched yet. Gives how many there was no room for. */
    note: async (service: string, rechecks: readonly DueRecheck[]): Promise<number> => {
      if (rechecks.length === 0) return 0;
      const values = rechecks.flatMap(({ watched, dueAt }) => [memberOf(watched), dueAt, JSON.stringify(watched)]);
      return Number(await redis.eval(NOTE, 2, ...keysOf(service), mostWatched, ...values));
    },
    /** Those that are due, at most `count`. Nobody else gets them for `leaseMs`; after that they are due again. */
    claim: async (service: string, now: number, count: number, leaseMs: number): Promise<Watched[]> => {
      const known = (await redis.eval(CLAIM, 2, ...keysOf(service), now, count, now + leaseMs)) as string[];
      return known.flatMap((json) => (json === '' ? [] : (JSON.parse(json) as Watched)));
    },
    /** Reads it again then. */
    keep: async (service: string, { watched, dueAt }: DueRecheck): Promise<void> => {
      const [due, known] = keysOf(service);
      const member = memberOf(watched);
      await redis.multi().hset(known, member, JSON.stringify(watched)).zadd(due, dueAt, member).exec();
    },
    drop: async (service: string, watched: Watched): Promise<void> => {
      const [due, known] = keysOf(service);
      await redis.multi().zrem(due, memberOf(watched)).hdel(known, memberOf(watched)).exec();
    },
    count: (service: string): Promise<number> => redis.zcard(keysOf(service)[0]),
  };
};
