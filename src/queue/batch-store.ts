/**
 * Batches: alerts that wait for a destination that cannot take them now. The open batch takes in alerts until its first
 * try, when it is sealed, so that every retry sends the same. Each batch has a number and a job; alerts that come after
 * the seal belong to the next one. A batch that is full is sealed early.
 */
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Destination } from '../alert.ts';
import { chunksOf, packed } from '../chunks.ts';
import { exists } from '../redis/pipeline.ts';

/**
 * KEYS: the open batch, the number of batches, the bytes of the open batch; ARGV: how many alerts and bytes a batch holds,
 * then id and JSON of each alert. Gives the batch's number, below zero where it is full and took nothing.
 */
const ADD = `
local size = redis.call('HLEN', KEYS[1])
local bytes = 0
for i = 4, #ARGV, 2 do bytes = bytes + #ARGV[i] end
if size > 0 then
  local held = tonumber(redis.call('GET', KEYS[3]) or '0')
  local isFull = size + (#ARGV - 2) / 2 > tonumber(ARGV[1]) or held + bytes > tonumber(ARGV[2])
  if isFull then return -tonumber(redis.call('GET', KEYS[2])) end
  bytes = held + bytes
end
for i = 3, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('SET', KEYS[3], bytes)
if size == 0 then return redis.call('INCR', KEYS[2]) end
return tonumber(redis.call('GET', KEYS[2]))`;

/** KEYS: the open batch, the number of batches, the sealed batch, the bytes of the open batch; ARGV: its number. */
const SEAL = `
if redis.call('GET', KEYS[2]) ~= ARGV[1] or redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if redis.call('EXISTS', KEYS[3]) == 1 then return 0 end
redis.call('RENAME', KEYS[1], KEYS[3])
redis.call('DEL', KEYS[4])
return 1`;

/** KEYS: the open batch, the number of batches. */
const FORGET = `
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
return redis.call('DEL', KEYS[2])`;

/** What one message can be about, and what its job can hold in memory; more is the next batch. */
const FULL = { alerts: 5000, bytes: 8 * 1024 * 1024 };

/** The most that one call writes to Redis or reads from it; the bytes are approximate. */
const AT_ONCE = { alerts: 200, bytes: 1024 * 1024 };

/** The order of alerts in a batch's message. */
export const oldestFirst = (a: Alert, b: Alert): number => {
  if (a.at !== b.at) return a.at < b.at ? -1 : 1;
  return a.id < b.id ? -1 : Number(a.id > b.id);
};

export const batchKeys = (prefix: string) => ({
  open: (destination: string): string => `${prefix}:batch:${destination}`,
  count: (destination: string): string => `${prefix}:batches:${destination}`,
  sealed: (destination: string, batch: number): string => `${prefix}:sealed:${destination}:${batch}`,
  bytes: (destination: string): string => `${prefix}:batch-bytes:${destination}`,
});

/** `full`: what a batch holds. */
export const createBatchStore = (redis: Redis | Cluster, prefix: string, full = FULL) => {
  const keys = batchKeys(prefix);

  const sealOpen = async (id: string, batch: number): Promise<void> => {
    const all = [keys.open(id), keys.count(id), keys.sealed(id, batch), keys.bytes(id)];
    await redis.eval(SEAL, all.length, ...all, batch);
  };

  /** Reads in chunks, so that no other command waits long: a batch may be large. */
  const read = async (key: string): Promise<Alert[]> => {
    const alerts: Alert[] = [];
    for (const ids of chunksOf(await redis.hkeys(key), AT_ONCE.alerts)) {
      const found = await redis.hmget(key, ...ids);
      for (const json of found) if (json !== null) alerts.push(JSON.parse(json) as Alert);
    }
    return alerts.sort(oldestFirst);
  };

  return {
    /**
     * Adds alerts to the open batch, once however often; durable when it resolves. Gives the numbers of the batches that took
     * them, and of those that were full: each has to have its job.
     */
    add: async ({ id }: Destination, alerts: readonly Alert[]): Promise<number[]> => {
      const numbers = new Set<number>();
      const all = [keys.open(id), keys.count(id), keys.bytes(id)];
      const put = (pairs: readonly string[], { alerts: most, bytes } = full) =>
        redis.eval(ADD, all.length, ...all, most, bytes, ...pairs).then(Number);
      const least = Math.floor(AT_ONCE.bytes / AT_ONCE.alerts);
      const pairs = alerts.map((alert) => [alert.id, JSON.stringify(alert)] as const);
      for (const chunk of packed(pairs, AT_ONCE.bytes, ([, json]) => Math.max(least, json.length))) {
        const number = await put(chunk.flat());
        numbers.add(Math.abs(number));
        if (number >= 0) continue;
        await sealOpen(id, -number);
        // Into the next one, even if others have filled it meanwhile.
        numbers.add(await put(chunk.flat(), { alerts: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER }));
      }
      return [...numbers];
    },
    hasOpenBatch: ({ id }: Destination): Promise<boolean> => exists(redis, keys.open(id)),
    /** Whether the alert is in the destination's open batch; both by id. */
    isInBatch: async (destination: Destination['id'], alert: Alert['id']): Promise<boolean> =>
      (await redis.hexists(keys.open(destination), alert)) === 1,
    /** Seals a batch, once, and gives all of its alerts, oldest first. */
    seal: async ({ id }: Destination, batch: number): Promise<Alert[]> => {
      await sealOpen(id, batch);
      return read(keys.sealed(id, batch));
    },
    /** Removes a sealed batch, once all of its deliveries have ended. */
    drop: async ({ id }: Destination, batch: number): Promise<void> => {
      await redis.del(keys.sealed(id, batch));
    },
    /** Forgets how many batches there were, unless one is open: the next one is the first again. */
    forget: async (id: Destination['id']): Promise<void> => {
      await redis.eval(FORGET, 2, keys.open(id), keys.count(id));
    },
  };
};

export type BatchStore = ReturnType<typeof createBatchStore>;
