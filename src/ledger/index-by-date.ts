/** What is in the books, found by date: for audits, and to keep the books bounded. Never asked on the way of an alert. */
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Destination } from '../alert.ts';
import { execute } from '../redis/pipeline.ts';
import { ALERT_FIELD, ledgerKeys, OPEN_FIELD, RETENTION_SECONDS } from './record.ts';

export interface AlertIndex {
  /** Ids of the alerts dated after `from` and up to `to`, both in epoch milliseconds; oldest first. */
  between(from: number, to: number): Promise<string[]>;
  /** Destinations of alerts' deliveries, by id, in the order of `alerts`. */
  destinations(alerts: readonly Alert['id'][]): Promise<Destination['id'][][]>;
  /** Ids of a track's alerts that are on their way, oldest first. */
  open(track: Pick<Alert, 'service' | 'source' | 'protocol'>): Promise<string[]>;
  /** Takes the oldest alerts out of the books where there are more than they hold; what is on its way stays. */
  trim(): Promise<number>;
}

/** About 2 kB each. Sooner or later than the 35 days only where so many come in that time. */
const MOST_ALERTS = 200_000;
const CHUNK = 500;

export const createAlertIndex = (
  redis: Redis | Cluster,
  prefix: string,
  now: () => number,
  mostAlerts = MOST_ALERTS,
): AlertIndex => {
  const keys = ledgerKeys(prefix);

  /** Those of `ids` that nothing is on its way of. */
  const closed = async (ids: readonly string[]): Promise<string[]> => {
    const batch = redis.pipeline();
    for (const id of ids) batch.hget(keys.alert(id), OPEN_FIELD);
    const open = await execute(batch);
    return ids.filter((_, index) => Number(open[index] ?? 0) <= 0);
  };

  const remove = async (ids: readonly string[]): Promise<void> => {
    const batch = redis.pipeline();
    for (const id of ids) batch.del(keys.alert(id)).zrem(keys.index, id);
    await execute(batch);
  };

  return {
    between: (from, to) => redis.zrangebyscore(keys.index, `(${from}`, to),
    destinations: async (alerts) => {
      const batch = redis.pipeline();
      for (const id of alerts) batch.hkeys(keys.alert(id));
      const fields = (await execute(batch)) as string[][];
      return fields.map((all) => all.filter((field) => field !== ALERT_FIELD && field !== OPEN_FIELD));
    },
    open: (track) => redis.zrange(keys.open(track), '0', '-1'),
    trim: async () => {
      await redis.zremrangebyscore(keys.index, '-inf', `(${now() - RETENTION_SECONDS * 1000}`);
      let excess = (await redis.zcard(keys.index)) - mostAlerts;
      let removed = 0;
      for (let skipped = 0; excess > 0; ) {
        const oldest = await redis.zrange(keys.index, String(skipped), String(skipped + Math.min(CHUNK, excess) - 1));
        if (oldest.length === 0) break;
        const gone = await closed(oldest);
        await remove(gone);
        removed += gone.length;
        skipped += oldest.length - gone.length;
        excess -= oldest.length;
      }
      return removed;
    },
  };
};
