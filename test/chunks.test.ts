import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chunksOf, mapInChunks, packed } from '../src/chunks.ts';

describe('chunksOf', () => {
  test.each([
    [[], 2, []],
    [[1], 2, [[1]]],
    [[1, 2], 2, [[1, 2]]],
    [[1, 2, 3], 2, [[1, 2], [3]]],
  ])('%j by %i is %j', (all, size, chunks) => expect(chunksOf(all, size)).toEqual(chunks));
});

describe('packed', () => {
  const lengths = (parts: string[][]): number[] => parts.map((part) => part.join('').length);

  test.each([
    [[], []],
    [['aa', 'bb'], [['aa', 'bb']]],
    [
      ['aa', 'bb', 'c'],
      [['aa', 'bb'], ['c']],
    ],
    [
      ['aaaaaa', 'b'],
      [['aaaaaa'], ['b']],
    ],
    [
      ['a', 'bbbbbb', 'c'],
      [['a'], ['bbbbbb'], ['c']],
    ],
  ])('%j within 4 is %j', (all, parts) => expect(packed(all, 4, (text) => text.length)).toEqual(parts));

  test('keeps every entry in order, and every part of several within the limit', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 9 })), (all) => {
        const parts = packed(all, 6, (text) => text.length);
        expect(parts.flat()).toEqual(all);
        const several = parts.filter((part) => part.length > 1);
        expect(Math.max(0, ...lengths(several))).toBeLessThanOrEqual(6);
      }),
    );
  });
});

describe('mapInChunks', () => {
  test('gives the results in order, and never runs more than a chunk at the same time', async () => {
    let running = 0;
    let most = 0;
    const results = await mapInChunks([5, 1, 4, 2, 3], 2, async (ms) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, ms));
      running -= 1;
      return ms * 10;
    });
    expect(results).toEqual([50, 10, 40, 20, 30]);
    expect(most).toBe(2);
  });

  test('stops at the chunk that fails', async () => {
    const asked: number[] = [];
    const mapping = mapInChunks([1, 2, 3, 4], 2, async (one) => {
      asked.push(one);
      if (one === 2) throw new Error('no');
    });
    await expect(mapping).rejects.toThrow('no');
    expect(asked).toEqual([1, 2]);
  });
});
