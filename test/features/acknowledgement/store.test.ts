/** The key that tokens are made with is one for all daemons, and never an empty one. */
import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { createAcknowledgementStore } from '../../../src/features/acknowledgement/store.ts';
import { openTestRedis } from '../../support/redis.ts';

test('all who ask at once get the same key', async () => {
  const { redis, prefix } = openTestRedis();
  const keys = await Promise.all(
    Array.from({ length: 20 }, () => createAcknowledgementStore(redis, prefix, Date.now).key()),
  );
  expect(new Set(keys).size).toBe(1);
  expect(keys[0]?.length).toBeGreaterThan(40);
  await redis.del(`${prefix}:button-key`);
  expect(await createAcknowledgementStore(redis, prefix, Date.now).key()).not.toBe(keys[0]);
});

test('where Redis drops it between two commands, there is none rather than an empty one', async () => {
  // Evicted as soon as it was there.
  const redis = { get: async () => null, set: async () => null } as unknown as Redis;
  await expect(createAcknowledgementStore(redis, 'x', Date.now).key()).rejects.toThrow('lost the key');
});
