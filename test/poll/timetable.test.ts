import { expect, onTestFinished, test } from 'vitest';
import { createDueQueue } from '../../src/poll/due-queue.ts';
import { createTimetable, type TimetableSettings } from '../../src/poll/timetable.ts';
import { until } from '../support/until.ts';

const setUp = (changes: Partial<TimetableSettings<string>> = {}) => {
  const log: string[] = [];
  const timetable = createTimetable<string>({
    concurrency: 2,
    serviceOf: () => 'main',
    firstInMs: () => 0,
    everyMs: () => 3_600_000,
    gapMs: () => 0,
    togetherMs: () => 0,
    run: async (task) => {
      log.push(task);
      return undefined;
    },
    deadlineMs: 3_600_000,
    onStopped: (task) => log.push(`stopped ${task}`),
    onError: (task) => log.push(`failed ${task}`),
    monotonic: () => performance.now(),
    ...changes,
  });
  onTestFinished(() => timetable.stop(0));
  const set = (...tasks: string[]): void => timetable.set(new Map(tasks.map((task) => [task, task])));
  return { log, timetable, set };
};

test('what is due first comes first, whatever order it came in', () => {
  const queue = createDueQueue<{ dueAt: number }>();
  const times = Array.from({ length: 500 }, (_, n) => (n * 7919) % 503);
  for (const dueAt of times) queue.push({ dueAt });
  const taken = times.map(() => queue.shift()?.dueAt);
  expect(taken).toEqual(times.toSorted((a, b) => a - b));
  expect(queue.shift()).toBeUndefined();
});

test('each task has its turns, and one that is no longer wanted has none', async () => {
  const { log, set } = setUp({ everyMs: () => 1 });
  set('a', 'b');
  await until('both had turns', () => log.filter((task) => task === 'a').length > 2 && log.includes('b'));
  set('b');
  log.length = 0;
  await until('the other goes on', () => log.length > 3);
  expect(new Set(log)).toEqual(new Set(['b']));
});

test('no more turns run at once than may, and none of a task twice', async () => {
  const running: string[] = [];
  let most = 0;
  const { log, set } = setUp({
    everyMs: () => 1,
    run: async (task) => {
      expect(running).not.toContain(task);
      running.push(task);
      most = Math.max(most, running.length);
      await new Promise((resolve) => setTimeout(resolve, 2));
      running.splice(running.indexOf(task), 1);
      log.push(task);
      return undefined;
    },
  });
  set('a', 'b', 'c', 'd');
  await until('all had turns', () => new Set(log).size === 4 && log.length > 20);
  expect(most).toBe(2);
});

test('where turns come late, each lane has as many of them', async () => {
  const turns: string[] = [];
  const { set } = setUp({
    concurrency: 1,
    everyMs: () => 0,
    laneOf: (task) => (task === 'old' ? 0 : 1),
    run: async (task) => {
      turns.push(task);
      await new Promise((resolve) => setImmediate(resolve));
      return undefined;
    },
  });
  set(...Array.from({ length: 200 }, (_, n) => `new ${n}`), 'old');
  await until('many had turns', () => turns.length > 100);
  expect(turns.slice(0, 100).filter((task) => task === 'old').length).toBeGreaterThan(40);
});

test('a turn that does not end is given up, and others have its place', async () => {
  const signals: AbortSignal[] = [];
  const { log, set } = setUp({
    concurrency: 1,
    deadlineMs: 20,
    run: async (task, signal) => {
      log.push(task);
      if (task === 'hangs') {
        signals.push(signal);
        await new Promise(() => {});
      }
      return undefined;
    },
    firstInMs: (task) => (task === 'hangs' ? 0 : 1),
  });
  set('hangs', 'b');
  await until('the other had its turn', () => log.includes('b'));
  expect(log.slice(0, 3)).toEqual(['hangs', 'stopped hangs', 'b']);
  expect(signals[0]?.aborted).toBe(true);
});

test('a turn that fails is told, and the next one comes', async () => {
  const { log, set } = setUp({
    everyMs: () => 1,
    run: async () => {
      throw new Error('no');
    },
  });
  set('a');
  await until('it was tried again', () => log.length > 2);
  expect(new Set(log)).toEqual(new Set(['failed a']));
});

test('one that is hastened, or asks for it, comes before its interval is over', async () => {
  const { log, set, timetable } = setUp({
    run: async (task) => {
      log.push(task);
      return log.length === 1 ? 1 : undefined;
    },
  });
  set('a');
  await until('it came again', () => log.length === 2);
  timetable.hasten('a');
  await until('and at once', () => log.length === 3);
});

test('the services take turns, and one whose next turn is not yet allowed holds up no other', async () => {
  const { log, set } = setUp({
    concurrency: 1,
    serviceOf: (task) => task[0] ?? '',
    gapMs: (service) => (service === 'a' ? 3_600_000 : 0),
  });
  set('a1', 'a2', 'b1', 'b2');
  await until('the others had their turns', () => log.includes('b2'));
  expect(log).toEqual(['a1', 'b1', 'b2']);
});

test('has turned where a turn began or ended, or none is due; not where all places are taken for ever', async () => {
  const time = { now: 0 };
  const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
  const { timetable, set } = setUp({ concurrency: 1, monotonic: () => time.now, run: () => released });
  expect(timetable.hasTurned()).toBe(true);
  set('a', 'b');
  expect(timetable.hasTurned()).toBe(true);
  time.now += 1;
  expect(timetable.hasTurned()).toBe(false);
  release(undefined);
  await until('the next one begins', () => timetable.hasTurned());
});
