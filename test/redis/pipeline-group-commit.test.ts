/** What is asked for at about the same time is written together. */
import { expect, test } from 'vitest';
import { createGroupCommit } from '../../src/redis/pipeline.ts';

test('what comes while a write is on its way is written by the next one, in order, and each gets its own answer', async () => {
  const groups: number[][] = [];
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const { commit } = createGroupCommit(async (all: readonly number[]) => {
    groups.push([...all]);
    begun.resolve();
    await goOn.promise;
    return all.map((one) => one * 10);
  }, 1);
  const first = [commit(1), commit(2)];
  await begun.promise;
  const later = [commit(3), commit(4), commit(5)];
  goOn.resolve();
  expect(await Promise.all([...first, ...later])).toEqual([10, 20, 30, 40, 50]);
  expect(groups).toEqual([
    [1, 2],
    [3, 4, 5],
  ]);
  expect(await commit(6)).toBe(60);
});

test('a group fails together, and those that come later do not', async () => {
  let fails = true;
  const { commit } = createGroupCommit(async (all: readonly number[]) => {
    if (fails) throw new Error('Redis is away');
    return all;
  }, 1);
  const answers = await Promise.allSettled([commit(1), commit(2)]);
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  fails = false;
  expect(await commit(3)).toBe(3);
});
