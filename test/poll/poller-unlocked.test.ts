/** A poll that finds nothing new asks Redis nothing; what it moves is written later, and only where that is still right. */
import type { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import type { Alert } from '../../src/alert.ts';
import { ledgerKeys } from '../../src/ledger/record.ts';
import { createCursors, createPollLock, type Track } from '../../src/poll/cursor.ts';
import type { MirroredCursor } from '../../src/poll/mirror.ts';
import { createPoller } from '../../src/poll/poller.ts';
import { createItemMemory } from '../../src/poll/read-memory.ts';
import { createSeen } from '../../src/poll/seen.ts';
import type { Stream } from '../../src/poll/stream.ts';
import { createLocks } from '../../src/redis/lock.ts';
import { openCommits } from '../support/commits.ts';
import { createHistory, makeItem, T0 } from '../support/items.ts';
import { openReadMemory } from '../support/read-memory.ts';
import { openTestRedis } from '../support/redis.ts';
import { ownRedis } from '../support/redis-server.ts';

const TRACK: Track = { service: 'main', source: 'inspections', protocol: 'Vault' };
const STREAM: Stream = { service: 'main', source: 'inspections', protocols: ['Vault'] };
const MINUTE = 60_000;
const SETTINGS = { overlap: 5000, lookback: 15 * MINUTE, sweepEvery: MINUTE, assessments: ['critical'] };

/** One daemon: several on one history and one Redis. */
const openDaemon = (redis: Redis, prefix: string, history: ReturnType<typeof createHistory>, time: { now: number }) => {
  const dispatched: string[] = [];
  const mirrored: MirroredCursor[] = [];
  const changed: Stream[] = [];
  const elapsed = { ms: 0 };
  const compared: number[] = [];
  const seen = createSeen(redis, prefix);
  const cursors = createCursors(redis, prefix);
  const memory = openReadMemory(redis, prefix, {
    settings: SETTINGS,
    onCursor: (_track, cursor) => mirrored.push(cursor),
    onChanged: (stream) => changed.push(stream),
    monotonic: () => elapsed.ms,
  });
  const { poll } = createPoller({
    pages: history.pages,
    clock: () => time.now,
    beginningOf: async () => ({ start: T0, position: T0, sweptTo: T0 }),
    onCursor: (_track, cursor) => mirrored.push(cursor),
    cursors,
    seen: {
      ...seen,
      compare: (track, identities) => {
        compared.push(identities.length);
        return seen.compare(track, identities);
      },
    },
    commits: openCommits(redis, prefix).commits,
    lock: createPollLock(createLocks(redis, prefix, 30_000)),
    memory,
    dispatch: async (alerts: readonly Alert[]) => void dispatched.push(...alerts.map(({ itemId }) => itemId)),
    onPage: async () => {},
    now: () => time.now,
    settings: SETTINGS,
  });
  return {
    ...{ dispatched, mirrored, changed, elapsed, compared, cursors, memory },
    poll: (stream = STREAM) => poll(stream, new AbortController().signal),
    cursor: async () => (await cursors.get([TRACK]))[0],
  };
};

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const history = createHistory(3);
  const time = { now: T0 + 10_000 };
  return { redis, prefix, history, time, open: () => openDaemon(redis, prefix, history, time) };
};

/** How many commands came to Redis. */
const commands = async (redis: Redis): Promise<number> => {
  const stats = await redis.info('commandstats');
  const calls = [...stats.matchAll(/^cmdstat_(?!info|config)[^:]+:calls=(\d+)/gm)];
  return calls.reduce((sum, [, count]) => sum + Number(count), 0);
};

/** A Redis of the test's own: nobody else's commands are counted, and it can be killed. */
const setUpAlone = async () => {
  const server = await ownRedis();
  onTestFinished(server.remove);
  const redis = new (await import('ioredis')).Redis(server.port, {
    maxRetriesPerRequest: null,
    retryStrategy: () => 50,
  });
  onTestFinished(() => redis.disconnect());
  redis.on('error', () => {});
  const history = createHistory(3);
  const time = { now: T0 + 10_000 };
  return { server, redis, history, time, daemon: openDaemon(redis, '{alone}', history, time) };
};

test('a poll that finds nothing new asks Redis nothing, also where it brings known items again, and also as a sweep', async () => {
  const { redis, history, time, daemon } = await setUpAlone();
  history.items.push(makeItem(1), makeItem(8), makeItem(9, { assessment: 'ok' }));
  await daemon.poll();
  time.now += MINUTE;
  await daemon.poll();
  const before = await commands(redis);
  for (let n = 0; n < 5; n += 1) {
    time.now += MINUTE / 2;
    expect(await daemon.poll()).toMatchObject({ outcome: 'read', alerts: 0 });
  }
  expect(await commands(redis)).toBe(before);
  expect(daemon.dispatched).toEqual(['i-1', 'i-8']);
});

test('where a page brings known items beside a new one, Redis is asked for the new one only', async () => {
  const { open, history, time } = setUp();
  const daemon = open();
  history.items.push(makeItem(7), makeItem(8));
  await daemon.poll();
  history.items.push(makeItem(9));
  time.now += 1000;
  expect(await daemon.poll()).toMatchObject({ items: 3, alerts: 1 });
  expect(daemon.dispatched).toEqual(['i-7', 'i-8', 'i-9']);
  expect(daemon.compared).toEqual([2, 1]);
});

test('what polls without the lock have moved is in Redis, and in the state file, after the next commit', async () => {
  const { open, time } = setUp();
  const daemon = open();
  await daemon.poll();
  time.now += 2 * MINUTE;
  await daemon.poll();
  expect((await daemon.cursor())?.polledAt).toBe(T0 + 10_000);
  await daemon.memory.commit();
  expect(await daemon.cursor()).toMatchObject({ polledAt: time.now, sweptAt: time.now, position: T0 });
  expect(daemon.mirrored).toHaveLength(2);
  // The clock was wrong, and is set back: others see by this that the track is read.
  time.now -= MINUTE;
  await daemon.poll();
  await daemon.memory.commit();
  expect(await daemon.cursor()).toMatchObject({ polledAt: time.now, position: T0 });
});

test('the copy of a track that is read without the lock stays behind an alert that is still on its way', async () => {
  const { open, time, history, redis, prefix } = setUp();
  history.items.push(makeItem(9));
  const daemon = open();
  await daemon.poll();
  await redis.zadd(ledgerKeys(prefix).open(TRACK), T0 + 3000, 'an alert that waits');
  time.now += 10_000;
  await daemon.poll();
  await daemon.memory.commit();
  expect(daemon.mirrored.at(-1)).toMatchObject({ position: T0 + 3000 });
});

test('what is new is queued once by two daemons that both poll the stream', async () => {
  const { open, time, history } = setUp();
  const [one, other] = [open(), open()];
  for (let n = 1; n <= 12; n += 1) {
    history.items.push(makeItem(10 * n), makeItem(10 * n + 1, { assessment: 'ok' }));
    time.now = T0 + 10_000 * (n + 1);
    await one.poll();
    await other.poll();
    if (n % 3 === 0) await Promise.all([one.memory.commit(), other.memory.commit()]);
  }
  const all = [...one.dispatched, ...other.dispatched];
  expect(all.toSorted()).toEqual([...new Set(all)].toSorted());
  expect(all).toHaveLength(12);
});

test('a cursor that an operator sets is not undone, and is read from soon', async () => {
  const { open, time, history } = setUp();
  const daemon = open();
  history.items.push(makeItem(5));
  await daemon.poll();
  await daemon.cursors.set(TRACK, T0 - 60 * MINUTE);
  time.now += 10_000;
  await daemon.poll();
  await daemon.memory.commit();
  expect(daemon.changed).toEqual([STREAM]);
  expect(await daemon.cursor()).toMatchObject({ position: T0 - 60 * MINUTE });
  history.items.push(makeItem(-30 * 60, { dates: { createdAt: T0 - 30 * MINUTE } }));
  await daemon.poll();
  expect(await daemon.cursor()).toMatchObject({ start: T0 - 60 * MINUTE });
  expect((await daemon.cursor())?.position).toBeGreaterThanOrEqual(T0 - 30 * MINUTE);
});

test('nor by a poll that finds something new after it', async () => {
  const { open, time, history } = setUp();
  const daemon = open();
  history.items.push(makeItem(5));
  await daemon.poll();
  await daemon.cursors.set(TRACK, T0 - 60 * MINUTE);
  time.now += 10_000;
  history.items.push(makeItem(-600, { dates: { createdAt: T0 - 10 * MINUTE } }), makeItem(15));
  await daemon.poll();
  // Items before the new start of the cursor are history, those after it are not.
  expect((await daemon.cursor())?.start).toBe(T0 - 60 * MINUTE);
  expect(daemon.dispatched).toContain('i-15');
});

test('a Redis that came back without the job of an item makes it be read again', async () => {
  const { server, redis, history, time, daemon } = await setUpAlone();
  await daemon.poll();
  await redis.config('SET', 'appendonly', 'no');
  await redis.save();
  history.items.push(makeItem(12));
  time.now += 5000;
  await daemon.poll();
  await daemon.poll();
  expect(daemon.dispatched).toEqual(['i-12']);
  await server.kill('SIGKILL');
  await server.start();
  time.now += 1000;
  // By what is remembered the item is queued. The commit finds another Redis.
  await daemon.poll();
  await daemon.memory.commit();
  expect((await daemon.cursor())?.position).toBe(T0);
  await daemon.poll();
  expect(daemon.dispatched).toEqual(['i-12', 'i-12']);
});

test('the same where the first that another Redis sees is a new item', async () => {
  const { server, redis, history, time, daemon } = await setUpAlone();
  await daemon.poll();
  await redis.config('SET', 'appendonly', 'no');
  await redis.save();
  history.items.push(makeItem(12));
  time.now += 5000;
  await daemon.poll();
  await server.kill('SIGKILL');
  await server.start();
  history.items.push(makeItem(14));
  time.now += 1000;
  await daemon.poll();
  expect(daemon.dispatched.toSorted()).toEqual(['i-12', 'i-12', 'i-14']);
});

test('nothing is judged by memory while Redis does not take what was moved', async () => {
  const { open, time, redis, prefix } = setUp();
  const daemon = open();
  await daemon.poll();
  time.now += 1000;
  await daemon.poll();
  daemon.elapsed.ms += 10_001;
  await redis.set(`${prefix}:lock:${JSON.stringify(['main', 'inspections', 'Vault'])}`, 'somebody');
  expect(await daemon.poll()).toMatchObject({ outcome: 'busy' });
});

test('a Redis that does not say which it is has nothing remembered of it', async () => {
  const { server, redis, history, time, daemon } = await setUpAlone();
  const hide = () => redis.acl('SETUSER', 'default', '-info');
  await redis.config('SET', 'appendonly', 'no');
  await hide();
  history.items.push(makeItem(8));
  await daemon.poll();
  await redis.save();
  // It comes late, so it moves no cursor.
  history.items.push(makeItem(5));
  time.now += MINUTE;
  await daemon.poll();
  expect(daemon.dispatched).toEqual(['i-8', 'i-5']);
  await server.kill('SIGKILL');
  await server.start();
  await hide();
  for (let n = 0; n < 2; n += 1) {
    time.now += MINUTE;
    await daemon.poll();
    await daemon.memory.commit();
  }
  expect(daemon.dispatched).toEqual(['i-8', 'i-5', 'i-5']);
});

test('what a sweep has moved and nobody has written is not taken for granted when something is queued', async () => {
  const { open, time, history } = setUp();
  const [one, other] = [open(), open()];
  const at = (minutes: number): number => 60 * minutes;
  history.items.push(makeItem(at(1)));
  time.now = T0 + at(2) * 1000;
  await one.poll();
  // A sweep that finds what is known, long after; then something new.
  time.now = T0 + at(60) * 1000;
  history.items.push(makeItem(at(59), { assessment: 'ok' }));
  await one.poll();
  time.now += 10_000;
  history.items.push(makeItem(at(60) + 9));
  await one.poll();
  expect(one.dispatched).toHaveLength(2);
  time.now += MINUTE;
  await other.poll();
  expect(other.dispatched).toEqual([]);
  expect(one.mirrored.every(({ sweptTo }) => sweptTo < T0 + at(3) * 1000)).toBe(true);
});

test('a poll that goes by what is known no more moves nothing', async () => {
  const { open, time } = setUp();
  const { poll, memory, cursor } = open();
  await poll();
  const former = memory.recall(STREAM);
  if (former === undefined) throw new Error('nothing is known');
  memory.forget(STREAM);
  await poll();
  memory.move(STREAM, former, { position: time.now + MINUTE, polledAt: time.now, sweptAt: undefined });
  await memory.commit();
  expect((await cursor())?.position).toBe(T0);
});

test('what Redis refused is written next time, and until then not trusted for long', async () => {
  const { redis, prefix } = openTestRedis();
  const elapsed = { ms: 0 };
  const written: number[] = [];
  let isRefused = true;
  const memory = openReadMemory(redis, prefix, {
    settings: SETTINGS,
    monotonic: () => elapsed.ms,
    commits: {
      finishUnlocked: async (_server, tracks) => {
        if (isRefused) throw new Error('refused');
        written.push(tracks.length);
        return tracks.map(() => ({ oldest: undefined }));
      },
    },
  });
  const end = { position: undefined, polledAt: T0, sweptAt: undefined };
  memory.keep(
    STREAM,
    { server: 'run1', loaded: [{ start: T0, position: T0, sweptTo: T0 }], items: createItemMemory(1, SETTINGS) },
    end,
  );
  const known = memory.recall(STREAM);
  if (known === undefined) throw new Error('nothing is known');
  memory.move(STREAM, known, end);
  await expect(memory.commit()).rejects.toThrow('refused');
  elapsed.ms = 10_001;
  await expect(memory.commit()).rejects.toThrow('refused');
  expect(memory.recall(STREAM)).toBeUndefined();
  isRefused = false;
  await memory.commit();
  expect(written).toEqual([1]);
  expect(memory.recall(STREAM)).toBe(known);
});
