import { expect, test } from 'vitest';
import { createMinuteLimit } from '../src/rarely.ts';

const START = Date.parse('2026-11-20T10:00:00Z');

const limited = () => {
  let now = START;
  return {
    ...createMinuteLimit(() => now, { each: 2, all: 3 }),
    pass: (ms: number) => {
      now += ms;
    },
  };
};

test('each has a limit, and so have all together; those that are refused do not count', () => {
  const { take, pass } = limited();
  expect([take('ann'), take('ann'), take('ann'), take('bob'), take('bob')]).toEqual([true, true, false, true, false]);
  pass(59_999);
  expect(take('carl')).toBe(false);
  pass(1);
  expect(take('carl')).toBe(true);
});

test('who only asks is not counted', () => {
  const { mayTake, count } = limited();
  for (let n = 0; n < 10; n += 1) expect(mayTake('ann')).toBe(true);
  count('ann');
  count('ann');
  expect([mayTake('ann'), mayTake('bob')]).toEqual([false, true]);
});

test('a clock that was set back holds nobody up for longer than a minute by it', () => {
  const { take, pass } = limited();
  take('ann');
  take('ann');
  pass(-3_600_000);
  expect(take('ann')).toBe(true);
});
