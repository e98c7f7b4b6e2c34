import { expect, test } from 'vitest';
import { ledgerKeys } from '../../src/ledger/record.ts';
import { type Advance, createCursors, type Track } from '../../src/poll/cursor.ts';
import type { MirroredCursor } from '../../src/poll/mirror.ts';
import { createCommit } from '../../src/poll/poller.ts';
import { createSeen } from '../../src/poll/seen.ts';
import { openCommits } from '../support/commits.ts';
import { T0 } from '../support/items.ts';
import { openTestRedis } from '../support/redis.ts';

const TRACK: Track = { service: 'main', source: 'inspections', protocol: 'Vault' };
const BEGINNING = { start: T0, position: T0, sweptTo: T0 };
const [OVERLAP, LOOKBACK] = [5000, 60_000];

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const cursors = createCursors(redis, prefix);
  const seen = createSeen(redis, prefix);
  const mirrored: MirroredCursor[] = [];
  const { commits, locked, ...writes } = openCommits(redis, prefix);
  const commit = createCommit({
    cursors,
    commits,
    beginningOf: () => BEGINNING,
    onCursor: (_track, cursor) => mirrored.push(cursor),
    settings: { overlap: OVERLAP, lookback: LOOKBACK },
  });
  const finish = async (progress: Advance, sweptAt?: number): Promise<void> => {
    const windows = (await commit.load([TRACK])).map((cursor) => ({ track: TRACK, cursor, since: T0 }));
    await locked(TRACK, (held) => commit.finish(held, windows, { ...progress, sweptAt, polledAt: T0 + 100_000 }));
  };
  return { redis, prefix, cursors, seen, mirrored, commit, finish, ...writes };
};

test('a track without a cursor begins once', async () => {
  const { advance, commit } = setUp();
  expect(await commit.load([TRACK])).toEqual([{ ...BEGINNING, begun: T0 }]);
  await advance(TRACK, { position: T0 + 1000 });
  expect(await commit.load([TRACK])).toEqual([{ ...BEGINNING, begun: T0, position: T0 + 1000 }]);
});

test('the end of a read moves the cursor, notes when that was, and releases the lock', async () => {
  const { redis, prefix, cursors, mirrored, finish } = setUp();
  await finish({ position: T0 + 9000, sweptTo: T0 + 8000 }, T0 + 7000);
  const moved = { start: T0, position: T0 + 9000, sweptTo: T0 + 8000 };
  expect(await cursors.get([TRACK])).toEqual([{ ...moved, begun: T0, sweptAt: T0 + 7000, polledAt: T0 + 100_000 }]);
  expect(mirrored).toEqual([moved]);
  expect(await redis.keys(`${prefix}:lock:*`)).toEqual([]);
});

test('the copy outside Redis stays behind an alert that is still on its way', async () => {
  const { redis, prefix, mirrored, finish } = setUp();
  await redis.zadd(ledgerKeys(prefix).open(TRACK), T0 + 3000, 'an alert that waits');
  await finish({ position: T0 + 9000, sweptTo: T0 + 2000 });
  expect(mirrored).toEqual([{ start: T0, position: T0 + 3000, sweptTo: T0 + 2000 }]);
});

test('items that no read can bring again are forgotten, and the others not', async () => {
  const { commit, seen, remember, finish } = setUp();
  await commit.load([TRACK]);
  const floor = T0 - OVERLAP - 2 * LOOKBACK;
  const identities = [
    { id: 'gone', latest: floor - 1 },
    { id: 'kept', latest: floor },
  ];
  await remember(TRACK, identities);
  await finish({});
  expect((await seen.unknown(TRACK, identities)).map(({ id }) => id)).toEqual(['gone']);
});
