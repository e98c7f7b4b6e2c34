import { expect, test } from 'vitest';
import { createBackoffs } from '../../src/poll/admission.ts';
import { openTestRedis } from '../support/redis.ts';

test('the longest wait that a service named holds for every daemon until it is over', async () => {
  const { redis, prefix } = openTestRedis();
  const time = { now: Date.now() };
  const open = () => createBackoffs(redis, prefix, { now: () => time.now, monotonic: () => time.now });
  const [one, other] = [open(), open()];
  expect(await one.leftMs('main')).toBe(0);
  await one.note('main', 20_000);
  await other.note('main', 5000);
  expect(await other.leftMs('main')).toBe(20_000);
  expect(await other.leftMs('other')).toBe(0);
  time.now += 19_000;
  expect(await one.leftMs('main')).toBe(1000);
  await other.note('main', 30_000);
  time.now += 5000;
  expect(await one.leftMs('main')).toBe(25_000);
  time.now += 25_001;
  expect(await one.leftMs('main')).toBe(0);
});

test('a wall clock that is set back by an hour does not make the wait an hour longer, also for a daemon that starts then', async () => {
  const { redis, prefix } = openTestRedis();
  const time = { wall: Date.now(), monotonic: 0 };
  const pass = (ms: number) => {
    time.wall += ms;
    time.monotonic += ms;
  };
  const open = () => createBackoffs(redis, prefix, { now: () => time.wall, monotonic: () => time.monotonic });
  const [one, other] = [open(), open()];
  await one.note('main', 20_000);
  expect([await one.leftMs('main'), await other.leftMs('main')]).toEqual([20_000, 20_000]);
  time.wall -= 3_600_000;
  pass(5000);
  expect([await one.leftMs('main'), await other.leftMs('main')]).toEqual([15_000, 15_000]);
  const third = open();
  expect(await third.leftMs('main')).toBe(15_000);
  pass(15_001);
  expect([await one.leftMs('main'), await other.leftMs('main'), await third.leftMs('main')]).toEqual([0, 0, 0]);
});

test('a daemon whose clock is an hour ahead keeps no other from asking for longer than the wait', async () => {
  const { redis, prefix } = openTestRedis();
  const time = { now: Date.now() };
  const ahead = createBackoffs(redis, prefix, { now: () => time.now + 3_600_000, monotonic: () => time.now });
  const right = createBackoffs(redis, prefix, { now: () => time.now, monotonic: () => time.now });
  await ahead.note('main', 2000);
  expect(await right.leftMs('main')).toBe(2000);
  time.now += 5000;
  expect(await right.leftMs('main')).toBe(0);
  time.now += 5000;
  expect(await right.leftMs('main')).toBe(0);
});

test('Redis is asked once in five seconds, however many polls ask', async () => {
  const { redis, prefix } = openTestRedis();
  const time = { now: Date.now() };
  const clocks = { now: () => time.now, monotonic: () => time.now };
  const [one, other] = [createBackoffs(redis, prefix, clocks), createBackoffs(redis, prefix, clocks)];
  expect(await one.leftMs('main')).toBe(0);
  await other.note('main', 20_000);
  time.now += 4999;
  expect(await one.leftMs('main')).toBe(0);
  time.now += 1;
  expect(await Promise.all([one.leftMs('main'), one.leftMs('main')])).toEqual([15_000, 15_000]);
});

test('where there is no wait nothing is written', async () => {
  const { redis, prefix } = openTestRedis();
  const time = { now: Date.now() };
  const { leftMs } = createBackoffs(redis, prefix, { now: () => time.now, monotonic: () => time.now });
  for (let look = 0; look < 3; look += 1) {
    expect(await leftMs('main')).toBe(0);
    time.now += 10_000;
  }
  expect(await redis.keys(`${prefix}*`)).toEqual([]);
});
