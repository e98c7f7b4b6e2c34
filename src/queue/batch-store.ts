/**
 * What waits for a destination that cannot take it now: gathered until its next slot, then frozen, so that what is tried
 * is tried again as the same thing. Each gathering has a number and a job of its own; what comes after it froze belongs
 * to the next one.
 */
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Destination } from '../alert.ts';

export interface BatchStore {
  /** Gathers; durable when it resolves, and the same however often. Gives the gathering that will tell them. */
  add(destination: Destination, alerts: readonly Alert[]): Promise<number>;
  /** Something is being gathered for it now. */
  hasOpenBatch(destination: Destination): Promise<boolean>;
  /** Closes a gathering, once, and gives everything in it, oldest first. */
  seal(destination: Destination, gathering: number): Promise<Alert[]>;
  /** Everything in it has ended. */
  drop(destination: Destination, gathering: number): Promise<void>;
}

/** For those who ask where an alert is. */
export interface BatchLookup {
  /** An alert is being gathered for a destination now; both by id. */
  isInBatch(destination: Destination['id'], alert: Alert['id']): Promise<boolean>;
}

/** KEYS: what waits, the number; ARGV: id and JSON of each alert. */
const ADD = `
local fresh = redis.call('EXISTS', KEYS[1]) == 0
for i = 1, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
if fresh then return redis.call('INCR', KEYS[2]) end
return tonumber(redis.call('GET', KEYS[2]))`;

/** KEYS: what waits, the number, what is frozen; ARGV: the gathering. */
const FREEZE = `
if redis.call('GET', KEYS[2]) ~= ARGV[1] or redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if redis.call('EXISTS', KEYS[3]) == 1 then return 0 end
redis.call('RENAME', KEYS[1], KEYS[3])
return 1`;

/** So many alerts go into Redis in one call. */
const CHUNK = 200;

/** The order in which what was gathered is told. */
export const oldestFirst = (a: Alert, b: Alert): number => a.at.localeCompare(b.at) || a.id.localeCompare(b.id);

export const batchKeys = (prefix: string) => ({
  waiting: (destination: string): string => `${prefix}:gather:${destination}`,
  count: (destination: string): string => `${prefix}:gathers:${destination}`,
  frozen: (destination: string, gathering: number): string => `${prefix}:frozen:${destination}:${gathering}`,
});

export const createBatchStore = (redis: Redis | Cluster, prefix: string): BatchStore & BatchLookup => {
  const keys = batchKeys(prefix);
  return {
    add: async ({ id }, alerts) => {
      let gathering = 0;
      for (let start = 0; start < alerts.length; start += CHUNK) {
        const pairs = alerts.slice(start, start + CHUNK).flatMap((alert) => [alert.id, JSON.stringify(alert)]);
        gathering = Number(await redis.eval(ADD, 2, keys.waiting(id), keys.count(id), ...pairs));
      }
      return gathering;
    },
    hasOpenBatch: async ({ id }) => (await redis.exists(keys.waiting(id))) === 1,
    isInBatch: async (destination, alert) => (await redis.hexists(keys.waiting(destination), alert)) === 1,
    seal: async ({ id }, gathering) => {
      const frozen = keys.frozen(id, gathering);
      await redis.eval(FREEZE, 3, keys.waiting(id), keys.count(id), frozen, gathering);
      const alerts = (await redis.hvals(frozen)).map((json) => JSON.parse(json) as Alert);
      return alerts.sort(oldestFirst);
    },
    drop: async ({ id }, gathering) => {
      await redis.del(keys.frozen(id, gathering));
    },
  };
};
