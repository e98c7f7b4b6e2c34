import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { type PageNumbering, type WalkedPage, type WalkOptions, walkPages } from '../../src/service/paginate.ts';
import { decodePage, type Page } from '../../src/service/wire.ts';

interface Item {
  id: string;
}

type Echo = 'right' | 'text' | 'missing' | 'zero' | 'one' | 'next' | 'one-at-first';

interface FakeList {
  ids: string[];
  firstPage: 0 | 1;
  /** What the service gives, whatever is asked for. */
  pageSize: number;
  echo: Echo;
  total: 'items' | 'pages' | 'page' | 'missing';
  /** What a page behind the last is. */
  beyond: 'empty' | 'null' | 'last';
  /** Every page number gives the first page. */
  deaf?: boolean;
}

const ECHOES: readonly Echo[] = ['right', 'text', 'missing', 'zero', 'one', 'next', 'one-at-first'];

const echoOf = (echo: Echo, shown: number, asked: number | undefined): object => {
  switch (echo) {
    case 'right':
      return { pageNumber: shown };
    case 'text':
      return { pageNumber: String(shown) };
    case 'missing':
      return {};
    case 'zero':
      return { pageNumber: 0 };
    case 'one':
      return { pageNumber: 1 };
    case 'next':
      return { pageNumber: shown + 1 };
    case 'one-at-first':
      return { pageNumber: asked ?? 1 };
  }
};

const totalOf = ({ total, ids, pageSize }: FakeList, shown: number): object => {
  if (total === 'missing') return {};
  const counts = { items: ids.length, pages: Math.ceil(ids.length / pageSize), page: shown };
  return { total: counts[total] };
};

/** One answer as JSON text, as a service of that sort would write it. */
const answer = (list: FakeList, asked: number | undefined): string => {
  const { ids, firstPage, pageSize, beyond, deaf } = list;
  const shown = deaf ? firstPage : (asked ?? firstPage);
  const last = Math.max(0, Math.ceil(ids.length / pageSize) - 1);
  const wanted = Math.max(0, shown - firstPage);
  const index = beyond === 'last' ? Math.min(wanted, last) : wanted;
  const slice = ids.slice(index * pageSize, (index + 1) * pageSize).map((id) => ({ id }));
  const page = slice.length === 0 && beyond === 'null' ? null : slice;
  return JSON.stringify({ page, ...echoOf(list.echo, shown, asked), ...totalOf(list, slice.length) });
};

const decode = decodePage<Item>((raw) => {
  const id = (raw as { id?: unknown } | null)?.id;
  return typeof id === 'string' ? { ok: true, item: { id } } : { ok: false, problem: 'no id', raw };
});

const read = (text: string): Page<Item> => {
  const reading = decode(JSON.parse(text), undefined);
  if (!reading.ok) throw new ServiceError('unreadable', reading.problem);
  return reading.value;
};

const walk = async (fetchText: (asked: number | undefined) => string, options?: WalkOptions) => {
  const asked: (number | undefined)[] = [];
  const pages: WalkedPage<Item>[] = [];
  const fetchPage = async (pageNumber: number | undefined) => {
    asked.push(pageNumber);
    return read(fetchText(pageNumber));
  };
  for await (const page of walkPages(fetchPage, ({ id }) => id, options)) pages.push(page);
  return { asked, pages, ids: pages.flatMap(({ items }) => items.map(({ id }) => id)) };
};

const walkList = (list: FakeList, options?: WalkOptions) => walk((asked) => answer(list, asked), options);

const idsUpTo = (count: number): string[] => Array.from({ length: count }, (_, n) => `i-${n}`);

const plain = (changes: Partial<FakeList> = {}): FakeList => ({
  ids: idsUpTo(5),
  firstPage: 1,
  pageSize: 2,
  echo: 'right',
  total: 'items',
  beyond: 'empty',
  ...changes,
});

const lists: fc.Arbitrary<FakeList> = fc.record({
  ids: fc.integer({ min: 0, max: 300 }).map(idsUpTo),
  firstPage: fc.constantFrom<0 | 1>(0, 1),
  pageSize: fc.integer({ min: 1, max: 120 }),
  echo: fc.constantFrom(...ECHOES),
  total: fc.constantFrom('items', 'pages', 'page', 'missing'),
  beyond: fc.constantFrom('empty', 'null', 'last'),
});

describe('whatever the service does where its description is silent', () => {
  test('a walk gives every item once and in order, and ends soon after the last', async () => {
    await fc.assert(
      fc.asyncProperty(lists, async (list) => {
        const { ids, asked } = await walkList(list);
        expect(ids).toEqual(list.ids);
        expect(asked[0]).toBeUndefined();
        expect(asked.length).toBeLessThanOrEqual(Math.max(1, Math.ceil(list.ids.length / list.pageSize)) + 3);
      }),
      { numRuns: 400 },
    );
  });

  test('and so does every later walk that shares what the first has learned', async () => {
    await fc.assert(
      fc.asyncProperty(lists, fc.array(fc.nat(300), { maxLength: 4 }), async (list, later) => {
        const numbering: PageNumbering = {};
        for (const ids of [list.ids, ...later.map(idsUpTo)]) {
          expect((await walkList({ ...list, ids }, { numbering })).ids).toEqual(ids);
        }
      }),
      { numRuns: 200 },
    );
  });

  test('items that come twice, on one page or on two, are yielded once', async () => {
    const doubled = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 120 }).map((ns) => ns.map((n) => `i-${n}`));
    await fc.assert(
      fc.asyncProperty(lists, doubled, async (list, ids) => {
        // Two whole pages without news end a walk; more repetition than that is not what is meant here.
        fc.pre(list.pageSize > 41);
        expect((await walkList({ ...list, ids })).ids).toEqual([...new Set(ids)]);
      }),
    );
  });

  test('a service that does not listen to the page number gives its one page and the walk ends', async () => {
    await fc.assert(
      fc.asyncProperty(lists, async (list) => {
        const { ids, asked } = await walkList({ ...list, deaf: true });
        expect(ids).toEqual(list.ids.slice(0, list.pageSize));
        expect(asked.length).toBeLessThanOrEqual(4);
      }),
    );
  });

  test('items that slide while they are walked are not lost, as long as a page is not outrun twice', async () => {
    await fc.assert(
      fc.asyncProperty(lists, fc.array(fc.nat(1), { maxLength: 20 }), async (list, arrivals) => {
        fc.pre(list.pageSize >= 2);
        const ids = [...list.ids];
        let request = 0;
        const found = await walk((asked) => {
          for (let n = 0; n < (arrivals[request - 1] ?? 0); n += 1) ids.unshift(`new-${request}`);
          request += 1;
          return answer({ ...list, ids }, asked);
        });
        expect(found.ids).toEqual(expect.arrayContaining(list.ids));
      }),
    );
  });
});

test.each([0, 1] as const)(
  'one page without news is not the end: it may have slid (first page %i)',
  async (firstPage) => {
    const ids = idsUpTo(4);
    const found = await walk((asked) => {
      if (asked === 2) ids.unshift('new');
      return answer(plain({ ids, firstPage, pageSize: 1 }), asked);
    });
    expect(found.ids).toEqual(idsUpTo(4));
  },
);

describe('what is asked for', () => {
  test('a first page 0 is followed by page 1', async () => {
    expect((await walkList(plain({ firstPage: 0 }))).asked).toEqual([undefined, 1, 2, 3]);
  });

  test('a first page 1 is asked for once more, and then never again', async () => {
    const numbering: PageNumbering = {};
    expect((await walkList(plain(), { numbering })).asked).toEqual([undefined, 1, 2, 3, 4]);
    expect((await walkList(plain(), { numbering })).asked).toEqual([undefined, 2, 3, 4]);
    expect((await walkList(plain({ echo: 'text' }), { numbering })).asked).toEqual([undefined, 2, 3, 4]);
    expect((await walkList(plain({ echo: 'missing' }), { numbering })).asked).toEqual([undefined, 1, 2, 3, 4]);
  });

  test('a first page 1 is not learned from a service that repeats its last page', async () => {
    const numbering: PageNumbering = {};
    const single = plain({ firstPage: 0, echo: 'one-at-first', beyond: 'last', ids: ['i-0'] });
    await walkList(single, { numbering });
    expect(numbering.firstIsOne).toBeUndefined();
    expect((await walkList({ ...single, ids: idsUpTo(6) }, { numbering })).ids).toEqual(idsUpTo(6));
  });

  test.each(['missing', 'zero', 'next'] as const)('nothing is learned from the echo %s', async (echo) => {
    const numbering: PageNumbering = {};
    await walkList(plain({ echo }), { numbering });
    expect(numbering.firstIsOne).toBeUndefined();
  });

  test('a first page that is empty is the only one, and is yielded with what it says of itself', async () => {
    for (const beyond of ['empty', 'null', 'last'] as const) {
      const { asked, pages } = await walkList(plain({ ids: [], beyond }));
      expect(asked).toEqual([undefined]);
      const says = { pageNumber: 1, total: 0 };
      const none = { items: [], malformed: [], repeated: [], size: 0, short: false, isRepeat: false };
      expect(pages).toEqual([{ ...none, ...says }]);
    }
  });

  test('nothing, once the reader has enough', async () => {
    const asked: (number | undefined)[] = [];
    const fetchPage = async (pageNumber: number | undefined) => {
      asked.push(pageNumber);
      return read(answer(plain({ firstPage: 0 }), pageNumber));
    };
    for await (const page of walkPages(fetchPage, ({ id }) => id)) {
      if (page.items.some(({ id }) => id === 'i-3')) break;
    }
    expect(asked).toEqual([undefined, 1]);
  });

  test('each page only when the one before has been taken', async () => {
    const steps: string[] = [];
    const fetchPage = async (pageNumber: number | undefined) => {
      steps.push(`ask ${pageNumber}`);
      return read(answer(plain({ firstPage: 0, ids: idsUpTo(3) }), pageNumber));
    };
    for await (const { items } of walkPages(fetchPage, ({ id }) => id)) steps.push(`take ${items.length}`);
    expect(steps).toEqual(['ask undefined', 'take 2', 'ask 1', 'take 1', 'ask 2']);
  });
});

describe('the end of a list', () => {
  /** A list whose pages behind the last are refused; every request that is refused is noted. */
  const refusing = (list: FakeList, status = 404) => {
    const refused: (number | undefined)[] = [];
    const fetchText = (asked: number | undefined): string => {
      const text = answer(list, asked);
      if (!text.startsWith('{"page":[]') || asked === undefined) return text;
      refused.push(asked);
      throw new ServiceError(status === 404 ? 'missing' : 'rejected', 'no such page', { status });
    };
    return { refused, fetchText };
  };

  test.each([400, 404, 422])(
    'a page that is refused twice with %i is behind it; later once is enough',
    async (status) => {
      const numbering: PageNumbering = {};
      for (const times of [2, 3]) {
        const { refused, fetchText } = refusing(plain({ firstPage: 0 }), status);
        expect((await walk(fetchText, { numbering })).ids).toEqual(idsUpTo(5));
        expect(refused).toEqual(times === 2 ? [3, 3] : [3]);
      }
    },
  );

  test('a refusal that is gone at the second question ends nothing', async () => {
    let failures = 1;
    const { ids } = await walk((asked) => {
      if (asked === 1 && failures > 0) {
        failures -= 1;
        throw new ServiceError('missing', 'for a moment', { status: 404 });
      }
      return answer(plain({ firstPage: 0 }), asked);
    });
    expect(ids).toEqual(idsUpTo(5));
  });

  test('a first page that is refused is no list', async () => {
    const failing = walk(() => {
      throw new ServiceError('missing', 'no such protocol', { status: 404 });
    });
    await expect(failing).rejects.toThrow('no such protocol');
  });

  test('where an empty page was the end, a refusal is a failure; then it is the end', async () => {
    const numbering: PageNumbering = {};
    await walkList(plain({ firstPage: 0 }), { numbering });
    const { refused, fetchText } = refusing(plain({ firstPage: 0 }));
    await expect(walk(fetchText, { numbering })).rejects.toThrow('no such page');
    expect((await walk(fetchText, { numbering })).ids).toEqual(idsUpTo(5));
    expect(refused).toEqual([3, 3, 3, 3]);
  });

  test('a redirect, or a rate, is never the end', async () => {
    for (const error of [
      new ServiceError('rejected', 'a redirect', { status: 302 }),
      new ServiceError('limited', 'too many', { status: 429 }),
    ]) {
      const failing = walk((asked) => {
        if (asked !== undefined) throw error;
        return answer(plain(), asked);
      });
      await expect(failing).rejects.toBe(error);
    }
  });

  test('a page with nothing new behind one that was not full is the end', async () => {
    for (const behindLast of [undefined, 'empty'] as const) {
      const numbering: PageNumbering = { largest: 2, ...(behindLast === undefined ? {} : { behindLast }) };
      const { asked, ids } = await walkList(plain({ firstPage: 0, beyond: 'last' }), { numbering });
      expect([asked, ids]).toEqual([[undefined, 1, 2, 3], idsUpTo(5)]);
      const one = await walkList(plain({ ids: idsUpTo(1), beyond: 'last' }), { numbering });
      expect(one.asked).toEqual([undefined, 1, 2]);
    }
  });

  test('where an empty page was the end and none comes, that is forgotten', async () => {
    const numbering: PageNumbering = { behindLast: 'empty' };
    const full = plain({ firstPage: 0, ids: idsUpTo(4), beyond: 'last' });
    await walkList(full, { numbering });
    expect((await walkList(full, { numbering })).asked).toEqual([undefined, 1, 2, 3]);
  });

  test('where an empty page is the end, pages without news have only slid', async () => {
    const numbering: PageNumbering = {};
    await walkList(plain({ firstPage: 0, pageSize: 1 }), { numbering });
    const ids = idsUpTo(4);
    const { ids: found } = await walk(
      (asked) => {
        if (asked !== undefined && asked < 6) ids.unshift(`new-${asked}`);
        return answer(plain({ ids, firstPage: 0, pageSize: 1 }), asked);
      },
      { numbering },
    );
    expect(found).toEqual(idsUpTo(4));
  });

  test('a page with fewer items than others have had is said to be short', async () => {
    const numbering: PageNumbering = {};
    const shorts = async (count: number) =>
      (await walkList(plain({ ids: idsUpTo(count) }), { numbering })).pages.map(({ short }) => short);
    expect(await shorts(1)).toEqual([false]);
    expect(await shorts(5)).toEqual([false, false, true]);
    expect(await shorts(1)).toEqual([true]);
    expect(await shorts(2)).toEqual([false]);
  });
});

test('a page with nothing new that is no page of before is shown without items: it may hold more of equal ones', async () => {
  const { pages } = await walkList(plain({ firstPage: 0, pageSize: 4, ids: ['a', 'b', 'c', 'd', 'd'] }));
  expect(pages.map(({ size, items }) => [size, items.length])).toEqual([
    [4, 4],
    [1, 0],
  ]);
  const again = await walkList(plain({ firstPage: 1, pageSize: 4, ids: idsUpTo(4), beyond: 'last' }));
  // Once it is the same as one before only the second in a row is shown, as what it is.
  expect(again.pages.map(({ isRepeat }) => isRepeat)).toEqual([false, true]);
});

test('the same full page again and again is shown, with the items that came before: there may be more behind it', async () => {
  const ids = [...Array.from({ length: 100 }, () => 'copy'), 'behind'];
  const numbering: PageNumbering = { behindLast: 'empty' };
  const { pages } = await walkList(plain({ firstPage: 0, pageSize: 2, ids }), { numbering });
  expect(pages.filter(({ isRepeat }) => isRepeat)).toHaveLength(19);
  expect(pages.at(-1)).toMatchObject({ size: 2, short: false, items: [], repeated: [{ id: 'copy' }, { id: 'copy' }] });
  // Behind a page that was not full it is that page again.
  const short = await walkList(plain({ firstPage: 0, ids: idsUpTo(5), beyond: 'last' }), { numbering });
  expect(short.pages.every(({ isRepeat }) => !isRepeat)).toBe(true);
});

test('a page of before in another order is the same page', async () => {
  let turn = 0;
  const { pages } = await walk((asked) => {
    turn += 1;
    const ids = turn % 2 === 0 ? idsUpTo(3).toReversed() : idsUpTo(3);
    return answer(plain({ ids, pageSize: 4, echo: 'missing', beyond: 'last' }), asked);
  });
  expect(pages.map(({ isRepeat, items }) => [isRepeat, items.length])).toEqual([
    [false, 3],
    [true, 0],
  ]);
});

describe('malformed items', () => {
  const pages: Record<string, string> = {
    undefined: '{"page":[{"id":"a"},{"bad":1}]}',
    1: '{"page":[{"bad":2},{"bad":1}]}',
    2: '{"page":[{"bad":2},{"id":"b"}]}',
  };

  test('are yielded once, and a page of nothing else does not end the walk', async () => {
    const { ids, pages: yielded } = await walk((asked) => pages[String(asked)] ?? '{"page":[]}');
    expect(ids).toEqual(['a', 'b']);
    expect(yielded.flatMap(({ malformed }) => malformed.map(({ raw }) => raw))).toEqual([{ bad: 1 }, { bad: 2 }]);
  });
});

describe('failures', () => {
  test('go to the reader, after the pages before them', async () => {
    const taken: string[] = [];
    const fetchPage = async (pageNumber: number | undefined) => {
      if (pageNumber === 2) throw new ServiceError('failed', 'page 2');
      return read(answer(plain({ firstPage: 0 }), pageNumber));
    };
    const reading = (async () => {
      for await (const { items } of walkPages(fetchPage, ({ id }) => id)) taken.push(...items.map(({ id }) => id));
    })();
    await expect(reading).rejects.toThrow('page 2');
    expect(taken).toEqual(['i-0', 'i-1', 'i-2', 'i-3']);
  });

  test('a list without an end is given up with a clear error', async () => {
    let n = 0;
    const endless = walk(
      () => {
        n += 1;
        return JSON.stringify({ page: [{ id: `i-${n}` }] });
      },
      { maxPages: 50 },
    );
    await expect(endless).rejects.toThrow('the list does not end after 50 pages');
    await expect(endless).rejects.toMatchObject({ reason: 'unreadable' });
    expect(n).toBe(50);
  });

  test('a list that ends just at the bound is read', async () => {
    const list = plain({ firstPage: 0, ids: idsUpTo(4) });
    expect((await walkList(list, { maxPages: 3 })).ids).toHaveLength(4);
  });
});
