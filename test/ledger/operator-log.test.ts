/** The operator log: what was recorded after a position, in order, and no more than it may keep. */
import { expect, test } from 'vitest';
import { createOperatorLog } from '../../src/ledger/operator-log.ts';
import { openTestRedis } from '../support/redis.ts';

const T0 = Date.parse('2026-11-20T12:00:00Z');

const setUp = (mostKept?: number) => {
  const { redis, prefix } = openTestRedis();
  return createOperatorLog(redis, prefix, () => T0, mostKept);
};

const dropped = (count: number) => ({ action: 'dead-dropped' as const, dropped: count });

test('gives what came after a position, oldest first', async () => {
  const log = setUp();
  const start = await log.end();
  await log.record(dropped(1), dropped(2));
  const first = await log.after(start);
  expect(first.actions).toEqual([1, 2].map((count) => ({ ...dropped(count), at: '2026-11-20T12:00:00.000Z' })));
  expect(await log.after(first.position)).toEqual({ actions: [], position: first.position });
  expect(await log.end()).toBe(first.position);
  await log.record(dropped(3));
  expect((await log.after(first.position)).actions).toMatchObject([dropped(3)]);
});

test('keeps the newest ones only', async () => {
  const log = setUp(2);
  const start = await log.end();
  await log.record(dropped(1));
  await log.record(dropped(2), dropped(3));
  expect((await log.after(start)).actions).toMatchObject([dropped(2), dropped(3)]);
});

test('recording nothing writes nothing', async () => {
  const log = setUp();
  await log.record();
  expect(await log.end()).toBe('0-0');
});

test('gives the newest ones for people to read, newest first', async () => {
  const log = setUp();
  await log.record(dropped(1), { ...dropped(2), by: 'page' }, dropped(3));
  expect(await log.latest(2)).toMatchObject([dropped(3), { ...dropped(2), by: 'page' }]);
});
