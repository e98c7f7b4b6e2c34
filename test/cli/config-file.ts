/** A world for programs of their own: its config in a file, which they find by the environment. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { onTestFinished } from 'vitest';
import { startWorld, type WorldOptions } from '../scenario/world.ts';
import { ownRedis } from '../support/redis-server.ts';

export const startWorldFor = async (options: WorldOptions) => {
  const world = await startWorld(options);
  const file = join(world.dataDir, 'tocsin.yaml');
  await writeFile(file, world.configText);
  return { world, file, environment: { ...world.environment, TOCSIN_CONFIG: file } };
};

/** With a Redis of its own that keeps what it is given: the test run's would be a finding of `check --online`. */
export const startSafeWorld = async (options: WorldOptions & { onFinished: typeof onTestFinished }) => {
  const redis = await ownRedis('--appendonly', 'yes');
  options.onFinished(() => redis.remove());
  return startWorldFor({ ...options, redisUrl: `redis://127.0.0.1:${redis.port}` });
};
