/** The troubles that were announced, over all daemons: each once, until it is over. */
import type { Cluster, Redis } from 'ioredis';
import type { Destination } from '../../alert.ts';
import { execute } from '../../redis/pipeline.ts';
import { troubleKey } from '../../trouble.ts';
import type { ToldTrouble } from './changes.ts';

export interface StoredTrouble extends ToldTrouble {
  /** Who gets the announcement, and the one of its end. */
  told: Destination[];
  /** The announcement is durably queued. */
  isTold: boolean;
}

export interface WatchdogStore {
  list(): Promise<StoredTrouble[]>;
  set(troubles: readonly StoredTrouble[]): Promise<void>;
  remove(troubles: readonly StoredTrouble[]): Promise<void>;
  /** This daemon is the one that calls in this interval. */
  takesHeartbeat(id: string, everyMs: number): Promise<boolean>;
}

/** As long as the ledger keeps alerts; what lasts longer is announced again. */
const KEEP_MS = 35 * 86_400_000;

export const createWatchdogStore = (redis: Redis | Cluster, prefix: string): WatchdogStore => {
  const key = `${prefix}:watchdog`;
  return {
    list: async () =>
      Object.values(await redis.hgetall(key))
        .map((json) => JSON.parse(json) as StoredTrouble)
        .toSorted((a, b) => (a.since ?? '').localeCompare(b.since ?? '')),
    set: async (troubles) => {
      if (troubles.length === 0) return;
      const fields = troubles.flatMap((one) => [troubleKey(one), JSON.stringify(one)]);
      await execute(
        redis
          .pipeline()
          .hset(key, ...fields)
          .pexpire(key, KEEP_MS),
      );
    },
    remove: async (troubles) => {
      if (troubles.length > 0) await redis.hdel(key, ...troubles.map(troubleKey));
    },
    takesHeartbeat: async (id, everyMs) => (await redis.set(`${prefix}:heartbeat`, id, 'PX', everyMs, 'NX')) !== null,
  };
};
