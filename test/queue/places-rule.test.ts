import { describe, expect, test } from 'vitest';
import { type Claim, createOccupancy, limitsOf, mayStart, nextToGoBack, nextToStart } from '../../src/queue/places.ts';
import type { Responsiveness } from '../../src/queue/responsiveness.ts';

const claim = (key: string, destination = key, changes: Partial<Claim> = {}): Claim => ({
  ...{ key, destination, priority: 1, isDue: false },
  ...changes,
});

const running = (claims: readonly Claim[], failing = 0) => {
  const occupancy = createOccupancy();
  for (const one of claims) occupancy.add(one, 1);
  return { ...occupancy, failing: () => failing };
};

const many = (count: number, key: string): Claim[] => Array.from({ length: count }, (_, n) => claim(key, `${key}${n}`));

describe('limits', () => {
  test('keep a fifth for others, and give a destination a few', () => {
    expect(limitsOf(50)).toEqual({
      places: 50,
      reserve: 10,
      perDestination: { well: 8, slow: 4, failing: 1 },
      failing: 10,
      waiting: 50,
    });
    expect(limitsOf(5)).toMatchObject({ reserve: 1, perDestination: { well: 2, slow: 1, failing: 1 }, failing: 1 });
  });

  test('leave a place for everybody where there are hardly any', () => {
    for (const places of [1, 2, 3]) {
      const { perDestination, failing, reserve } = limitsOf(places);
      expect(Math.min(perDestination.well, perDestination.slow, failing, places - reserve)).toBeGreaterThan(0);
    }
  });
});

describe('a place', () => {
  const limits = limitsOf(50);
  const may = (one: Claim, others: readonly Claim[], responsiveness: Responsiveness = 'well', failing = 0): boolean =>
    mayStart(one, responsiveness, running(others, failing), limits);

  test('goes to one protocol while nobody else needs it, but for the reserve', () => {
    expect(may(claim('a'), many(39, 'a'))).toBe(true);
    expect(may(claim('a'), many(40, 'a'))).toBe(false);
  });

  test('of the reserve goes to a protocol of which nothing runs, unless its destination fails', () => {
    expect(may(claim('b'), many(40, 'a'))).toBe(true);
    expect(may(claim('b'), [...many(40, 'a'), claim('b')])).toBe(false);
    expect(may(claim('b'), many(40, 'a'), 'failing')).toBe(false);
    expect(may(claim('b'), many(50, 'a'))).toBe(false);
  });

  test('is one of few for each destination, and of fewer if it is slow or fails', () => {
    const others = (count: number) => Array.from({ length: count }, (_, n) => claim(`p${n}`, 'one'));
    for (const [responsiveness, most] of [
      ['well', 8],
      ['slow', 4],
      ['failing', 1],
    ] as const) {
      expect(may(claim('a', 'one'), others(most - 1), responsiveness)).toBe(true);
      expect(may(claim('a', 'one'), others(most), responsiveness)).toBe(false);
    }
  });

  test('is one of few for all that fail', () => {
    expect(may(claim('a'), [], 'failing', 9)).toBe(true);
    expect(may(claim('a'), [], 'failing', 10)).toBe(false);
  });
});

/** All of them, as `next` takes one after the other. */
const orderBy = (all: readonly Claim[], next: (left: readonly Claim[]) => Claim | undefined): Claim[] => {
  const left = [...all];
  return all.map(() => {
    const one = next(left);
    if (!one) throw new Error('nobody is next');
    left.splice(left.indexOf(one), 1);
    return one;
  });
};

test('the most urgent comes first, then what is due, then the protocol and the destination of which the least runs', () => {
  const now = running([claim('a', 'x'), claim('a', 'x'), claim('b', 'y')]);
  const inOrder = [
    claim('a', 'x', { isDue: true }),
    claim('c'),
    claim('b', 'z'),
    claim('b', 'y'),
    claim('a', 'x'),
    claim('c', 'c', { priority: 2_000_000 }),
  ];
  const sorted = orderBy(inOrder.toReversed(), (left) => nextToStart(left, now));
  expect(sorted).toEqual(inOrder);
});

test('of what waits, what there is most of goes back first, and what is due last', () => {
  const all = [
    claim('a', 'x', { priority: 9 }),
    claim('a', 'x', { priority: 5 }),
    claim('a', 'y', { priority: 99 }),
    claim('b', 'z', { priority: 999 }),
    claim('a', 'x', { isDue: true }),
  ];
  const waiting = running(all);
  expect(orderBy(all.toReversed(), (left) => nextToGoBack(left, waiting))).toEqual(all);
});
