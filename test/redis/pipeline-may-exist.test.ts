/** What is hardly ever there is asked for together with everything else of the moment. */
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { mayExist } from '../../src/redis/pipeline.ts';
import { ownRedis } from '../support/redis-server.ts';

const setUp = async () => {
  const server = await ownRedis();
  onTestFinished(() => server.remove());
  const redis = new Redis(server.port);
  onTestFinished(() => redis.disconnect());
  const asked = async (): Promise<number> =>
    Number(/^cmdstat_exists:calls=(\d+)/m.exec(await redis.info('commandstats'))?.[1] ?? 0);
  return { redis, asked };
};

test('questions of one moment are one command where nothing is there', async () => {
  const { redis, asked } = await setUp();
  const questions = [
    mayExist(redis, 'nothing-1'),
    mayExist(redis, 'nothing-2', 'nothing-3'),
    mayExist(redis, 'nothing-1'),
  ];
  expect(await Promise.all(questions)).toEqual([false, false, false]);
  expect(await asked()).toBe(1);
  expect(await mayExist(redis, 'nothing-4')).toBe(false);
  expect(await asked()).toBe(2);
});

test('where one is there each question has its own answer, and that one is not asked for again for a while', async () => {
  const { redis, asked } = await setUp();
  await redis.set('something-1', 1);
  const questions = () => Promise.all([mayExist(redis, 'nothing-5'), mayExist(redis, 'nothing-6', 'something-1')]);
  expect(await questions()).toEqual([false, true]);
  const before = await asked();
  expect(await questions()).toEqual([false, true]);
  expect((await asked()) - before).toBe(1);
});

test('what is asked for while Redis fails fails, and what comes later does not', async () => {
  const { redis } = await setUp();
  const away = new Redis({ port: 1, lazyConnect: true, enableOfflineQueue: false, retryStrategy: () => null });
  away.on('error', () => {});
  await expect(mayExist(away, 'nothing-7')).rejects.toThrow();
  await expect(mayExist(away, 'nothing-7')).rejects.toThrow();
  expect(await mayExist(redis, 'nothing-7')).toBe(false);
});
