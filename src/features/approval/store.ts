/** Destinations that wait to be approved, what waits for them in full, and what was decided of which. */
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Destination } from '../../alert.ts';
import { type Target, targetOf } from '../../ledger/record.ts';
import { execute } from '../../redis/pipeline.ts';
import { iso } from '../../time.ts';

/** A destination that somebody approved or revoked. */
export interface Decision extends Target {
  /** ISO 8601. */
  at: string;
}

export interface HeldDestination {
  destination: Destination;
  /** ISO 8601. */
  since: string;
  /** Alerts that wait for it. */
  waiting: number;
  /** People were told of it. */
  isAnnounced: boolean;
  /** Somebody wanted nothing to be sent there. */
  isRevoked: boolean;
}

export interface ApprovalStore {
  approvals(): Promise<Decision[]>;
  /** Those that nobody has approved since. */
  revocations(): Promise<Decision[]>;
  /** Ids. */
  approved(): Promise<ReadonlySet<string>>;
  /** From here on nothing is held for them. */
  approve(destinations: readonly Target[]): Promise<void>;
  /** From here on everything is held for it. False where it was revoked before. */
  revoke(destination: Target): Promise<boolean>;
  /** Keeps alerts for a destination; durable when it resolves. `approved`: it has been meanwhile, so they are to be sent. */
  hold(destination: Destination, alerts: readonly Alert[]): Promise<'approved' | 'held'>;
  /** Oldest first. */
  list(): Promise<HeldDestination[]>;
  /** Some of the alerts that wait for a destination. */
  some(id: string): Promise<Alert[]>;
  /** Ids of those of `alerts` that wait for a destination. */
  waiting(id: string, alerts: readonly string[]): Promise<ReadonlySet<string>>;
  /** Takes alerts out, once they are elsewhere; a destination goes with its last one. */
  remove(id: string, alerts: readonly string[]): Promise<void>;
  /** Notes that people were told of it. */
  announced(id: string): Promise<void>;
}

/** KEYS: the approvals, the held destinations, what waits for this one; ARGV: its id, itself; then by alert its id, itself. */
const HOLD = `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 0 end
redis.call('HSETNX', KEYS[2], ARGV[1], ARGV[2])
for i = 3, #ARGV, 2 do redis.call('HSETNX', KEYS[3], ARGV[i], ARGV[i + 1]) end
return 1`;

/** KEYS: the held destinations, what waits for this one; ARGV: its id; then alerts' ids. */
const REMOVE = `
for i = 2, #ARGV do redis.call('HDEL', KEYS[2], ARGV[i]) end
if redis.call('EXISTS', KEYS[2]) == 0 then redis.call('HDEL', KEYS[1], ARGV[1], ARGV[1] .. ' announcedAt') end
return 1`;

const CHUNK = 100;

interface Written {
  destination: Destination;
  since: string;
}

export const createApprovalStore = (redis: Redis | Cluster, prefix: string, now: () => number): ApprovalStore => {
  const approvedKey = `${prefix}:approved`;
  const revokedKey = `${prefix}:revoked`;
  const heldKey = `${prefix}:held`;
  const alertsKey = (id: string): string => `${prefix}:held:${id}`;
  const nowIso = (): string => iso(now());

  const decisions = async (key: string): Promise<Decision[]> =>
    Object.values(await redis.hgetall(key))
      .map((json) => JSON.parse(json) as Decision)
      .sort((a, b) => a.at.localeCompare(b.at));

  const decisionOn = (one: Target): string => JSON.stringify({ ...targetOf(one), at: nowIso() });

  return {
    approvals: () => decisions(approvedKey),
    revocations: () => decisions(revokedKey),
    approved: async () => new Set(await redis.hkeys(approvedKey)),
    approve: async (destinations) => {
      const batch = redis.multi();
      for (const one of destinations) {
        batch.hsetnx(approvedKey, one.id, decisionOn(one)).hdel(revokedKey, one.id);
      }
      await execute(batch);
    },
    revoke: async (one) => {
      const batch = redis.multi().hdel(approvedKey, one.id).hsetnx(revokedKey, one.id, decisionOn(one));
      return (await execute(batch)).includes(1);
    },
    hold: async (destination, alerts) => {
      const { id } = destination;
      const written: Written = { destination, since: nowIso() };
      for (let start = 0; start < alerts.length; start += CHUNK) {
        const some = alerts.slice(start, start + CHUNK).flatMap((alert) => [alert.id, JSON.stringify(alert)]);
        const keys = [approvedKey, heldKey, alertsKey(id)];
        if ((await redis.eval(HOLD, 3, ...keys, id, JSON.stringify(written), ...some)) !== 1) return 'approved';
      }
      return 'held';
    },
    list: async () => {
      const fields = await redis.hgetall(heldKey);
      const all = Object.entries(fields).filter(([field]) => !field.includes(' '));
      const revoked = new Set(all.length === 0 ? [] : await redis.hkeys(revokedKey));
      const read = async (id: string, json: string): Promise<HeldDestination> => ({
        ...(JSON.parse(json) as Written),
        waiting: await redis.hlen(alertsKey(id)),
        isAnnounced: `${id} announcedAt` in fields,
        isRevoked: revoked.has(id),
      });
      const held = await Promise.all(all.map(([id, json]) => read(id, json)));
      return held.sort((a, b) => a.since.localeCompare(b.since) || a.destination.id.localeCompare(b.destination.id));
    },
    some: async (id) => {
      const ids = (await redis.hkeys(alertsKey(id))).slice(0, CHUNK);
      const found = ids.length === 0 ? [] : await redis.hmget(alertsKey(id), ...ids);
      return found.flatMap((json) => (json === null ? [] : [JSON.parse(json) as Alert]));
    },
    waiting: async (id, alerts) => {
      if (alerts.length === 0) return new Set();
      const found = await redis.hmget(alertsKey(id), ...alerts);
      return new Set(alerts.filter((_, index) => typeof found[index] === 'string'));
    },
    remove: async (id, alerts) => {
      await redis.eval(REMOVE, 2, heldKey, alertsKey(id), id, ...alerts);
    },
    announced: async (id) => {
      await redis.hset(heldKey, `${id} announcedAt`, nowIso());
    },
  };
};
