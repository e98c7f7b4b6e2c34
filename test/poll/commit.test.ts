import { expect, test } from 'vitest';
import { createCommit } from '../../src/poll/commit.ts';
import { createCursors, type Track } from '../../src/poll/cursor.ts';
import type { MirroredCursor } from '../../src/poll/mirror.ts';
import { createSeen } from '../../src/poll/seen.ts';
import { T0 } from '../support/items.ts';
import { openTestRedis } from '../support/redis.ts';

const TRACK: Track = { service: 'main', source: 'inspections', protocol: 'Vault' };
const BEGINNING = { start: T0, position: T0, sweptTo: T0 };
const [OVERLAP, LOOKBACK] = [5000, 60_000];

const setUp = (oldestOpen?: number) => {
  const { redis, prefix } = openTestRedis();
  const cursors = createCursors(redis, prefix);
  const seen = createSeen(redis, prefix);
  const mirrored: MirroredCursor[] = [];
  const commit = createCommit({
    cursors,
    seen,
    beginningOf: () => BEGINNING,
    onCursor: (_track, cursor) => mirrored.push(cursor),
    oldestOpen: async () => oldestOpen,
    now: () => T0 + 100_000,
    settings: { overlap: OVERLAP, lookback: LOOKBACK },
  });
  const windows = async () => (await commit.load([TRACK])).map((one) => ({ ...one, since: T0 }));
  return { cursors, seen, mirrored, commit, windows };
};

test('a track without a cursor begins once', async () => {
  const { cursors, commit } = setUp();
  expect(await commit.load([TRACK])).toEqual([{ track: TRACK, cursor: BEGINNING }]);
  await cursors.advance(TRACK, { position: T0 + 1000 });
  expect((await commit.load([TRACK]))[0]?.cursor).toEqual({ ...BEGINNING, position: T0 + 1000 });
});

test('the end of a read moves the cursor and notes when that was', async () => {
  const { cursors, mirrored, commit, windows } = setUp();
  await commit.finish(await windows(), { position: T0 + 9000, sweptTo: T0 + 8000 }, T0 + 7000);
  const moved = { start: T0, position: T0 + 9000, sweptTo: T0 + 8000 };
  expect(await cursors.get([TRACK])).toEqual([{ ...moved, sweptAt: T0 + 7000, polledAt: T0 + 100_000 }]);
  expect(mirrored).toEqual([moved]);
});

test('the copy outside Redis stays behind an alert that is still on its way', async () => {
  const { mirrored, commit, windows } = setUp(T0 + 3000);
  await commit.finish(await windows(), { position: T0 + 9000, sweptTo: T0 + 2000 }, undefined);
  expect(mirrored).toEqual([{ start: T0, position: T0 + 3000, sweptTo: T0 + 2000 }]);
});

test('items that no read can bring again are forgotten, and the others not', async () => {
  const { seen, commit, windows } = setUp();
  const floor = T0 - OVERLAP - 2 * LOOKBACK;
  const identities = [
    { id: 'gone', latest: floor - 1 },
    { id: 'kept', latest: floor },
  ];
  await seen.remember(TRACK, identities);
  await commit.finish(await windows(), {}, undefined);
  expect((await seen.unknown(TRACK, identities)).map(({ id }) => id)).toEqual(['gone']);
});
