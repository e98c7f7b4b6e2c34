import { describe, expect, test } from 'vitest';
import type { Alert } from '../../src/alert.ts';
import { createCursors, createPollLock, type Track } from '../../src/poll/cursor.ts';
import { createLateItems, type Unknown } from '../../src/poll/ingest.ts';
import { createSeen, identityOf } from '../../src/poll/seen.ts';
import { createLocks } from '../../src/redis/lock.ts';
import { openCommits } from '../support/commits.ts';
import { makeItem, T0 } from '../support/items.ts';
import { openTestRedis } from '../support/redis.ts';

const TRACK: Track = { service: 'main', source: 'inspections', protocol: 'Vault' };

const setUp = async () => {
  const { redis, prefix } = openTestRedis();
  const cursors = createCursors(redis, prefix);
  const seen = createSeen(redis, prefix);
  const lock = createPollLock(createLocks(redis, prefix));
  const dispatched: string[] = [];
  const crash = { due: false };
  const dispatch = async (alerts: readonly Alert[]): Promise<void> => {
    if (crash.due) throw new Error('Redis went away');
    dispatched.push(...alerts.map(({ itemId }) => itemId));
  };
  const { ingest } = createLateItems({
    cursors,
    commits: openCommits(redis, prefix).commits,
    lock,
    dispatch,
    now: () => T0 + 60_000,
  });
  const unseen: Unknown = async (track, alerts) => {
    const ids = await seen.unknown(
      track,
      alerts.map((alert) => identityOf(alert)),
    );
    return alerts.filter((alert) => ids.some(({ id }) => identityOf(alert).id === id));
  };
  return { cursors, lock, dispatched, crash, ingest, unseen };
};

const BEGINNING = { start: T0, position: T0, sweptTo: T0 };

describe('what is found outside of a poll', () => {
  test('is queued once and remembered as a poll would, and history is left', async () => {
    const { cursors, dispatched, ingest, unseen } = await setUp();
    await cursors.begin(TRACK, BEGINNING);
    const items = [makeItem(-5), makeItem(1), makeItem(2), makeItem(3, { dates: {} })];
    expect((await ingest(TRACK, items, unseen))?.map(({ itemId }) => itemId)).toEqual(['i-1', 'i-2']);
    expect(await ingest(TRACK, items, unseen)).toEqual([]);
    expect(dispatched).toEqual(['i-1', 'i-2']);
  });

  test('waits while the track is being read, and for a track that never was', async () => {
    const { cursors, lock, dispatched, ingest, unseen } = await setUp();
    expect(await ingest(TRACK, [makeItem(1)], unseen)).toEqual([]);
    await cursors.begin(TRACK, BEGINNING);
    const held = await lock.take([TRACK]);
    expect(await ingest(TRACK, [makeItem(1)], unseen)).toBeUndefined();
    await held?.release();
    expect(await ingest(TRACK, [makeItem(1)], unseen)).toHaveLength(1);
    expect(dispatched).toEqual(['i-1']);
  });

  test('is found again after a crash', async () => {
    const { cursors, dispatched, crash, ingest, unseen } = await setUp();
    await cursors.begin(TRACK, BEGINNING);
    crash.due = true;
    await expect(ingest(TRACK, [makeItem(1)], unseen)).rejects.toThrow('went away');
    crash.due = false;
    expect(await ingest(TRACK, [makeItem(1)], unseen)).toHaveLength(1);
    expect(dispatched).toEqual(['i-1']);
  });
});
