import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import type { Item } from '../../src/item.ts';
import type { ArrayParams } from '../../src/service/queries.ts';
import type { StretchPage } from '../../src/service/stretches.ts';
import { createListStyles, readInStyles } from '../../src/service/styles.ts';

type Answer = readonly string[] | ServiceError;

const refused = (status = 400): ServiceError => new ServiceError('rejected', 'protocolName is required', { status });
const failed = (): ServiceError => new ServiceError('failed', '500', { status: 500 });

const itemOf = (protocol: string): Item => ({
  source: 'notifications',
  protocol,
  itemId: protocol,
  dates: {},
  raw: {},
});

/** A service that shows items of these names, by the style it is asked in. */
const setUp = (configured: ArrayParams) => {
  const changes: ArrayParams[] = [];
  const asked: ArrayParams[] = [];
  const styles = createListStyles(configured, (style) => changes.push(style));
  const read = async (
    names: readonly string[],
    thorough: boolean,
    answers: Partial<Record<ArrayParams, Answer>>,
  ): Promise<string[]> => {
    asked.length = 0;
    const found: string[] = [];
    const pages = readInStyles(styles, names, thorough, async function* (style): AsyncGenerator<StretchPage<Item>> {
      asked.push(style);
      const answer = answers[style] ?? [];
      if (answer instanceof ServiceError) throw answer;
      yield { items: answer.map(itemOf), malformed: [], size: answer.length, short: true };
      yield { items: [], malformed: [], size: 0, short: true, settledBefore: 1 };
    });
    for await (const { items, settledBefore } of pages) {
      found.push(...items.map(({ protocol }) => protocol), ...(settledBefore === undefined ? [] : ['settled']));
    }
    return found;
  };
  return { styles, changes, asked, read };
};

const NAMES = ['a', 'b', 'c'];

describe('until a style is proven', () => {
  test('a thorough reading asks in every one, and shows what any of them shows', async () => {
    const { read, asked } = setUp('repeat');
    expect(await read(NAMES, true, { repeat: ['a'], comma: ['b'] })).toEqual(['a', 'b']);
    expect(asked).toEqual(['repeat', 'brackets', 'comma']);
  });

  test('any other reading asks in the current one only', async () => {
    const { read, asked } = setUp('comma');
    await read(NAMES, false, { comma: ['a'] });
    expect(asked).toEqual(['comma']);
  });

  test('nothing is said to be settled: another style might show more', async () => {
    const { read } = setUp('repeat');
    expect(await read(NAMES, true, {})).toEqual([]);
    expect(await read(NAMES, true, { repeat: ['a', 'c'] })).toEqual(['a', 'c']);
    expect(await read(NAMES, true, {})).toEqual(['settled']);
  });

  test('a single name is asked for repeated, which is also with commas, and in brackets', async () => {
    for (const [configured, expected] of [
      ['repeat', ['repeat', 'brackets']],
      ['comma', ['comma', 'brackets']],
      ['brackets', ['brackets', 'repeat']],
    ] as const) {
      const { read, asked } = setUp(configured);
      await read(['a'], true, {});
      expect(asked).toEqual(expected);
    }
  });
});

describe('a style is proven', () => {
  test('by items of two names in one answer', async () => {
    const { read, asked, changes } = setUp('repeat');
    await read(NAMES, false, { repeat: ['a', 'a'] });
    expect(await read(NAMES, true, { repeat: ['a', 'b'] })).toEqual(['a', 'b']);
    await read(NAMES, true, {});
    expect(asked).toEqual(['repeat']);
    expect(changes).toEqual([]);
  });

  test('for single names by an item of that one', async () => {
    const { read, asked } = setUp('repeat');
    await read(['a'], false, { repeat: ['a'] });
    await read(['b'], true, {});
    expect(asked).toEqual(['repeat']);
    await read(NAMES, true, {});
    expect(asked).toHaveLength(3);
  });

  test('whatever spelling the name has, but not by items of others', async () => {
    const { read, asked } = setUp('repeat');
    await read(NAMES, true, { repeat: ['x', 'y', 'z'] });
    await read(NAMES, true, { repeat: [' A', 'B '] });
    expect(asked).toHaveLength(3);
    await read(NAMES, true, {});
    expect(asked).toEqual(['repeat']);
  });
});

describe('another style is used', () => {
  test('when it shows more, and that is said once', async () => {
    const { read, asked, changes } = setUp('repeat');
    await read(NAMES, true, { repeat: ['a'], comma: ['a', 'b'] });
    await read(NAMES, true, { comma: ['b'] });
    expect(asked).toEqual(['comma']);
    expect(changes).toEqual(['comma']);
  });

  test('at once when the current one is refused and it shows something', async () => {
    const { read, styles } = setUp('repeat');
    expect(await read(NAMES, false, { repeat: refused(), brackets: ['a'] })).toEqual(['a']);
    expect(styles.current()).toBe('brackets');
  });

  test('when two single names are taken by it and by the current one not', async () => {
    const { read, styles } = setUp('repeat');
    await read(['a'], false, { repeat: refused() });
    expect(styles.current()).toBe('repeat');
    await read(['b'], false, { repeat: refused() });
    expect(styles.current()).toBe('brackets');
  });

  test('not when only one name is refused: it may be a name that nobody knows', async () => {
    const { read, styles } = setUp('repeat');
    for (let times = 0; times < 3; times += 1) {
      await read(['gone'], false, { repeat: refused() });
      await read(['a'], false, {});
    }
    expect(styles.current()).toBe('repeat');
  });
});

describe('a refusal', () => {
  test('of several names is passed on where no style shows anything, so that fewer are asked for', async () => {
    const { read } = setUp('repeat');
    await expect(read(NAMES, false, { repeat: refused(), comma: refused() })).rejects.toThrow(
      'protocolName is required',
    );
  });

  test('of a single name only where every style refuses it', async () => {
    const { read } = setUp('repeat');
    expect(await read(['a'], false, { repeat: refused() })).toEqual([]);
    const all = { repeat: refused(404), brackets: refused(404) };
    await expect(read(['a'], false, all)).rejects.toMatchObject({ status: 404 });
  });

  test('of a proven style is passed on as it is', async () => {
    const { read, asked } = setUp('repeat');
    await read(NAMES, false, { repeat: ['a', 'b'] });
    await expect(read(NAMES, true, { repeat: refused() })).rejects.toThrow();
    expect(asked).toEqual(['repeat']);
  });

  test('of another style than the current one is nothing to speak of', async () => {
    const { read } = setUp('repeat');
    expect(await read(NAMES, true, { repeat: ['a'], brackets: refused(), comma: refused() })).toEqual(['a']);
    expect(await read(NAMES, true, { brackets: refused(), comma: refused() })).toEqual([]);
  });

  test('that is a redirect is a failure', async () => {
    const { read } = setUp('repeat');
    await expect(read(NAMES, true, { brackets: refused(302) })).rejects.toMatchObject({ status: 302 });
  });
});

describe('a failure', () => {
  test('in the current style is passed on at once', async () => {
    const { read, asked } = setUp('repeat');
    await expect(read(NAMES, true, { repeat: failed() })).rejects.toThrow('500');
    expect(asked).toEqual(['repeat']);
  });

  test('in another one as well, unless it always fails: some services fail over what they do not know', async () => {
    const { read } = setUp('repeat');
    for (let times = 0; times < 3; times += 1) {
      await expect(read(NAMES, true, { brackets: failed() })).rejects.toThrow('500');
    }
    expect(await read(NAMES, true, { brackets: failed(), comma: ['c'] })).toEqual(['c']);
  });
});
