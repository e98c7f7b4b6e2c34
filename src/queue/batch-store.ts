/**
 * Batches: alerts that wait for a destination that cannot take them now. The open batch takes in alerts until its first
 * try, when it is sealed, so that every retry sends the same. Each batch has a number and a job; alerts that come after
 * the seal belong to the next one. (The Redis keys call it gathering and frozen.)
 */
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Destination } from '../alert.ts';
import { chunksOf } from '../chunks.ts';

export interface BatchStore {
  /** Adds alerts to the open batch, once however often; durable when it resolves. Gives the batch's number. */
  add(destination: Destination, alerts: readonly Alert[]): Promise<number>;
  hasOpenBatch(destination: Destination): Promise<boolean>;
  /** Seals a batch, once, and gives all of its alerts, oldest first. */
  seal(destination: Destination, batch: number): Promise<Alert[]>;
  /** Removes a sealed batch, once all of its deliveries have ended. */
  drop(destination: Destination, batch: number): Promise<void>;
}

export interface BatchCleanup {
  /** Forgets how many batches there were, unless one is open: the next one is the first again. */
  forget(destination: Destination['id']): Promise<void>;
}

export interface BatchLookup {
  /** Whether the alert is in the destination's open batch; both by id. */
  isInBatch(destination: Destination['id'], alert: Alert['id']): Promise<boolean>;
}

/** KEYS: the open batch, the number of batches; ARGV: id and JSON of each alert. */
const ADD = `
local fresh = redis.call('EXISTS', KEYS[1]) == 0
for i = 1, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
if fresh then return redis.call('INCR', KEYS[2]) end
return tonumber(redis.call('GET', KEYS[2]))`;

/** KEYS: the open batch, the number of batches, the sealed batch; ARGV: its number. */
const SEAL = `
if redis.call('GET', KEYS[2]) ~= ARGV[1] or redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if redis.call('EXISTS', KEYS[3]) == 1 then return 0 end
redis.call('RENAME', KEYS[1], KEYS[3])
return 1`;

/** KEYS: the open batch, the number of batches. */
const FORGET = `
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
return redis.call('DEL', KEYS[2])`;

/** Alerts that go into Redis in one call. */
const ADDED_AT_ONCE = 200;

/** The order of alerts in a batch's message. */
export const oldestFirst = (a: Alert, b: Alert): number => a.at.localeCompare(b.at) || a.id.localeCompare(b.id);

export const batchKeys = (prefix: string) => ({
  open: (destination: string): string => `${prefix}:gather:${destination}`,
  count: (destination: string): string => `${prefix}:gathers:${destination}`,
  sealed: (destination: string, batch: number): string => `${prefix}:frozen:${destination}:${batch}`,
});

export const createBatchStore = (redis: Redis | Cluster, prefix: string): BatchStore & BatchLookup & BatchCleanup => {
  const keys = batchKeys(prefix);
  return {
    add: async ({ id }, alerts) => {
      let batch = 0;
      for (const chunk of chunksOf(alerts, ADDED_AT_ONCE)) {
        const pairs = chunk.flatMap((alert) => [alert.id, JSON.stringify(alert)]);
        batch = Number(await redis.eval(ADD, 2, keys.open(id), keys.count(id), ...pairs));
      }
      return batch;
    },
    hasOpenBatch: async ({ id }) => (await redis.exists(keys.open(id))) === 1,
    isInBatch: async (destination, alert) => (await redis.hexists(keys.open(destination), alert)) === 1,
    seal: async ({ id }, batch) => {
      const sealed = keys.sealed(id, batch);
      await redis.eval(SEAL, 3, keys.open(id), keys.count(id), sealed, batch);
      const alerts = (await redis.hvals(sealed)).map((json) => JSON.parse(json) as Alert);
      return alerts.sort(oldestFirst);
    },
    drop: async ({ id }, batch) => {
      await redis.del(keys.sealed(id, batch));
    },
    forget: async (id) => {
      await redis.eval(FORGET, 2, keys.open(id), keys.count(id));
    },
  };
};
