/** Decisions on destinations, and the alerts that are held for those nobody has approved. */
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Destination } from '../../alert.ts';
import { chunksOf } from '../../chunks.ts';
import { type Target, targetOf } from '../../ledger/record.ts';
import { execute } from '../../redis/pipeline.ts';
import { iso } from '../../time.ts';

/** A destination that somebody approved or revoked. */
export interface Decision extends Target {
  at: string;
}

export interface HeldDestination {
  destination: Destination;
  since: string;
  waiting: number;
  isAnnounced: boolean;
  isRevoked: boolean;
}

export type ApprovalStore = ReturnType<typeof createApprovalStore>;

/** What is held at most: alerts of about 2 kB each, by destination, and destinations. */
export const HOLD_BOUNDS = { alerts: 5000, destinations: 1000 };
export type HoldBounds = typeof HOLD_BOUNDS;

/**
 * KEYS: the approvals, the held destinations, the alerts held for this one; ARGV: its id, itself, the most alerts, the most
 * fields of held destinations; then by alert its id, itself. Gives what there is no room for; false where it is approved.
 */
const HOLD = `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return false end
local isKnown = redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1
local room = tonumber(ARGV[3]) - redis.call('HLEN', KEYS[3])
if not isKnown and redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[4]) then room = 0 end
local full = {}
for i = 5, #ARGV, 2 do
  if room > 0 then
    room = room - redis.call('HSETNX', KEYS[3], ARGV[i], ARGV[i + 1])
    if not isKnown then isKnown = redis.call('HSETNX', KEYS[2], ARGV[1], ARGV[2]) == 1 end
  elseif redis.call('HEXISTS', KEYS[3], ARGV[i]) == 0 then
    full[#full + 1] = ARGV[i]
  end
end
return full`;

/** KEYS: the held destinations, the alerts held for this one; ARGV: its id; then alerts' ids. */
const REMOVE = `
for i = 2, #ARGV do redis.call('HDEL', KEYS[2], ARGV[i]) end
if redis.call('EXISTS', KEYS[2]) == 0 then redis.call('HDEL', KEYS[1], ARGV[1], ARGV[1] .. ' announcedAt') end
return 1`;

const CHUNK = 100;

type Written = Pick<HeldDestination, 'destination' | 'since'>;

const keysOf = (prefix: string) => ({
  approved: `${prefix}:approved`,
  revoked: `${prefix}:revoked`,
  held: `${prefix}:held`,
  alerts: (id: string): string => `${prefix}:held:${id}`,
});

const createDecisionStore = (redis: Redis | Cluster, prefix: string, now: () => number) => {
  const keys = keysOf(prefix);

  const decisions = async (key: string): Promise<Decision[]> =>
    (await redis.hvals(key)).map((json) => JSON.parse(json) as Decision).sort((a, b) => a.at.localeCompare(b.at));

  const decisionOn = (one: Target): string => JSON.stringify({ ...targetOf(one), at: iso(now()) });

  return {
    approvals: () => decisions(keys.approved),
    /** Those that nobody has approved since. */
    revocations: () => decisions(keys.revoked),
    approved: async (): Promise<ReadonlySet<string>> => new Set(await redis.hkeys(keys.approved)),
    /** From here on nothing is held for them. */
    approve: async (destinations: readonly Target[]): Promise<void> => {
      const batch = redis.multi();
      for (const one of destinations) {
        batch.hsetnx(keys.approved, one.id, decisionOn(one)).hdel(keys.revoked, one.id);
      }
      await execute(batch);
    },
    /** From here on everything is held for it. False where it was revoked before. */
    revoke: async (one: Target): Promise<boolean> => {
      const batch = redis.multi().hdel(keys.approved, one.id).hsetnx(keys.revoked, one.id, decisionOn(one));
      return (await execute(batch)).includes(1);
    },
  };
};

const createHoldStore = (redis: Redis | Cluster, prefix: string, now: () => number, bounds: HoldBounds) => {
  const keys = keysOf(prefix);
  // A destination is two fields once it is announced.
  const most = [bounds.alerts, 2 * bounds.destinations];
  return {
    /**
     * Holds alerts; durable when it resolves. Gives the ids of those that there is no room for. `approved`: the destination
     * was approved meanwhile, so send them.
     */
    hold: async (destination: Destination, alerts: readonly Alert[]): Promise<'approved' | ReadonlySet<string>> => {
      const { id } = destination;
      const written = JSON.stringify({ destination, since: iso(now()) } satisfies Written);
      const own = [keys.approved, keys.held, keys.alerts(id)];
      const full: string[] = [];
      for (const chunk of chunksOf(alerts, CHUNK)) {
        const some = chunk.flatMap((alert) => [alert.id, JSON.stringify(alert)]);
        const answer = (await redis.eval(HOLD, 3, ...own, id, written, ...most, ...some)) as string[] | null;
        if (answer === null) return 'approved';
        full.push(...answer);
      }
      return new Set(full);
    },
    /** Oldest first. */
    list: async (): Promise<HeldDestination[]> => {
      const fields = await redis.hgetall(keys.held);
      const all = Object.entries(fields).filter(([field]) => !field.includes(' '));
      const revoked = new Set(all.length === 0 ? [] : await redis.hkeys(keys.revoked));
      const read = async (id: string, json: string): Promise<HeldDestination> => ({
        ...(JSON.parse(json) as Written),
        waiting: await redis.hlen(keys.alerts(id)),
        isAnnounced: `${id} announcedAt` in fields,
        isRevoked: revoked.has(id),
      });
      const held = await Promise.all(all.map(([id, json]) => read(id, json)));
      return held.sort((a, b) => a.since.localeCompare(b.since) || a.destination.id.localeCompare(b.destination.id));
    },
    /** Some of the alerts that are held for a destination. */
    some: async (id: string): Promise<Alert[]> => {
      const ids = (await redis.hkeys(keys.alerts(id))).slice(0, CHUNK);
      const found = ids.length === 0 ? [] : await redis.hmget(keys.alerts(id), ...ids);
      return found.flatMap((json) => (json === null ? [] : [JSON.parse(json) as Alert]));
    },
    /** Ids of those of `alerts` that are held for a destination. */
    waiting: async (id: string, alerts: readonly string[]): Promise<ReadonlySet<string>> => {
      if (alerts.length === 0) return new Set();
      const found = await redis.hmget(keys.alerts(id), ...alerts);
      return new Set(alerts.filter((_, index) => typeof found[index] === 'string'));
    },
    /** Takes alerts out, once they are elsewhere; a destination goes with its last one. */
    remove: async (id: string, alerts: readonly string[]): Promise<void> => {
      await redis.eval(REMOVE, 2, keys.held, keys.alerts(id), id, ...alerts);
    },
    announced: async (id: string): Promise<void> => {
      await redis.hset(keys.held, `${id} announcedAt`, iso(now()));
    },
  };
};

export const createApprovalStore = (
  redis: Redis | Cluster,
  prefix: string,
  now: () => number,
  bounds = HOLD_BOUNDS,
) => ({
  ...createDecisionStore(redis, prefix, now),
  ...createHoldStore(redis, prefix, now, bounds),
});
