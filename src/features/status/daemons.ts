/**
 * What each daemon says of itself: a small record in Redis that it writes every few seconds and removes when it stops.
 * Others can tell from it what runs, and how old that knowledge is.
 */
import type { Cluster, Redis } from 'ioredis';
import type { CheckReport } from '../../ops/health.ts';
import type { ConfigStatus, ServiceStatus } from '../../ops/status.ts';
import { execute } from '../../redis/pipeline.ts';
import type { Trouble } from '../../trouble.ts';
import type { ReloadAnswer } from '../reload/reloader.ts';

export interface DaemonReport {
  id: string;
  host: string;
  pid: number;
  version: string;
  /** ISO 8601. */
  startedAt: string;
  /** What `/readyz` says, with its checks. */
  ready: boolean;
  checks: CheckReport[];
  services: ServiceStatus[];
  /** What else it has found to be wrong; absent where nothing is, and of an older daemon. */
  troubles?: Trouble[];
  /** Both are absent of a daemon of an earlier version. */
  config?: ConfigStatus;
  reload?: ReloadAnswer;
}

export interface HeardDaemon extends DaemonReport {
  /** Milliseconds since it was written, by the clock of Redis: the daemons' clocks may differ. */
  silentMs: number;
}

export interface DaemonReports {
  write(report: DaemonReport): Promise<void>;
  remove(id: string): Promise<void>;
  /** The one that was heard last comes first. */
  list(): Promise<HeardDaemon[]>;
}

/** A daemon that ended without removing its report is remembered for this long. */
const KEEP_MS = 86_400_000;
/** A daemon that crashes at every start leaves one report each time; no more than these are kept, the newest. */
export const MOST_DAEMONS = 50;

export const createDaemonReports = (redis: Redis | Cluster, prefix: string, now: () => number): DaemonReports => {
  const index = `${prefix}:daemons`;
  const keyOf = (id: string): string => `${prefix}:daemon:${id}`;

  return {
    write: async (report) => {
      const batch = redis.pipeline().set(keyOf(report.id), JSON.stringify(report), 'PX', KEEP_MS);
      batch
        .zadd(index, now(), report.id)
        .zremrangebyrank(index, 0, -(MOST_DAEMONS + 1))
        .pexpire(index, KEEP_MS);
      await execute(batch);
    },
    remove: async (id) => {
      await execute(redis.pipeline().del(keyOf(id)).zrem(index, id));
    },
    list: async () => {
      const ids = await redis.zrange(index, '0', '-1');
      if (ids.length === 0) return [];
      const batch = redis.pipeline();
      for (const id of ids) batch.get(keyOf(id)).pttl(keyOf(id));
      const answers = await execute(batch);
      const heard = ids.flatMap((_, at): HeardDaemon[] => {
        const [json, leftMs] = answers.slice(2 * at, 2 * at + 2);
        if (typeof json !== 'string' || typeof leftMs !== 'number') return [];
        return [{ ...(JSON.parse(json) as DaemonReport), silentMs: Math.max(0, KEEP_MS - leftMs) }];
      });
      return heard.sort((a, b) => a.silentMs - b.silentMs);
    },
  };
};
