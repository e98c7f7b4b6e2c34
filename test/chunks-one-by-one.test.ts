import { expect, test } from 'vitest';
import { oneByOne } from '../src/chunks.ts';

const nameOf = (one: number): string => `number ${one}`;

test('each is done in its order, and failures are thrown at the end, by name', async () => {
  const done: number[] = [];
  const work = async (one: number): Promise<void> => {
    if (one % 2 === 0) throw new Error('even');
    done.push(one);
  };
  await oneByOne([], nameOf, work);
  await expect(oneByOne([1, 2, 3], nameOf, work)).rejects.toThrow(/^number 2: even$/);
  await expect(oneByOne([4, 5, 6], nameOf, work)).rejects.toThrow(/^number 4: even; number 6: even$/);
  expect(done).toEqual([1, 3, 5]);
});
