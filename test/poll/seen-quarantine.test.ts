import { expect, test } from 'vitest';
import { createQuarantine } from '../../src/poll/seen.ts';
import { T0 } from '../support/items.ts';
import { openTestRedis } from '../support/redis.ts';

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const time = { now: T0 };
  return { time, quarantine: createQuarantine(redis, prefix, () => time.now) };
};

const malformed = (n: number, raw = `item ${n}`) => ({ problem: 'no assessment', raw });

test('a malformed item is kept and given once, whenever it is read', async () => {
  const { time, quarantine } = setUp();
  expect(await quarantine.admit('main', 'inspections', [malformed(1), malformed(1), malformed(2)])).toEqual([
    malformed(1),
    malformed(2),
  ]);
  time.now += 60_000;
  expect(await quarantine.admit('main', 'inspections', [malformed(2), malformed(3)])).toEqual([malformed(3)]);
  expect(await quarantine.admit('main', 'notifications', [malformed(2)])).toEqual([malformed(2)]);
  expect((await quarantine.list()).map(({ source, at, raw }) => [source, at, raw])).toContainEqual([
    'inspections',
    new Date(T0).toISOString(),
    'item 2',
  ]);
  expect(await quarantine.count()).toBe(4);
});

test('of a large one only the beginning is kept', async () => {
  const { quarantine } = setUp();
  await quarantine.admit('main', 'inspections', [malformed(1, 'x'.repeat(10_000))]);
  const [kept] = await quarantine.list();
  expect(kept?.raw).toBe(`"${'x'.repeat(3999)}`);
});

test('beyond a thousand new ones are reported but not kept', async () => {
  const { quarantine } = setUp();
  const many = Array.from({ length: 1005 }, (_, n) => malformed(n));
  expect(await quarantine.admit('main', 'inspections', many)).toHaveLength(1005);
  expect(await quarantine.count()).toBe(1000);
});
