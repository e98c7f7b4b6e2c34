/** The sessions of the status page that somebody has signed out, for all daemons and over restarts. */
import type { Cluster, Redis } from 'ioredis';
import type { EndedSessions } from '../../ops/page/session.ts';
import { execute } from '../../redis/pipeline.ts';

/** Only who knows the token can make one. */
const MOST = 10_000;
/** Longer than a session lasts; and the clocks of daemons differ. */
const KEPT_MS = 13 * 3_600_000;
const SLACK_MS = 3_600_000;

/** By id and end: an id alone is no session, as the signature is missing. */
export const createEndedSessions = (redis: Redis | Cluster, prefix: string, now: () => number): EndedSessions => {
  const key = `${prefix}:signed-out`;
  return {
    add: async (id, until) => {
      const batch = redis.pipeline().zadd(key, until, id);
      batch
        .zremrangebyscore(key, '-inf', now() - SLACK_MS)
        .zremrangebyrank(key, 0, -(MOST + 1))
        .pexpire(key, KEPT_MS);
      await execute(batch);
    },
    has: async (id) => (await redis.zscore(key, id)) !== null,
  };
};
