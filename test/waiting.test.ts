import { expect, test } from 'vitest';
import { oneAtATime, withinTime } from '../src/waiting.ts';

test('calls during a running one share its answer, the next one asks again', async () => {
  const answers = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
  let asked = 0;
  const ask = oneAtATime(() => {
    asked += 1;
    return answers[asked - 1]?.promise ?? Promise.reject(new Error('asked too often'));
  });
  const shared = [ask(), ask()];
  answers[0]?.resolve(1);
  expect(await Promise.all(shared)).toEqual([1, 1]);
  const next = ask();
  answers[1]?.resolve(2);
  expect(await next).toBe(2);
  expect(asked).toBe(2);
});

test('a failure is shared as well, and does not stay', async () => {
  let asked = 0;
  const ask = oneAtATime<number>(() => {
    asked += 1;
    if (asked === 1) throw new Error('at once');
    return Promise.resolve(asked);
  });
  const shared = [ask(), ask()];
  expect((await Promise.allSettled(shared)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await ask()).toBe(2);
});

test('what takes too long is given up', async () => {
  await expect(withinTime(new Promise(() => {}), 5)).rejects.toThrow('no answer within 5 ms');
  expect(await withinTime(Promise.resolve('in time'), 60_000)).toBe('in time');
  await expect(withinTime(Promise.reject(new Error('its own')), 60_000)).rejects.toThrow('its own');
});
