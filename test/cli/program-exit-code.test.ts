/** What a Redis that refuses us means for whoever started us. */

import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { exitCodeOf } from '../../src/cli/program.ts';
import { ownRedis } from '../support/redis-server.ts';

test('a Redis that cannot take commands now is a reason to try again, not a mistake', async ({ onTestFinished }) => {
  const server = await ownRedis();
  onTestFinished(() => server.remove());
  const redis = new Redis(server.port);
  onTestFinished(() => redis.disconnect());
  await redis.config('SET', 'min-replicas-to-write', '1');
  const refused = await redis.set('key', 'value').catch((error: unknown) => error);
  expect(exitCodeOf(refused, false)).toMatchObject({ code: 75, text: expect.stringContaining('NOREPLICAS') });
  const inScript = await redis.eval("return redis.call('SET', 'key', 'value')", 0).catch((error: unknown) => error);
  expect(exitCodeOf(inScript, false).code).toBe(75);
  const mistaken = await redis.call('SET', 'key').catch((error: unknown) => error);
  expect(exitCodeOf(mistaken, false).code).toBe(1);
});
