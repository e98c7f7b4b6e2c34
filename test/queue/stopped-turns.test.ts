/** A scheduler hangs on the one job of its next turn: where that is lost or far ahead, it is found and made anew. */
import { Queue } from 'bullmq';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createScheduleKeeper } from '../../src/poll/schedule-keeper.ts';
import { createSchedule, type Turn } from '../../src/queue/schedule.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const HOUR_MS = 3_600_000;
const EVERY_MS = 60_000;
const TURNS: Turn<string>[] = [
  { id: 'poll', everyMs: EVERY_MS, data: 'poll' },
  { id: 'audit', everyMs: EVERY_MS, data: 'audit' },
];

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  let elapsedMs = 0;
  const schedule = createSchedule<string>({ redis, prefix, onError: () => {}, elapsed: () => elapsedMs });
  const queue = new Queue('poll', { connection: redis, prefix });
  onTestFinished(async () => {
    vi.restoreAllMocks();
    await Promise.all([schedule.close(), queue.close()]);
  });
  const stopped: string[] = [];
  const keeper = createScheduleKeeper<Turn<string>>({
    schedule,
    turns: TURNS,
    onStopped: (ids) => stopped.push(...ids),
  });
  return {
    schedule,
    queue,
    keep: () => keeper.keep(),
    stopped,
    pass: (ms: number) => {
      elapsedMs += ms;
    },
    /** Every job of the schedule is gone, as if a replica had taken over that never got them. */
    loseJobs: async () => {
      const jobs = await queue.getJobs(['wait', 'delayed']);
      for (const { id } of jobs) {
        await redis
          .multi()
          .zrem(`${prefix}:poll:delayed`, id ?? '')
          .lrem(`${prefix}:poll:wait`, 0, id ?? '')
          .del(`${prefix}:poll:${id}`)
          .exec();
      }
    },
    /** When each scheduler's next turn is due. */
    due: async () => Object.fromEntries((await queue.getJobSchedulers(0, -1)).map(({ key, next }) => [key, next ?? 0])),
  };
};

const realNow = Date.now;
const setClockBack = (ms: number): void => {
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() - ms);
};

test('a turn that was lost in a failover is made anew, and is taken soon', async () => {
  const { schedule, keep, loseJobs, stopped } = setUp();
  await keep();
  await loseJobs();
  await keep();
  expect(stopped.toSorted()).toEqual(['audit', 'poll']);
  const taken: string[] = [];
  const worker = schedule.work(1, async (data) => {
    taken.push(data);
    return undefined;
  });
  onTestFinished(() => worker.stop(0));
  await until('both turns', () => taken.length >= 2);
  expect(new Set(taken)).toEqual(new Set(['audit', 'poll']));
  expect(await schedule.check()).toEqual({ count: 2, stopped: [] });
});

test('a schedule that turns is left alone, also where its turns wait for a worker', async () => {
  const { keep, due, stopped, pass } = setUp();
  await keep();
  const before = await due();
  pass(10 * EVERY_MS);
  await keep();
  expect(stopped).toEqual([]);
  expect(await due()).toEqual(before);
});

test('turns that are an hour ahead, as the clock was set back, are made anew after one interval', async () => {
  const { keep, due, stopped, pass } = setUp();
  await keep();
  setClockBack(HOUR_MS);
  await keep();
  pass(2 * EVERY_MS);
  await keep();
  expect(stopped.toSorted()).toEqual(['audit', 'poll']);
  expect(Math.max(...Object.values(await due()))).toBeLessThanOrEqual(Date.now() + EVERY_MS);
});

test('turns that another daemon takes are left alone, though its clock is an hour ahead of ours', async () => {
  const { schedule, queue, keep, stopped, pass, due } = setUp();
  await keep();
  setClockBack(HOUR_MS);
  await keep();
  vi.restoreAllMocks();
  const before = await due();
  const worker = schedule.work(1, async () => undefined);
  onTestFinished(() => worker.stop(0));
  for (const job of await queue.getDelayed()) await job.promote();
  await until('all next turns', async () => {
    const after = await due();
    return Object.keys(before).every((id) => (after[id] ?? 0) > (before[id] ?? 0));
  });
  setClockBack(HOUR_MS);
  pass(2 * EVERY_MS);
  await keep();
  expect(stopped).toEqual([]);
});
