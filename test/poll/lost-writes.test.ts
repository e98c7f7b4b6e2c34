/** A poll that loses its lock, or its Redis, between queueing and its end moves nothing past what was lost. */
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import type { Alert } from '../../src/alert.ts';
import { createCommitStore } from '../../src/poll/commit-store.ts';
import { createCursors, createPollLock, type Track } from '../../src/poll/cursor.ts';
import { createLateItems } from '../../src/poll/ingest.ts';
import type { MirroredCursor } from '../../src/poll/mirror.ts';
import { createPoller } from '../../src/poll/poller.ts';
import { createSeen } from '../../src/poll/seen.ts';
import type { Stream } from '../../src/poll/stream.ts';
import { createLocks } from '../../src/redis/lock.ts';
import { createHistory, makeItem, T0 } from '../support/items.ts';
import { openTestRedis } from '../support/redis.ts';
import { ownRedis } from '../support/redis-server.ts';

const TRACK: Track = { service: 'main', source: 'inspections', protocol: 'Vault' };
const STREAM: Stream = { service: 'main', source: 'inspections', protocols: ['Vault'] };
const BEGINNING = { start: T0, position: T0, sweptTo: T0 };
const HOUR = 3_600_000;

/** `onDispatched`: what happens between queueing and the end of the read, once. */
const setUp = (redis: Redis, prefix: string, onDispatched: () => Promise<unknown>) => {
  const history = createHistory(3);
  const dispatched: string[] = [];
  const mirrored: MirroredCursor[] = [];
  let isDue = true;
  const cursors = createCursors(redis, prefix);
  const seen = createSeen(redis, prefix);
  const lock = createPollLock(createLocks(redis, prefix, 30_000));
  const commits = createCommitStore(redis, prefix, () => `${prefix}:open`);
  const now = () => T0 + 10_000;
  const dispatch = async (alerts: readonly Alert[]): Promise<void> => {
    dispatched.push(...alerts.map(({ itemId }) => itemId));
    if (isDue) {
      isDue = false;
      await onDispatched();
    }
  };
  const { poll } = createPoller({
    pages: history.pages,
    clock: now,
    beginningOf: async () => mirrored.at(-1) ?? BEGINNING,
    onCursor: (_track, cursor) => mirrored.push(cursor),
    cursors,
    seen,
    commits,
    lock,
    memory: { recall: () => undefined, keep: () => {}, move: () => {}, forget: () => {} },
    dispatch,
    onPage: async () => {},
    now,
    settings: { overlap: 5000, lookback: HOUR, sweepEvery: 60_000, assessments: ['critical'] },
  });
  const late = createLateItems({ cursors, commits, lock, dispatch, now });
  history.items.push(makeItem(1), makeItem(2), makeItem(3));
  return {
    poll: () => poll(STREAM, new AbortController().signal),
    ingest: () => late.ingest(TRACK, history.items, async (_track, alerts) => [...alerts]),
    position: async () => (await cursors.get([TRACK]))[0]?.position,
    cursors,
    dispatched,
    mirrored,
  };
};

test('Redis was emptied: the items are read and queued again, also where only the state file knows the cursor', async () => {
  const { redis, prefix } = openTestRedis();
  const empty = async () => redis.del(await redis.keys(`${prefix}*`));
  const { poll, mirrored, dispatched, position } = setUp(redis, prefix, empty);
  await expect(poll()).rejects.toThrow('Redis lost');
  expect(mirrored).toEqual([]);
  expect(await position()).toBeUndefined();
  await poll();
  expect(dispatched).toEqual(['i-1', 'i-2', 'i-3', 'i-1', 'i-2', 'i-3']);
  expect(await position()).toBeGreaterThan(T0);
});

test('Redis came back without its last writes, though with the lock: nothing is remembered as queued', async () => {
  const server = await ownRedis();
  onTestFinished(server.remove);
  const redis = new Redis(server.port, { maxRetriesPerRequest: null, retryStrategy: () => 50 });
  onTestFinished(() => redis.disconnect());
  redis.on('error', () => {});
  const rollBack = async () => {
    // What was saved has the lock and the cursor, but none of the jobs that were written since.
    await redis.save();
    await server.kill('SIGKILL');
    await server.start();
  };
  const { poll, mirrored, dispatched, position } = setUp(redis, '{rolled-back}', rollBack);
  await expect(poll()).rejects.toThrow('Redis lost');
  expect(mirrored).toEqual([]);
  expect(await position()).toBe(T0);
  await poll();
  expect(dispatched).toHaveLength(6);
});

test('a poll that was paused beyond its lock does not undo a cursor that was set meanwhile', async () => {
  const { redis, prefix } = openTestRedis();
  const setBack = async (): Promise<void> => {
    await redis.del(await redis.keys(`${prefix}:lock:*`));
    await cursors.set(TRACK, T0 - HOUR);
  };
  const { poll, position, cursors, mirrored } = setUp(redis, prefix, setBack);
  await expect(poll()).rejects.toThrow('lost');
  expect(await position()).toBe(T0 - HOUR);
  expect(mirrored).toEqual([]);
});

test('late items are not remembered where Redis was emptied after they were queued', async () => {
  const { redis, prefix } = openTestRedis();
  const { ingest, cursors } = setUp(redis, prefix, async () => redis.del(await redis.keys(`${prefix}*`)));
  await cursors.begin(TRACK, BEGINNING);
  await expect(ingest()).rejects.toThrow('Redis lost');
  expect(await redis.keys(`${prefix}*`)).toEqual([]);
});
