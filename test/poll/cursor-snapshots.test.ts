import { expect, test } from 'vitest';
import { ledgerKeys } from '../../src/ledger/record.ts';
import { createCursorSnapshots, createCursors, type Track } from '../../src/poll/cursor.ts';
import { T0 } from '../support/items.ts';
import { openTestRedis } from '../support/redis.ts';

const track = (n: number): Track => ({ service: 'main', source: 'inspections', protocol: `Protocol ${n}` });

test('each cursor comes with the oldest alert of its track, however many there are', async () => {
  const { redis, prefix } = openTestRedis();
  const cursors = createCursors(redis, prefix);
  const { read } = createCursorSnapshots(redis, prefix, ledgerKeys(prefix).open);
  const tracks = Array.from({ length: 450 }, (_, n) => track(n));
  await cursors.set(track(1), T0);
  await cursors.set(track(449), T0 + 1);
  await redis.zadd(ledgerKeys(prefix).open(track(449)), T0 - 5, 'older', T0, 'newer');
  const found = await read(tracks);
  expect(found).toHaveLength(450);
  expect(found[0]).toEqual({ cursor: undefined, oldest: undefined });
  expect(found[1]).toEqual({ cursor: (await cursors.get([track(1)]))[0], oldest: undefined });
  expect(found[449]).toMatchObject({ cursor: { position: T0 + 1 }, oldest: T0 - 5 });
});
