import { expect, test } from 'vitest';
import { createScheduleKeeper } from '../../src/poll/schedule-keeper.ts';

const setUp = () => {
  const redis = { turns: ['of an earlier start', 'another', 'a third', 'a fourth'] as readonly string[] };
  const keeper = createScheduleKeeper<string, string>({
    schedule: {
      sync: async (turns) => {
        redis.turns = turns;
      },
      check: async () => ({ count: redis.turns.length, stopped: [] }),
    },
    others: ['audit'],
    onStopped: () => {},
  });
  const plans: string[] = [];
  const keep = () =>
    keeper.keep(async () => {
      plans.push('planned');
      return ['poll', 'catalog'];
    });
  return { redis, keeper, keep, plans };
};

test('the first time the schedule is set up, whatever Redis holds', async () => {
  const { redis, keep } = setUp();
  await keep();
  expect(redis.turns).toEqual(['poll', 'catalog', 'audit']);
});

test('nothing is planned again while Redis holds the schedule', async () => {
  const { keeper, keep, plans } = setUp();
  await keeper.sync(['poll']);
  await keep();
  expect(plans).toEqual([]);
});

test('a schedule that Redis lost is set up again', async () => {
  const { redis, keeper, keep } = setUp();
  await keeper.sync(['poll', 'catalog']);
  redis.turns = [];
  await keep();
  expect(redis.turns).toEqual(['poll', 'catalog', 'audit']);
});
