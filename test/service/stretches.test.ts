/** Reading by stretches of time: whatever order a list comes in, and however it moves, nothing slips between two pages. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ItemDates } from '../../src/item.ts';
import { type PageNumbering, walkPages } from '../../src/service/paginate.ts';
import {
  cutAt,
  cutsOf,
  isIgnored,
  readStretches,
  type Stretch,
  type StretchPage,
} from '../../src/service/stretches.ts';

interface Row {
  id: string;
  dates: Required<ItemDates>;
}

const T0 = 1_795_000_000_000;

const row = (id: string, at: number, changes: Partial<Row['dates']> = {}): Row => ({
  id,
  dates: { createdAt: at, updatedAt: at, txTimestamp: at - 300, ...changes },
});

interface FakeService {
  rows: Row[];
  pageSize: number;
  field?: keyof Row['dates'];
  /** Default: upwards by creation. */
  order?(rows: Row[]): Row[];
  /** Bounds that are not looked at. */
  deaf?: 'after' | 'before' | 'both';
  /** Called before each answer with how many there were. */
  onAsked?(times: number): void;
  /** What a page behind the last is; by default empty. */
  beyond?: 'last';
  /** What is shown of the dates. */
  show?(dates: Row['dates']): ItemDates;
}

const byCreation = (rows: Row[]): Row[] => rows.toSorted((a, b) => a.dates.createdAt - b.dates.createdAt);

interface Shown {
  id: string;
  dates: ItemDates;
}

const identify = ({ id }: Shown): string => id;
const datesOf = ({ dates }: Shown): ItemDates => dates;

const open = (fake: FakeService) => {
  const { field = 'createdAt', order = byCreation, deaf, show = (dates) => dates } = fake;
  let asked = 0;
  const learned: PageNumbering = {};
  const walk = ({ after, before = Number.POSITIVE_INFINITY }: Stretch, size?: number) =>
    walkPages(
      async (pageNumber = 0) => {
        fake.onAsked?.(asked);
        asked += 1;
        const found = fake.rows.filter(
          ({ dates }) =>
            (deaf === 'after' || deaf === 'both' || dates[field] > after) &&
            (deaf === 'before' || deaf === 'both' || dates[field] < before),
        );
        const pageSize = Math.min(size ?? fake.pageSize, fake.pageSize);
        const last = Math.max(0, Math.ceil(found.length / pageSize) - 1);
        const page = fake.beyond === 'last' ? Math.min(pageNumber, last) : pageNumber;
        const items = order(found).slice(page * pageSize, (page + 1) * pageSize);
        return { items: items.map(({ id, dates }) => ({ id, dates: show(dates) })), malformed: [] };
      },
      ({ id }) => id,
      { numbering: fake.beyond === 'last' ? learned : { behindLast: 'empty' } },
    );
  return {
    asked: () => asked,
    read: async (after: number): Promise<StretchPage<Shown>[]> => {
      const pages: StretchPage<Shown>[] = [];
      for await (const page of readStretches({ walk, identify, datesOf }, after)) pages.push(page);
      return pages;
    },
  };
};

const idsOf = (pages: readonly StretchPage<Shown>[]): string[] => [
  ...new Set(pages.flatMap(({ items }) => items.map(({ id }) => id))),
];

const upTo = (count: number, everyMs = 1000): Row[] =>
  Array.from({ length: count }, (_, n) => row(`i-${n}`, T0 + n * everyMs));

describe('a reading', () => {
  test('of what one page holds takes one walk', async () => {
    const service = open({ rows: upTo(5), pageSize: 10 });
    const pages = await service.read(T0 - 1);
    expect(idsOf(pages)).toHaveLength(5);
    expect(pages.map(({ settledBefore }) => settledBefore)).toEqual([undefined]);
    expect(service.asked()).toBe(2);
  });

  test('of many pages settles upwards, and never before it has shown what lies before', async () => {
    const rows = upTo(300);
    const pages = await open({ rows, pageSize: 20 }).read(T0 - 1);
    expect(idsOf(pages)).toHaveLength(300);
    const shown = new Set<string>();
    let settled = 0;
    for (const { items, settledBefore } of pages) {
      for (const { id } of items) shown.add(id);
      if (settledBefore === undefined) continue;
      expect(settledBefore).toBeGreaterThan(settled);
      settled = settledBefore;
      const missing = rows.filter(({ id, dates }) => dates.createdAt < settled && !shown.has(id));
      expect(missing).toEqual([]);
    }
    expect(settled).toBeGreaterThan(T0 + 250_000);
  });

  test('costs a few requests a page, not many', async () => {
    for (const order of [byCreation, (rows: Row[]) => byCreation(rows).toReversed()]) {
      const service = open({ rows: upTo(2000), pageSize: 50, order });
      await service.read(T0 - 1);
      expect(service.asked()).toBeLessThan((2000 / 50) * 5);
    }
  });

  test.each(['createdAt', 'updatedAt', 'txTimestamp'] as const)(
    'misses nothing, by whichever date the service filters (%s), sorted by another or by none',
    async (field) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.record({ at: fc.nat(20_000), updated: fc.nat(5000), block: fc.nat(5000), key: fc.nat(1000) }), {
            maxLength: 120,
          }),
          fc.integer({ min: 2, max: 30 }),
          fc.constantFrom('up', 'down', 'any', 'by update'),
          async (drawn, pageSize, sorted) => {
            const keys = new Map(drawn.map(({ key }, n) => [`i-${n}`, key]));
            const rows = drawn.map(({ at, updated, block }, n) =>
              row(`i-${n}`, T0 + at, { updatedAt: T0 + at + updated, txTimestamp: T0 + at - block }),
            );
            const orders = {
              up: byCreation,
              down: (all: Row[]) => byCreation(all).toReversed(),
              any: (all: Row[]) => all.toSorted((a, b) => (keys.get(a.id) ?? 0) - (keys.get(b.id) ?? 0)),
              'by update': (all: Row[]) => all.toSorted((a, b) => a.dates.updatedAt - b.dates.updatedAt),
            };
            const pages = await open({ rows, pageSize, field, order: orders[sorted] }).read(T0 + 3000);
            const wanted = rows.filter(({ dates }) => dates[field] > T0 + 3000).map(({ id }) => id);
            expect(idsOf(pages)).toEqual(expect.arrayContaining(wanted));
          },
        ),
        { numRuns: 150 },
      );
    },
  );

  test('is not outrun by a list that shrinks while it is walked', async () => {
    const fake: FakeService = { rows: upTo(200), pageSize: 10 };
    // What was shown on the first pages vanishes, which pulls all that follows one place forwards.
    fake.onAsked = (times) => {
      if (times > 0 && times % 3 === 0) fake.rows = fake.rows.filter(({ id }) => id !== `i-${times / 3 - 1}`);
    };
    const pages = await open(fake).read(T0 - 1);
    expect(idsOf(pages)).toEqual(
      expect.arrayContaining(
        upTo(200)
          .slice(60)
          .map(({ id }) => id),
      ),
    );
  });

  test('sees every one of equal date, although they come in another order each time', async () => {
    let turn = 0;
    const shuffle = (rows: Row[]): Row[] => {
      turn += 1;
      const keyOf = ({ id }: Row): number => (Number(id.slice(2)) * 7919 * turn) % 1009;
      return rows.toSorted((a, b) => a.dates.createdAt - b.dates.createdAt || keyOf(a) - keyOf(b));
    };
    const rows = Array.from({ length: 120 }, (_, n) => row(`i-${n}`, T0 + Math.floor(n / 8) * 1000));
    const pages = await open({ rows, pageSize: 10, order: shuffle }).read(T0 - 1);
    expect(idsOf(pages)).toHaveLength(120);
  });

  test('walks again with smaller pages where one moment holds more than a page', async () => {
    const rows = Array.from({ length: 35 }, (_, n) => row(`equal-${n}`, T0));
    const pages = await open({ rows: [...rows, ...upTo(30, 5000)], pageSize: 10 }).read(T0 - 1);
    expect(idsOf(pages)).toHaveLength(65);
  });

  test.each(['after', 'before', 'both'] as const)(
    'comes to its end where the bounds are not looked at: %s',
    async (deaf) => {
      const service = open({ rows: upTo(60), pageSize: 10, deaf });
      expect(idsOf(await service.read(T0 + 20_000))).toEqual(
        expect.arrayContaining(
          upTo(60)
            .slice(21)
            .map(({ id }) => id),
        ),
      );
      expect(service.asked()).toBeLessThan(120);
    },
  );

  test('keeps those of one second together where only seconds are shown', async () => {
    const floor = (at: number): number => Math.floor(at / 1000) * 1000;
    const rows = Array.from({ length: 90 }, (_, n) => row(`i-${n}`, T0 + n * 330));
    const show = ({ createdAt, updatedAt, txTimestamp }: Row['dates']): ItemDates => ({
      createdAt: floor(createdAt),
      updatedAt: floor(updatedAt),
      txTimestamp: floor(txTimestamp),
    });
    const pages = await open({ rows, pageSize: 10, show }).read(T0 - 1);
    expect(idsOf(pages)).toHaveLength(90);
    for (const { settledBefore = 0 } of pages) expect(settledBefore % 1000).toBe(0);
  });

  describe('of more copies of one item than a walk looks at', () => {
    const copies = (count: number, everyMs: number): Row[] =>
      Array.from({ length: count }, (_, n) => row('copy', T0 + n * everyMs));
    const drain = row('drain', T0 + 60_000);
    const problems = (pages: readonly StretchPage<Shown>[]) =>
      pages.flatMap(({ malformed }) => malformed.map(({ problem }) => problem));

    test.each([
      ['of one moment', 0],
      ['of a moment each', 1],
    ])('reads what is dated later, of copies %s', async (_what, everyMs) => {
      const service = open({ rows: [...copies(400, everyMs), drain], pageSize: 10 });
      expect(idsOf(await service.read(T0 - 1))).toEqual(['copy', 'drain']);
      expect(service.asked()).toBeLessThan(200);
    });

    test('reads what is dated earlier, in whatever order it comes', async () => {
      const service = open({ rows: [...copies(400, 0), row('drain', T0 - 5000)], pageSize: 10, order: (rows) => rows });
      expect(idsOf(await service.read(T0 - 9000))).toEqual(['copy', 'drain']);
    });

    test('says that others of the same moment may not be read', async () => {
      const rows = [...copies(400, 0), row('drain', T0)];
      const pages = await open({ rows, pageSize: 10 }).read(T0 - 1);
      expect(problems(pages)).toEqual(['the same items on page after page, so others of that moment may not be read']);
      expect(problems(await open({ rows: copies(30, 0), pageSize: 10 }).read(T0 - 1))).toEqual([]);
    });

    test('and of copies of one page, each item once on it', async () => {
      const ids = Array.from({ length: 10 }, (_, n) => `i-${n}`);
      const page = ids.map((id) => row(id, T0));
      const pages = await open({ rows: [...Array.from({ length: 40 }, () => page).flat(), drain], pageSize: 10 }).read(
        T0 - 1,
      );
      expect(idsOf(pages)).toEqual([...ids, 'drain']);
      expect(problems(pages)).toHaveLength(1);
    });
  });

  test('of a last page that comes for ever is one of a quiet list, and nothing strange', async () => {
    for (const rows of [upTo(1), upTo(10)]) {
      const service = open({ rows, pageSize: 10, beyond: 'last' });
      const pages = await service.read(T0 - 1);
      expect(idsOf(pages)).toHaveLength(rows.length);
      expect(pages.flatMap(({ malformed }) => malformed)).toEqual([]);
      expect(service.asked()).toBeLessThan(15);
    }
  });

  test('without any date that can be read is still complete', async () => {
    const pages = await open({ rows: upTo(45), pageSize: 10, show: () => ({}) }).read(T0 - 1);
    expect(idsOf(pages)).toHaveLength(45);
  });
});

describe('a stretch', () => {
  const dates = (...at: number[]): ItemDates[] => at.map((createdAt) => ({ createdAt }));

  test('is cut into parts that overlap by a moment, as both bounds are excluded', () => {
    expect(cutAt({ after: 10, before: 50 }, [20, 40])).toEqual([
      { after: 10, before: 20 },
      { after: 19, before: 40 },
      { after: 39, before: 50 },
    ]);
    expect(cutAt({ after: 10 }, [20])).toEqual([{ after: 10, before: 20 }, { after: 19 }]);
  });

  test('is cut strictly inside only, and not at all where nothing is inside', () => {
    expect(cutsOf({ after: 10, before: 14 }, dates(11, 11, 11), 2)).toEqual([12]);
    expect(cutsOf({ after: 10, before: 12 }, dates(11, 11, 11), 2)).toEqual([]);
    expect(cutsOf({ after: 10 }, [{}, {}], 1)).toEqual([]);
  });

  test('has bounds that are ignored only where most items lie outside by all of their dates', () => {
    const stretch = { after: 10_000, before: 20_000 };
    expect(isIgnored(stretch, dates(15_000, 16_000, 30_000))).toBe(false);
    expect(isIgnored(stretch, dates(15_000, 30_000, 31_000))).toBe(true);
    expect(isIgnored(stretch, [{ createdAt: 5000, updatedAt: 15_000 }])).toBe(false);
    expect(isIgnored(stretch, dates(9500))).toBe(false);
    expect(isIgnored(stretch, [])).toBe(false);
  });
});
