import { expect, test } from 'vitest';
import { createBackoffStore } from '../../src/poll/admission.ts';
import { openTestRedis } from '../support/redis.ts';

test('the longest wait that a service named holds for every daemon until it is over', async () => {
  const { redis, prefix } = openTestRedis();
  const time = { now: Date.now() };
  const open = () => createBackoffStore(redis, prefix, () => time.now);
  const [one, other] = [open(), open()];
  expect(await one.leftMs('main')).toBe(0);
  await one.note('main', 20_000);
  await other.note('main', 5000);
  expect(await other.leftMs('main')).toBe(20_000);
  expect(await other.leftMs('other')).toBe(0);
  time.now += 19_000;
  expect(await one.leftMs('main')).toBe(1000);
  await other.note('main', 30_000);
  expect(await one.leftMs('main')).toBe(30_000);
  time.now += 30_001;
  expect(await one.leftMs('main')).toBe(0);
});

test('a clock that is set back by an hour does not make the wait an hour longer', async () => {
  const { redis, prefix } = openTestRedis();
  const time = { now: Date.now() };
  const [one, other] = [time, time].map((its) => createBackoffStore(redis, prefix, () => its.now));
  await one?.note('main', 20_000);
  expect([await one?.leftMs('main'), await other?.leftMs('main')]).toEqual([20_000, 20_000]);
  time.now -= 3_600_000;
  expect([await one?.leftMs('main'), await other?.leftMs('main')]).toEqual([20_000, 20_000]);
  time.now += 20_001;
  expect([await one?.leftMs('main'), await other?.leftMs('main')]).toEqual([0, 0]);
});
