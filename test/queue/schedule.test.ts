/** The schedule: Redis holds exactly the turns that are wanted, and each is taken by one daemon. */
import { Queue } from 'bullmq';
import { expect, onTestFinished, test } from 'vitest';
import { createSchedule, type Turn } from '../../src/queue/schedule.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const schedule = createSchedule<string>({ redis, prefix, onError: () => {} });
  const queue = new Queue('poll', { connection: redis, prefix });
  onTestFinished(async () => {
    await Promise.all([schedule.close(), queue.close()]);
  });
  const held = async () =>
    Object.fromEntries((await queue.getJobSchedulers(0, -1)).map(({ key, every, offset }) => [key, { every, offset }]));
  return { redis, prefix, schedule, queue, held };
};
const turn = (id: string, everyMs = 60_000): Turn<string> => ({ id, everyMs, data: id });

test('schedulers are added, changed and removed', async () => {
  const { schedule, held } = setUp();
  await schedule.sync([turn('one'), turn('two')]);
  expect((await schedule.check()).count).toBe(2);
  await schedule.sync([turn('one', 30_000), turn('three')]);
  expect(await held()).toMatchObject({ one: { every: 30_000 }, three: { every: 60_000 } });
  expect((await schedule.check()).count).toBe(2);
  await schedule.sync([]);
  expect((await schedule.check()).count).toBe(0);
});

test('what is the same already is left alone', async () => {
  const { schedule, queue } = setUp();
  const turns = [turn('one'), turn('two')];
  await schedule.sync(turns);
  const before = (await queue.getDelayed()).map(({ id }) => id);
  await schedule.sync(turns);
  expect((await queue.getDelayed()).map(({ id }) => id)).toEqual(before);
});

test('each turn is taken once, whichever of two daemons takes it', async () => {
  const { redis, prefix, schedule } = setUp();
  const other = createSchedule<string>({ redis, prefix, onError: () => {} });
  onTestFinished(() => other.close());
  const taken: string[] = [];
  for (const one of [schedule, other]) {
    const worker = one.work(1, async (data) => {
      taken.push(data);
      return undefined;
    });
    onTestFinished(() => worker.stop(0));
  }
  await schedule.sync(['a', 'b', 'c'].map((id) => turn(id, 3_600_000)));
  await until('all three', () => taken.length >= 3);
  expect(taken.sort()).toEqual(['a', 'b', 'c']);
});
