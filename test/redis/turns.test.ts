/** Work on a timer: of several daemons one takes a shared turn, and another one goes on when it is gone. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createServerChange } from '../../src/features/audit/job.ts';
import { createLocks } from '../../src/redis/lock.ts';
import { startTurns, type Turn } from '../../src/redis/turns.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

/** How long the lock of a daemon that died keeps the others out. */
const LOCK_MS = 600;

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  /** As every daemon sees them. */
  let readers: readonly string[] = ['a', 'b'];

  /** A daemon with a connection of its own, so that it can die. */
  const start = (own: string, turns: readonly Turn[], readersOf = (_service: string) => readers) => {
    const connection = redis.duplicate();
    const stop = new AbortController();
    const errors: { turn: string; err: unknown }[] = [];
    const running = startTurns(turns, {
      daemons: { own, readersOf, locks: createLocks(connection, prefix, LOCK_MS) },
      stopping: stop.signal,
      onFailed: (turn, err) => void errors.push({ turn, err }),
    });
    const end = async (): Promise<void> => {
      stop.abort();
      await running.stopped(100);
      connection.disconnect();
    };
    onTestFinished(end);
    return {
      errors,
      stopped: running.stopped,
      abort: () => stop.abort(),
      end,
      /** It says nothing any more, and gives nothing back. */
      die: () => connection.disconnect(),
    };
  };
  return {
    redis,
    prefix,
    start,
    become: (ids: readonly string[]) => {
      readers = ids;
    },
  };
};

const shared = (run: Turn['run'], everyMs = 20): Turn => ({ name: 'audit main', everyMs, service: 'main', run });

test('each daemon takes its own turns, again and again', async () => {
  const { start } = setUp();
  const taken: string[] = [];
  for (const own of ['a', 'b']) start(own, [{ name: 'look', everyMs: 5, run: async () => void taken.push(own) }]);
  await until('both a few times', () => ['a', 'b'].every((own) => taken.filter((id) => id === own).length > 2));
});

test('a turn begins so long after the one before has ended', async () => {
  const { start } = setUp();
  const times: number[] = [];
  const run = async (): Promise<void> => {
    times.push(performance.now());
    await sleep(50);
  };
  start('a', [{ name: 'look', everyMs: 50, run }]);
  await until('three', () => times.length > 2);
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThan(95);
});

test('a turn that failed is logged and comes again, and holds up no other', async () => {
  const { start } = setUp();
  let times = 0;
  const others: string[] = [];
  const { errors } = start('a', [
    {
      name: 'broken',
      everyMs: 5,
      run: async () => {
        times += 1;
        throw new Error('no answer');
      },
    },
    { name: 'stuck', everyMs: 5, run: () => new Promise(() => {}) },
    { name: 'well', everyMs: 5, run: async () => void others.push('well') },
  ]);
  await until('it was tried again', () => times > 1 && others.length > 1);
  expect(errors[0]).toMatchObject({ turn: 'broken', err: { message: 'no answer' } });
});

test('the first reader of the service takes a shared turn, and the next one when it is gone', async () => {
  const { start, become } = setUp();
  const taken: string[] = [];
  const first = start('a', [shared(async () => void taken.push('a'))]);
  start('b', [shared(async () => void taken.push('b'))]);
  await until('some turns', () => taken.length > 4);
  expect(new Set(taken)).toEqual(new Set(['a']));
  await first.end();
  become(['b']);
  await until('the other goes on', () => taken.includes('b'));
});

test('one that does not read the service takes no turn of it', async () => {
  const { start, become } = setUp();
  const taken: string[] = [];
  become(['b']);
  const alone: Turn = { name: 'own', everyMs: 5, run: async () => void taken.push('own') };
  start('a', [shared(async () => void taken.push('shared')), alone]);
  await until('it works', () => taken.length > 3);
  expect(taken).not.toContain('shared');
});

test('daemons that do not know of each other never take a turn at once', async () => {
  const { start } = setUp();
  let running = 0;
  const atOnce: number[] = [];
  const taken = new Set<string>();
  for (const own of ['a', 'b', 'c']) {
    const run = async (): Promise<void> => {
      running += 1;
      atOnce.push(running);
      taken.add(own);
      await sleep(10);
      running -= 1;
    };
    start(own, [shared(run, 5)], () => [own]);
  }
  await until('each had one', () => taken.size === 3 && atOnce.length > 9);
  expect(Math.max(...atOnce)).toBe(1);
});

test('where a daemon dies in its turn, another one takes it when the lock has expired', async () => {
  const { start, become } = setUp();
  const begun = Promise.withResolvers<void>();
  const taken = Promise.withResolvers<string>();
  const dying = start('a', [
    shared(() => {
      begun.resolve();
      return new Promise(() => {});
    }),
  ]);
  start('b', [shared(async () => taken.resolve('b'))]);
  await begun.promise;
  dying.die();
  become(['b']);
  expect(await taken.promise).toBe('b');
});

test('an urgent audit is carried out although the daemon that began it dies in it', async () => {
  const { redis, prefix, start, become } = setUp();
  await redis.set(`${prefix}:server:main`, 'the one before');
  const begun = Promise.withResolvers<void>();
  const audited: string[] = [];
  const settings = { redis, prefix, log: { info: () => {} }, settledAfterMs: 1 };
  const connection = redis.duplicate();
  onTestFinished(() => connection.disconnect());
  const dies = createServerChange({
    ...settings,
    locks: createLocks(connection, prefix, LOCK_MS),
    audit: () => {
      begun.resolve();
      return new Promise(() => {});
    },
  });
  const goesOn = createServerChange({
    ...settings,
    locks: createLocks(redis, prefix, LOCK_MS),
    audit: async (service) => void audited.push(service),
  });
  start('a', [{ ...shared((signal) => dies('main', signal)), isUnlocked: true }]);
  start('b', [{ ...shared((signal) => goesOn('main', signal)), isUnlocked: true }]);
  await begun.promise;
  connection.disconnect();
  become(['b']);
  await until('the other has audited', () => audited.length > 0);
  await until('the new server is noted', async () => (await redis.get(`${prefix}:server:main`)) !== 'the one before');
  await sleep(100);
  expect(audited).toEqual(['main']);
});

test('a stop aborts the turn that runs, gives its lock back and begins no other', async () => {
  const { redis, prefix, start } = setUp();
  const begun = Promise.withResolvers<void>();
  let times = 0;
  const daemon = start('a', [
    shared(async (signal) => {
      times += 1;
      begun.resolve();
      await sleep(60_000, undefined, { signal });
    }),
  ]);
  await begun.promise;
  daemon.abort();
  await daemon.stopped(5000);
  expect(await redis.keys(`${prefix}:lock:*`)).toEqual([]);
  expect([times, daemon.errors]).toEqual([1, []]);
});

test('a stop does not wait longer than it may for a turn that does not end', async () => {
  const { start } = setUp();
  const daemon = start('a', [{ name: 'stuck', everyMs: 5, run: () => new Promise(() => {}) }]);
  daemon.abort();
  const before = performance.now();
  await daemon.stopped(50);
  expect(performance.now() - before).toBeLessThan(2000);
});

test('the first reader takes a turn without a lock as well', async () => {
  const { redis, prefix, start } = setUp();
  const taken: string[] = [];
  const locks: string[][] = [];
  for (const own of ['a', 'b']) {
    const run = async (): Promise<void> => {
      taken.push(own);
      locks.push(await redis.keys(`${prefix}:lock:*`));
    };
    start(own, [{ ...shared(run), isUnlocked: true }]);
  }
  await until('some turns', () => taken.length > 4);
  expect(new Set(taken)).toEqual(new Set(['a']));
  expect(locks.flat()).toEqual([]);
});

test('where nothing is due there is no turn, and no lock is taken for it', async () => {
  const { redis, prefix, start } = setUp();
  const taken: string[][] = [];
  let asked = 0;
  let due = false;
  const isDue = async (): Promise<boolean> => {
    asked += 1;
    expect(await redis.keys(`${prefix}:lock:*`)).toEqual([]);
    return due;
  };
  const { errors } = start('a', [
    { ...shared(async () => void taken.push(await redis.keys(`${prefix}:lock:*`))), isDue },
  ]);
  await until('it was asked a few times', () => asked > 4);
  expect(taken).toEqual([]);
  due = true;
  await until('the turn', () => taken.length > 0);
  expect([taken[0]?.length, errors]).toEqual([1, []]);
});
