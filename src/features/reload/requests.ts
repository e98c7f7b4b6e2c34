/** Requests of `tocsin reload` to every daemon that shares this Redis. Daemons answer with their reports. */
import type { Cluster, Redis } from 'ioredis';
import { execute } from '../../redis/pipeline.ts';

export interface ReloadRequests {
  /** Asks every daemon to read its config again. */
  ask(id: string): Promise<void>;
  /** Those of the last minutes, the oldest first. */
  list(): Promise<string[]>;
}

/** A daemon looks every few seconds; one that did not meanwhile has read its config at a later start. */
const KEEP_MS = 120_000;
/** Of that time; more ask for the same. */
const MOST_KEPT = 20;

export const createReloadRequests = (redis: Redis | Cluster, prefix: string): ReloadRequests => {
  const key = `${prefix}:reload`;
  return {
    ask: async (id) => {
      await execute(redis.pipeline().rpush(key, id).ltrim(key, -MOST_KEPT, -1).pexpire(key, KEEP_MS));
    },
    list: () => redis.lrange(key, 0, -1),
  };
};
