import { expect, test } from 'vitest';
import { ledgerKeys } from '../../src/ledger/record.ts';
import { type Advance, createCursors, cursorKey, type Track } from '../../src/poll/cursor.ts';
import type { MirroredCursor } from '../../src/poll/mirror.ts';
import { createCommit } from '../../src/poll/poller.ts';
import { createSeen, seenKey } from '../../src/poll/seen.ts';
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
  const skipped: unknown[] = [];
  const reason = { token: 'first', since: T0 };
  const { commits, locked, ...writes } = openCommits(redis, prefix);
  const commit = createCommit({
    cursors,
    commits,
    beginningOf: () => BEGINNING,
    reasonFor: async () => reason,
    onSkipped: async (track, from, to) => void skipped.push([track, from, to]),
    onCursor: (_track, cursor) => mirrored.push(cursor),
    settings: { overlap: OVERLAP, lookback: LOOKBACK },
  });
  const finish = async (progress: Advance, sweptAt?: number): Promise<void> => {
    const windows = (await commit.load([TRACK])).map((cursor) => ({ track: TRACK, cursor, since: T0 }));
    await locked(TRACK, (held) => commit.finish(held, windows, { ...progress, sweptAt, polledAt: T0 + 100_000 }));
  };
  return { redis, prefix, cursors, seen, mirrored, skipped, reason, commits, commit, finish, ...writes };
};

test('a track without a cursor begins once', async () => {
  const { advance, commit } = setUp();
  expect(await commit.load([TRACK])).toEqual([{ ...BEGINNING, begun: T0, reason: 'first' }]);
  await advance(TRACK, { position: T0 + 1000 });
  expect(await commit.load([TRACK])).toEqual([{ ...BEGINNING, begun: T0, position: T0 + 1000, reason: 'first' }]);
});

test('after a day in which nobody ran, reading goes on where it was', async () => {
  const { skipped, reason, commit, finish } = setUp();
  await finish({ position: T0 + 9000 });
  reason.since = T0 + 86_400_000;
  expect(await commit.load([TRACK])).toMatchObject([{ start: T0, position: T0 + 9000 }]);
  expect(skipped).toEqual([]);
});

test('what was left out for a while begins again, and that is told', async () => {
  const { skipped, reason, cursors, commit, finish } = setUp();
  await finish({ position: T0 + 9000 });
  Object.assign(reason, { token: 'again', since: T0 + 60_000.5 });
  const at = T0 + 60_000;
  const again = { start: at, position: at, sweptTo: at, begun: at, reason: 'again' };
  expect(await commit.load([TRACK])).toEqual([again]);
  expect(await cursors.get([TRACK])).toEqual([again]);
  expect(skipped).toEqual([[TRACK, T0 + 9000, at]]);
  expect(await commit.load([TRACK])).toEqual([again]);
  expect(skipped).toHaveLength(1);
});

test('a cursor that an operator set, or that is ahead of where it is read again, goes on', async () => {
  const { skipped, reason, cursors, commit } = setUp();
  await commit.load([TRACK]);
  await cursors.set(TRACK, T0 - 5000);
  Object.assign(reason, { token: 'again', since: T0 + 60_000 });
  expect(await commit.load([TRACK])).toMatchObject([{ position: T0 - 5000, reason: 'again' }]);
  Object.assign(reason, { token: 'third', since: T0 - 6000 });
  expect(await commit.load([TRACK])).toMatchObject([{ position: T0 - 5000, reason: 'third' }]);
  expect(skipped).toEqual([]);
});

test('what is gone expires, unless it is swept again', async () => {
  const { redis, prefix, commit, finish, commits, remember } = setUp();
  await finish({ position: T0 + 9000 });
  await remember(TRACK, [{ id: 'one', latest: T0 + 9000 }]);
  const keys = [cursorKey(prefix, TRACK), seenKey(prefix, TRACK)];
  const isKept = async () => (await Promise.all(keys.map((key) => redis.pttl(key)))).every((ms) => ms === -1);
  await commits.expire([TRACK], 60_000);
  for (const key of keys) expect(await redis.pttl(key)).toBeGreaterThan(0);
  await commit.load([TRACK]);
  await remember(TRACK, [{ id: 'two', latest: T0 + 9500 }]);
  await finish({ position: T0 + 9500 }, T0 + 9000);
  expect(await isKept()).toBe(true);
});

test('the end of a read moves the cursor, notes when that was, and releases the lock', async () => {
  const { redis, prefix, cursors, mirrored, finish } = setUp();
  await finish({ position: T0 + 9000, sweptTo: T0 + 8000 }, T0 + 7000);
  const moved = { start: T0, position: T0 + 9000, sweptTo: T0 + 8000 };
  expect(await cursors.get([TRACK])).toEqual([
    { ...moved, begun: T0, sweptAt: T0 + 7000, polledAt: T0 + 100_000, reason: 'first' },
  ]);
  expect(mirrored).toEqual([moved]);
  expect(await redis.keys(`${prefix}:lock:*`)).toEqual([]);
});

test('the copy outside Redis stays behind an alert that is still on its way', async () => {
  const { redis, prefix, mirrored, finish } = setUp();
  await redis.zadd(ledgerKeys(prefix).open(TRACK), T0 + 3000, 'an alert that waits');
  await finish({ position: T0 + 9000, sweptTo: T0 + 2000 });
  expect(mirrored).toEqual([{ start: T0, position: T0 + 3000, sweptTo: T0 + 2000 }]);
});

test('items that no read can bring again are forgotten after a sweep, and the others not', async () => {
  const { commit, seen, remember, finish } = setUp();
  await commit.load([TRACK]);
  const floor = T0 - OVERLAP - 2 * LOOKBACK;
  const identities = [
    { id: 'gone', latest: floor - 1 },
    { id: 'kept', latest: floor },
  ];
  await remember(TRACK, identities);
  await finish({});
  expect(await seen.unknown(TRACK, identities)).toEqual([]);
  await finish({}, T0 + 7000);
  expect((await seen.unknown(TRACK, identities)).map(({ id }) => id)).toEqual(['gone']);
});
