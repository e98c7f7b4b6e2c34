import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Line } from '../../src/deliver/rate-limit-rule.ts';
import { aheadOf, join, MOST_LINES, type Place, served, servedAlone } from '../../src/deliver/slot-turns.ts';
import { nextOf } from '../../src/queue/fairness.ts';
import { range } from '../support/deliveries.ts';

/** Each joins its line at the end, in this order. */
const joinAll = (names: readonly string[], begin: readonly Line[] = []) => {
  const places: Place[] = [];
  const lines = names.reduce((before, name) => {
    const joined = join(before, name);
    places.push(joined.place);
    return joined.lines;
  }, begin);
  return { lines, places };
};

const countAhead = (lines: readonly Line[], place: Place): number => {
  const { ofOwnLine, ofOthers } = aheadOf(lines, place);
  return ofOwnLine + ofOthers;
};

/** Who is served, one after the other. */
const orderOf = (begin: readonly Line[], waiting: readonly Place[]): string[] => {
  let lines = begin;
  return waiting.map(() => {
    const next = waiting.find((place) => {
      const line = lines.find(({ name }) => name === place.line);
      return line !== undefined && place.number > line.served && countAhead(lines, place) === 0;
    });
    if (!next) throw new Error('nobody is next');
    lines = served(lines, next);
    return `${next.line}${next.number}`;
  });
};

describe('lines', () => {
  test('take turns, and each keeps its order', () => {
    const { lines, places } = joinAll(['a', 'a', 'a', 'b', 'c', 'b']);
    expect(orderOf(lines, places)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  test('that come later begin where the others are', () => {
    const { lines, places } = joinAll(range(1, 60).map(() => 'a'));
    const after = places.slice(0, 10).reduce<readonly Line[]>((before, place) => served(before, place), lines);
    const joined = join(after, 'b');
    expect(joined.place).toEqual({ line: 'b', number: 11 });
    expect(countAhead(joined.lines, joined.place)).toBe(1);
    expect(countAhead(joined.lines, { line: 'a', number: 60 })).toBe(50);
  });

  test('are forgotten when nobody waits in them, so that nothing is kept of what is quiet', () => {
    const { lines, places } = joinAll(['a', 'b']);
    expect(places.reduce<readonly Line[]>((before, place) => served(before, place), lines)).toEqual([]);
  });

  test('keep the place that is held, and give another one where nobody knows it any more', () => {
    const { lines, places } = joinAll(['a', 'b']);
    expect(join(lines, 'a', { held: places[0] })).toEqual({ lines, place: places[0] });
    expect(join([], 'a', { held: { line: 'a', number: 7 } }).place).toEqual({ line: 'a', number: 1 });
  });

  test('do not wait for one that did not come', () => {
    const { lines, places } = joinAll(['a', 'a', 'b', 'b']);
    const [, , first = { line: '', number: 0 }] = places;
    // The first of `a` should have been before it. It may still come, and then it is next.
    const after = servedAlone(lines, first);
    expect(orderOf(after, places.slice(1, 2))).toEqual(['a2']);
    expect(countAhead(after, { line: 'a', number: 1 })).toBe(0);
  });

  test('count those that are served, where one passes another of its line', () => {
    const { lines, places } = joinAll(['a', 'a', 'a', 'b']);
    const [first = { line: '', number: 0 }, second = first, third = first, other = first] = places;
    const after = served(lines, second);
    expect(aheadOf(after, first)).toEqual({ ofOwnLine: 0, ofOthers: 0 });
    expect(aheadOf(after, other)).toEqual({ ofOwnLine: 0, ofOthers: 0 });
    expect(aheadOf(after, third)).toEqual({ ofOwnLine: 1, ofOthers: 1 });
    expect([first, other, third].reduce<readonly Line[]>((before, place) => served(before, place), after)).toEqual([]);
  });

  test('are bounded: the protocols that are too many share one', () => {
    const { lines, places } = joinAll(range(1, MOST_LINES + 50).map((n) => `p${n}`));
    expect(lines).toHaveLength(MOST_LINES + 1);
    expect(places.at(-1)).toEqual({ line: 'others', number: 50 });
    expect(join(lines, `p${MOST_LINES + 50}`, { held: places.at(-1) }).place).toEqual(places.at(-1));
  });
});

test('everybody has one place in the order, and it is a turn of each line', () => {
  const names = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(names, (all) => {
      const { lines, places } = joinAll(all);
      const ahead = places.map((place) => countAhead(lines, place)).toSorted((a, b) => a - b);
      expect(ahead).toEqual(all.map((_, n) => n));
      expect(orderOf(lines, places)).toHaveLength(all.length);
    }),
  );
});

test('who is how far ahead is what comes out where the least served line is next again and again', () => {
  const names = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(names, (all) => {
      const { lines, places } = joinAll(all);
      let left = lines;
      for (const [count] of all.entries()) {
        const next = nextOf(left, ({ served: times }) => [times]);
        if (!next) throw new Error('nobody is next');
        const place = { line: next.name, number: next.served + 1 };
        expect(places).toContainEqual(place);
        expect(countAhead(lines, place)).toBe(count);
        left = served(left, place);
      }
      expect(left).toEqual([]);
    }),
  );
});
