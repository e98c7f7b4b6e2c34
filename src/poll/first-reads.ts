/** Which items are read for the first time: overlap and sweep read most of them again, in any daemon. */
import type { Cluster, Redis } from 'ioredis';
import type { Source } from '../alert.ts';
import { alertId } from '../identity.ts';
import type { Item } from '../item.ts';
import { execute } from '../redis/pipeline.ts';

export interface FirstReads {
  /** Gives those that were not read before, and remembers them. */
  admit(service: string, source: Source, items: readonly Item[]): Promise<Item[]>;
}

/** Of one service and source; beyond it the oldest are forgotten, and would count again. */
const MOST_REMEMBERED = 100_000;

/** `keepMs`: for so long a read may bring an item again. */
export const createFirstReads = (
  redis: Redis | Cluster,
  prefix: string,
  { keepMs, now, most = MOST_REMEMBERED }: { keepMs: number; now(): number; most?: number },
): FirstReads => ({
  admit: async (service, source, items) => {
    const byId = new Map(items.map((item) => [alertId(service, source, item.itemId), item]));
    if (byId.size === 0) return [];
    const key = `${prefix}:read:${JSON.stringify([service, source])}`;
    const readAt = await redis.zmscore(key, ...byId.keys());
    const fresh = [...byId].filter((_, index) => readAt[index] === null);
    if (fresh.length === 0) return [];
    const batch = redis.pipeline().zadd(key, 'NX', ...fresh.flatMap(([id]) => [now(), id]));
    batch.zremrangebyscore(key, '-inf', now() - keepMs).zremrangebyrank(key, 0, -(most + 1));
    await execute(batch.pexpire(key, keepMs));
    return fresh.map(([, item]) => item);
  },
});
