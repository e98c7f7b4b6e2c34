/** A connection to the run's redis-server and a key prefix of the test's own. */
import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, inject } from 'vitest';

export const openTestRedis = (): { redis: Redis; prefix: string } => {
  const redis = new Redis({ path: inject('redisSocket'), maxRetriesPerRequest: null });
  afterAll(() => redis.quit());
  return { redis, prefix: `{test-${randomUUID()}}` };
};
