import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Alert } from '../../src/alert.ts';
import { ledgerKeys } from '../../src/ledger/record.ts';
import { createCursors, createPollLock, type Track } from '../../src/poll/cursor.ts';
import { createMirror } from '../../src/poll/mirror.ts';
import { createPoller, type PollerDependencies } from '../../src/poll/poller.ts';
import { createSeen } from '../../src/poll/seen.ts';
import type { Stream } from '../../src/poll/stream.ts';
import { createLocks } from '../../src/redis/lock.ts';
import { openCommits } from '../support/commits.ts';
import { createHistory, makeItem, T0 } from '../support/items.ts';
import { openReadMemory } from '../support/read-memory.ts';
import { openTestRedis } from '../support/redis.ts';

const TRACK: Track = { service: 'main', source: 'inspections', protocol: 'Vault' };
const STREAM: Stream = { service: 'main', source: 'inspections', protocols: ['Vault'] };
const MINUTE = 60_000;

const setUp = (changes: Partial<PollerDependencies> = {}, pageSize = 3) => {
  const { redis, prefix } = openTestRedis();
  const history = createHistory(pageSize);
  const dispatched: Alert[] = [];
  const time = { now: T0 };
  const cursors = createCursors(redis, prefix);
  const settings = { overlap: 5000, lookback: 15 * MINUTE, sweepEvery: MINUTE, assessments: ['critical'] };
  const { poll } = createPoller({
    pages: history.pages,
    clock: () => time.now,
    beginningOf: async () => ({ start: T0, position: T0, sweptTo: T0 }),
    onCursor: () => {},
    cursors,
    seen: createSeen(redis, prefix),
    commits: openCommits(redis, prefix).commits,
    lock: createPollLock(createLocks(redis, prefix, 30_000)),
    dispatch: async (alerts) => {
      dispatched.push(...alerts);
    },
    onPage: async () => {},
    now: () => time.now,
    memory: openReadMemory(redis, prefix, { settings }),
    settings,
    ...changes,
  });
  const signal = new AbortController().signal;
  return {
    redis,
    prefix,
    history,
    dispatched,
    time,
    cursors,
    poll: (stream = STREAM) => poll(stream, signal),
    position: async (track = TRACK) => (await cursors.get([track]))[0]?.position,
    ids: () => dispatched.map(({ itemId }) => itemId),
  };
};

describe('a poll', () => {
  test('queues each wanted item once, however often it is read, and leaves the others', async () => {
    const { history, poll, ids, time } = setUp();
    history.items.push(makeItem(1), makeItem(2, { assessment: 'ok' }), makeItem(3));
    time.now = T0 + 10_000;
    await poll();
    history.items.push(makeItem(4));
    await poll();
    await poll();
    expect(ids()).toEqual(['i-1', 'i-3', 'i-4']);
  });

  test('starts where the config says: older items are not forwarded, not even by a sweep', async () => {
    const { history, poll, ids, time } = setUp();
    history.items.push(makeItem(-600), makeItem(-1), makeItem(1));
    time.now = T0 + 5 * MINUTE;
    await poll();
    expect(ids()).toEqual(['i-1']);
  });

  test('items of one and the same moment are all taken, across pages and polls', async () => {
    const { history, poll, ids, time } = setUp();
    const same = { dates: { createdAt: T0 + 5000 } };
    time.now = T0 + 10_000;
    history.items.push(...[1, 2, 3, 4, 5].map((n) => makeItem(n, same)));
    await poll();
    history.items.push(makeItem(6, same));
    await poll();
    expect(ids().sort()).toEqual(['i-1', 'i-2', 'i-3', 'i-4', 'i-5', 'i-6']);
  });

  test('the sweep finds what arrives late and what turns critical, and queues nothing twice', async () => {
    const { history, poll, ids, time } = setUp();
    time.now = T0 + 20 * MINUTE;
    const turning = makeItem(900, { assessment: 'suspecious' });
    history.items.push(makeItem(600), turning, makeItem(1190));
    await poll();
    expect(ids()).toEqual(['i-600', 'i-1190']);
    turning.assessment = 'critical';
    history.items.push(makeItem(800));
    time.now += 30_000;
    await poll();
    expect(ids()).toEqual(['i-600', 'i-1190']);
    time.now += MINUTE;
    const { sweep } = await poll();
    expect(sweep).toBe(true);
    expect(ids()).toEqual(['i-600', 'i-1190', 'i-800', 'i-900']);
  });

  test('a clock that was an hour ahead for one sweep keeps no late item from being found', async () => {
    const skew = { ms: 0 };
    const { history, poll, ids, time } = setUp({ clock: () => time.now + skew.ms });
    time.now = T0 + 20 * MINUTE;
    history.items.push(makeItem(1190));
    skew.ms = 60 * MINUTE;
    await poll();
    skew.ms = 0;
    for (let late = 0; late < 4; late += 1) {
      time.now += 10 * MINUTE;
      history.items.push(makeItem((time.now - T0) / 1000), makeItem((time.now - T0) / 1000 - 480));
      await poll();
      // It was written with an earlier date, after that was read.
      history.items.push(makeItem((time.now - T0) / 1000 - 540));
      time.now += 2 * MINUTE;
      await poll();
    }
    expect(ids()).toHaveLength(13);
  });

  test('what arrived late while the daemon was down is found: the sweep goes back from where it last was', async () => {
    const { history, poll, ids, time } = setUp();
    time.now = T0 + MINUTE;
    history.items.push(makeItem(58));
    await poll();
    history.items.push(makeItem(40));
    time.now = T0 + 600 * MINUTE;
    await poll();
    expect(ids()).toEqual(['i-58', 'i-40']);
  });

  test('a failure in the middle moves no cursor past what was read, and the next poll takes the rest', async () => {
    const failing = { at: 3 };
    let page = 0;
    const context = setUp({
      async *pages(stream, since) {
        for await (const each of context.history.pages(stream, since)) {
          page += 1;
          if (page === failing.at) throw new Error('reset');
          yield each;
        }
      },
    });
    const { history, poll, ids, time, position } = context;
    time.now = T0 + 100_000;
    history.items.push(...Array.from({ length: 10 }, (_, n) => makeItem(n + 1)));
    await expect(poll()).rejects.toThrow('reset');
    expect(ids()).toHaveLength(6);
    expect((await position()) ?? 0).toBeLessThanOrEqual(T0 + 4000);
    await poll();
    expect(ids()).toEqual(Array.from({ length: 10 }, (_, n) => `i-${n + 1}`));
  });

  test('nothing is remembered when queueing fails', async () => {
    let broken = true;
    const got: string[] = [];
    const { history, poll, time, position } = setUp({
      dispatch: async (alerts) => {
        if (broken) throw new Error('no queue');
        got.push(...alerts.map(({ itemId }) => itemId));
      },
    });
    time.now = T0 + 10_000;
    history.items.push(makeItem(1));
    await expect(poll()).rejects.toThrow('no queue');
    expect(await position()).toBe(T0);
    broken = false;
    await poll();
    expect(got).toEqual(['i-1']);
  });

  test('a long backlog is committed on the way, and goes on from there', async () => {
    let stopAt: number | undefined = 5;
    const asked: number[] = [];
    const context = setUp(
      {
        async *pages(stream, since) {
          asked.push(since);
          let page = 0;
          for await (const each of context.history.pages(stream, since)) {
            page += 1;
            if (page === stopAt) throw new Error('killed');
            yield each;
            const last = each.items.at(-1)?.dates.createdAt ?? 0;
            yield { items: [], malformed: [], settledBefore: last };
          }
        },
      },
      60,
    );
    const { history, poll, ids, time } = context;
    time.now = T0 + 1000 * MINUTE;
    history.items.push(...Array.from({ length: 600 }, (_, n) => makeItem((n + 1) * 60)));
    await expect(poll()).rejects.toThrow('killed');
    stopAt = undefined;
    await poll();
    expect(asked[1]).toBeGreaterThan(T0 + 90 * MINUTE);
    expect(ids()).toHaveLength(600);
    expect(new Set(ids()).size).toBe(600);
  });

  test('a service that sorts downwards loses nothing when the walk breaks off', async () => {
    let broken = true;
    const context = setUp({
      async *pages(stream, since) {
        const pages = [];
        for await (const each of context.history.pages(stream, since)) pages.unshift(each);
        for (const [index, page] of pages.entries()) {
          if (broken && index === 2) throw new Error('killed');
          yield { ...page, items: page.items.toReversed() };
        }
      },
    });
    const { history, poll, ids, time, position } = context;
    time.now = T0 + 1000 * MINUTE;
    history.items.push(...Array.from({ length: 30 }, (_, n) => makeItem((n + 1) * 600)));
    await expect(poll()).rejects.toThrow('killed');
    expect(await position()).toBe(T0);
    broken = false;
    await poll();
    expect(new Set(ids()).size).toBe(30);
    expect(ids()).toHaveLength(30);
  });

  test('one item from the future does not hide the ones that come before it', async () => {
    const { history, poll, ids, time } = setUp();
    time.now = T0 + 10_000;
    history.items.push(makeItem(5), makeItem(9_000_000));
    await poll();
    time.now = T0 + 30_000;
    history.items.push(makeItem(20));
    await poll();
    expect(ids()).toEqual(['i-5', 'i-9000000', 'i-20']);
  });

  test('what is dated before the start, but was written after the first read, is late and no history', async () => {
    const { history, poll, ids, time } = setUp();
    history.items.push(makeItem(-300), makeItem(-30));
    time.now = T0 + 10_000;
    await poll();
    history.items.push(makeItem(-60));
    time.now += 2 * MINUTE;
    await poll();
    expect(ids()).toEqual(['i--60']);
  });

  test('dates in whole seconds cut nothing off, at the start or at a cursor', async () => {
    const start = T0 + 700;
    const { history, poll, ids, time } = setUp({
      beginningOf: () => ({ start, position: start, sweptTo: start }),
      settings: { overlap: 0, lookback: 0, sweepEvery: 60 * MINUTE, assessments: ['critical'] },
    });
    // Written at .900 and shown without its milliseconds.
    history.items.push(makeItem(1, { dates: { createdAt: T0 } }));
    time.now = T0 + 1000;
    await poll();
    history.items.push(makeItem(2, { dates: { createdAt: T0 + 1000 } }));
    time.now = T0 + 2000;
    await poll();
    history.items.push(makeItem(3, { dates: { createdAt: T0 + 1000 } }));
    await poll();
    expect(ids()).toEqual(['i-1', 'i-2', 'i-3']);
  });

  test('the clock that an answer teaches counts for the read that it belongs to', async () => {
    const skew = { ms: 0 };
    const { history, poll, time, cursors } = setUp({
      clock: () => time.now + skew.ms,
      async *pages(stream, since) {
        skew.ms = -90_000;
        yield* history.pages(stream, since);
      },
    });
    history.items.push(makeItem(5));
    time.now = T0 + 10 * MINUTE;
    await poll();
    const [cursor] = await cursors.get([TRACK]);
    expect(cursor?.sweptTo).toBe(time.now - 90_000);
  });

  test('an empty answer moves no cursor, and a sweep is not repeated at once for it', async () => {
    const { history, poll, time, cursors } = setUp();
    history.items.push(makeItem(1));
    time.now = T0 + 2000;
    await poll();
    const [before] = await cursors.get([TRACK]);
    history.items.length = 0;
    time.now += 10 * MINUTE;
    expect((await poll()).sweep).toBe(true);
    const [after] = await cursors.get([TRACK]);
    expect(after).toMatchObject({ position: before?.position, sweptTo: before?.sweptTo });
    time.now += 1000;
    expect((await poll()).sweep).toBe(false);
  });

  test('what a false empty answer hid from the sweep is found by the next', async () => {
    const { history, poll, ids, time } = setUp();
    history.items.push(makeItem(1));
    time.now = T0 + 2000;
    await poll();
    const all = [...history.items, makeItem(10)];
    history.items.length = 0;
    time.now = T0 + 16 * MINUTE;
    await poll();
    time.now += 16 * MINUTE;
    await poll();
    history.items.push(...all, makeItem(31 * 60));
    time.now += 2 * MINUTE;
    await poll();
    expect(ids().toSorted()).toEqual(['i-1', 'i-10', 'i-1860']);
  });

  test('a read between sweeps asks no further where a short page brings nothing new; the sweep does', async () => {
    let asked = 0;
    const context = setUp({
      async *pages(stream, since) {
        for await (const page of context.history.pages(stream, since)) {
          asked += 1;
          yield { ...page, short: true };
        }
      },
    });
    const { history, poll, ids, time } = context;
    history.items.push(...[1, 2, 3, 4, 5].map((n) => makeItem(n)));
    time.now = T0 + 6000;
    await poll();
    expect(asked).toBe(2);
    asked = 0;
    await poll();
    expect(asked).toBe(1);
    history.items.push(makeItem(6));
    time.now += 1000;
    await poll();
    // It was not short after all.
    expect(ids()).toHaveLength(5);
    time.now += MINUTE;
    expect((await poll()).sweep).toBe(true);
    expect(ids()).toHaveLength(6);
  });

  test("nobody gets another protocol's notifications, whatever the service shows", async () => {
    const { history, poll, ids, time } = setUp({
      async *pages() {
        yield { items: [...history.items], malformed: [] };
      },
    });
    const stream: Stream = { ...STREAM, source: 'notifications' };
    history.items.push(
      makeItem(1, { source: 'notifications', protocol: 'Bridge' }),
      makeItem(2, { source: 'notifications', protocol: ' vault ' }),
    );
    time.now = T0 + 5000;
    await poll(stream);
    expect(ids()).toEqual(['i-2']);
  });

  test('an empty answer moves no cursor before anything was ever read', async () => {
    const { poll, position, time } = setUp();
    time.now = T0 + 100 * MINUTE;
    await poll();
    expect(await position()).toBe(T0);
  });

  test('several protocols share one request and keep cursors of their own', async () => {
    const { history, poll, ids, time, position } = setUp();
    const stream: Stream = { ...STREAM, source: 'notifications', protocols: ['Vault', 'Bridge'] };
    const notification = (n: number, protocol: string) => makeItem(n, { source: 'notifications', protocol });
    time.now = T0 + 100_000;
    history.items.push(notification(1, 'Vault'), notification(2, 'Bridge'), notification(3, 'Elsewhere'));
    await poll(stream);
    await poll(stream);
    expect(ids()).toEqual(['i-1', 'i-2']);
    const at = (protocol: string) => position({ ...TRACK, source: 'notifications', protocol });
    expect(await at('Bridge')).toBe(await at('Vault'));
  });

  test('never two polls of one cursor at once', async () => {
    const gate = Promise.withResolvers<void>();
    let running = 0;
    const { poll } = setUp({
      async *pages() {
        running += 1;
        await gate.promise;
        yield { items: [], malformed: [] };
      },
    });
    const first = poll();
    const others = await Promise.all([poll(), poll(), poll()]);
    gate.resolve();
    const all = [await first, ...others];
    expect(all.filter(({ outcome }) => outcome === 'read')).toHaveLength(1);
    expect(running).toBe(1);
    expect((await poll()).outcome).toBe('read');
  });
});

describe('the copy outside Redis', () => {
  test('stays behind what is not delivered, and gives back what was written', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'tocsin-mirror-')), 'state', 'cursors.json');
    const mirror = createMirror(file);
    expect(await mirror.load()).toBeUndefined();
    const { history, poll, time, redis, prefix } = setUp({ onCursor: mirror.note });
    await redis.zadd(ledgerKeys(prefix).open(TRACK), T0 + 3000, 'an alert that waits');
    time.now = T0 + 10_000;
    history.items.push(makeItem(2), makeItem(5));
    await poll();
    await mirror.flush();
    const later = createMirror(file);
    expect(await later.load()).toBeUndefined();
    expect(later.recall(TRACK)).toMatchObject({ start: T0, position: T0 + 3000 });
    expect(later.recall({ ...TRACK, protocol: 'Bridge' })).toBeUndefined();
  });

  test('says why a damaged file is not used, and goes on', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'tocsin-mirror-')), 'cursors.json');
    await writeFile(file, '{"v":1,"cursors":{"a"');
    const mirror = createMirror(file);
    expect(await mirror.load()).toContain(file);
    expect(mirror.recall(TRACK)).toBeUndefined();
  });
});

describe('a cursor', () => {
  test('only moves forwards, but for the operator', async () => {
    const { redis, prefix } = openTestRedis();
    const cursors = createCursors(redis, prefix);
    const at = (time: number) => ({ start: time, position: time, sweptTo: time });
    await cursors.begin(TRACK, at(1000));
    await cursors.begin(TRACK, at(1));
    const { advance } = openCommits(redis, prefix);
    await advance(TRACK, { position: 5000, polledAt: 7 });
    await advance(TRACK, { position: 4000.7 });
    const moved = { start: 1000, position: 5000, sweptTo: 1000, begun: 1000 };
    expect(await cursors.get([TRACK])).toEqual([{ ...moved, polledAt: 7 }]);
    // When it was read last: a clock that was ahead is no reason to stay there.
    await advance(TRACK, { sweptAt: 9, polledAt: 6 });
    await advance(TRACK, { sweptAt: 8, polledAt: 5 });
    expect(await cursors.get([TRACK])).toEqual([{ ...moved, sweptAt: 8, polledAt: 5 }]);
    await cursors.set(TRACK, 10);
    expect(await cursors.get([TRACK])).toEqual([{ start: 10, position: 10, sweptTo: 10, begun: 10 }]);
  });
});
