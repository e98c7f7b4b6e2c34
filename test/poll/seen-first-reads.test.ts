import { expect, test } from 'vitest';
import type { Item } from '../../src/item.ts';
import { createFirstReads } from '../../src/poll/seen.ts';
import { openTestRedis } from '../support/redis.ts';

const item = (itemId: string): Item => ({ source: 'inspections', protocol: 'Vault', itemId, dates: {}, raw: {} });

const setUp = (most?: number) => {
  const { redis, prefix } = openTestRedis();
  const clock = { now: 1_000_000 };
  const open = () =>
    createFirstReads(redis, prefix, { keepMs: 60_000, now: () => clock.now, ...(most === undefined ? {} : { most }) });
  const [reads, other] = [open(), open()];
  const admit = async (ids: string[], by = reads) =>
    (await by.admit('main', 'inspections', ids.map(item))).map(({ itemId }) => itemId);
  return { clock, reads, other, admit };
};

test('an item is read for the first time once, whichever daemon reads it again', async () => {
  const { reads, other, admit } = setUp();
  expect(await admit(['a', 'b', 'a'])).toEqual(['a', 'b']);
  expect(await admit(['b', 'c'], other)).toEqual(['c']);
  expect(await admit(['a', 'b', 'c'])).toEqual([]);
  expect(await admit([])).toEqual([]);
  expect(await reads.admit('second', 'inspections', [item('a')])).toHaveLength(1);
  expect(await reads.admit('main', 'notifications', [item('a')])).toHaveLength(1);
});

test('what no read can bring again is forgotten, and so is what is too much', async () => {
  const { clock, admit } = setUp(2);
  await admit(['a']);
  clock.now += 60_001;
  await admit(['b']);
  clock.now += 1000;
  expect(await admit(['a'])).toEqual(['a']);
  clock.now += 1000;
  await admit(['c']);
  expect(await admit(['b'])).toEqual(['b']);
});
