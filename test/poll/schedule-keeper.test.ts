import { expect, test } from 'vitest';
import { createScheduleKeeper } from '../../src/poll/schedule-keeper.ts';

const setUp = () => {
  const redis = { turns: ['of an earlier start', 'another', 'a third', 'a fourth'] as readonly string[] };
  let syncs = 0;
  const keeper = createScheduleKeeper<string>({
    schedule: {
      sync: async (turns) => {
        redis.turns = turns;
        syncs += 1;
      },
      check: async () => ({ count: redis.turns.length, stopped: [] }),
    },
    turns: ['catalog', 'audit'],
    onStopped: () => {},
  });
  return { redis, keeper, syncs: () => syncs };
};

test('the first time the schedule is set up, whatever Redis holds', async () => {
  const { redis, keeper } = setUp();
  await keeper.keep();
  expect(redis.turns).toEqual(['catalog', 'audit']);
});

test('nothing is set up again while Redis holds the schedule', async () => {
  const { keeper, syncs } = setUp();
  await keeper.keep();
  await keeper.keep();
  expect(syncs()).toBe(1);
});

test('a schedule that Redis lost is set up again', async () => {
  const { redis, keeper } = setUp();
  await keeper.keep();
  redis.turns = [];
  await keeper.keep();
  expect(redis.turns).toEqual(['catalog', 'audit']);
});

test('turns that an older daemon has added are removed once one of them came', async () => {
  const { redis, keeper } = setUp();
  await keeper.keep();
  redis.turns = [...redis.turns, 'poll'];
  await keeper.keep();
  expect(redis.turns).toContain('poll');
  keeper.outdated();
  await keeper.keep();
  expect(redis.turns).toEqual(['catalog', 'audit']);
});
