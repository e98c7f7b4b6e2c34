import { expect, onTestFinished, test } from 'vitest';
import { createLocks, type HeldLock } from '../../src/redis/lock.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const setUp = (ttlMs?: number) => {
  const { redis, prefix } = openTestRedis();
  const locks = createLocks(redis, prefix, ttlMs);
  const take = async (...names: string[]): Promise<HeldLock | undefined> => {
    const held = await locks.take(names);
    if (held) onTestFinished(() => held.release());
    return held;
  };
  return { redis, prefix, take };
};

test('a name is held once, until it is released', async () => {
  const { redis, prefix, take } = setUp();
  const first = await take('approval:slack-1');
  expect(await redis.keys(`${prefix}*`)).toEqual([`${prefix}:lock:approval:slack-1`]);
  expect(await take('approval:slack-1')).toBeUndefined();
  expect(await (await take('approval:slack-2'))?.renew()).toBe(true);
  await first?.release();
  expect(await (await take('approval:slack-1'))?.renew()).toBe(true);
});

test('several names are taken all or none', async () => {
  const { take } = setUp();
  await take('b');
  expect(await take('a', 'b')).toBeUndefined();
  const free = await take('a');
  expect(await free?.renew()).toBe(true);
  await free?.release();
  await take('a', 'c');
  expect(await take('c')).toBeUndefined();
});

test('a live holder keeps it for longer than its time', async () => {
  const { redis, prefix, take } = setUp(2000);
  const held = await take('a');
  const key = `${prefix}:lock:a`;
  // As if most of its time were over: the holder has to prolong it by itself.
  await redis.pexpire(key, 1500);
  await until('it is renewed', async () => (await redis.pttl(key)) > 1500);
  expect(await take('a')).toBeUndefined();
  expect(await held?.renew()).toBe(true);
});

test('a holder asks whether it still has it only where it was not renewed in time', async () => {
  const { redis, prefix, take } = setUp(400);
  const held = await take('a');
  await redis.del(`${prefix}:lock:a`);
  expect(await held?.isHeld()).toBe(true);
  // The process stands still.
  for (const until = performance.now() + 250; performance.now() < until; );
  expect(await held?.isHeld()).toBe(false);
});

test('a holder learns that another has it now, and releases nothing of that one', async () => {
  const { redis, prefix, take } = setUp();
  const lost = await take('a');
  await redis.del(`${prefix}:lock:a`);
  expect(lost?.lost.aborted).toBe(false);
  expect(await lost?.renew()).toBe(false);
  expect(lost?.lost.aborted).toBe(true);
  const next = await take('a');
  await lost?.release();
  expect(await next?.renew()).toBe(true);
  expect(await take('a')).toBeUndefined();
});

test('the lock of a holder that died expires', async () => {
  const { redis, prefix, take } = setUp();
  const key = `${prefix}:lock:a`;
  await redis.set(key, 'a killed process', 'PX', 60_000);
  expect(await take('a')).toBeUndefined();
  await redis.pexpire(key, 1);
  const next = await until('it has expired', () => take('a'));
  expect(await next.renew()).toBe(true);
});

test('a holder that Redis does not answer takes it for lost', async () => {
  const { redis, prefix } = openTestRedis();
  const held = await createLocks(redis, prefix, 300).take(['presses']);
  expect(held?.lost.aborted).toBe(false);
  redis.disconnect();
  await until('it is lost', () => held?.lost.aborted === true);
});
