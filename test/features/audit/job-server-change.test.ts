/** Which Redis server answers is remembered in Redis itself: a daemon may start together with it. */
import { expect, test } from 'vitest';
import { createServerChange } from '../../../src/features/audit/job.ts';
import { openTestRedis } from '../../support/redis.ts';

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const found: string[] = [];
  const failing = { times: 0 };
  const { check } = createServerChange({
    redis,
    prefix,
    onChanged: async (server) => {
      found.push(server);
      if (failing.times-- > 0) throw new Error('Redis is away again');
    },
  });
  return { redis, key: `${prefix}:server`, found, failing, check };
};

test('an empty Redis is no change, and neither is the same server', async () => {
  const { redis, key, found, check } = setUp();
  await check();
  await check();
  expect(found).toEqual([]);
  expect(await redis.get(key)).toMatch(/^[0-9a-f]{40}$/);
});

test('another server is a change, once', async () => {
  const { redis, key, found, check } = setUp();
  await redis.set(key, 'the one before');
  await check();
  await check();
  expect(found).toEqual([await redis.get(key)]);
});

test('what could not be looked for is looked for again', async () => {
  const { redis, key, found, failing, check } = setUp();
  await redis.set(key, 'the one before');
  failing.times = 1;
  await expect(check()).rejects.toThrow('away again');
  await check();
  expect(found).toHaveLength(2);
  expect(await redis.get(key)).toBe(found[1]);
});

test('a server that may not be asked who it is never changes', async () => {
  const { redis, key, found } = setUp();
  await redis.acl('SETUSER', 'mute', 'on', '>pass', '~*', '+@all', '-info');
  const limited = redis.duplicate({ username: 'mute', password: 'pass' });
  await redis.set(key, 'the one before');
  const change = createServerChange({
    redis: limited,
    prefix: key.slice(0, -7),
    onChanged: async (id) => void found.push(id),
  });
  await change.check();
  expect(found).toEqual([]);
  limited.disconnect();
  await redis.acl('DELUSER', 'mute');
});
