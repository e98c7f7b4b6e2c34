import { describe, expect, test } from 'vitest';
import { elapsed, objectOf, text, timeText } from '../../../src/channels/content/field.ts';

test.each([
  [undefined, 'unknown'],
  [null, 'unknown'],
  ['', 'unknown'],
  [' \u202e ', 'unknown'],
  ['a\nb', 'a b'],
  [0, '0'],
  [false, 'false'],
  [{ a: [1] }, '{"a":[1]}'],
])('text(%j) is %j', (value, shown) => expect(text(value)).toBe(shown));

test.each([[undefined], [null], ['x'], [1], [['x']]])('objectOf(%j) is empty', (value) =>
  expect(objectOf(value)).toEqual({}),
);

test.each([
  ['2026-11-20T10:07:31.002Z', '2026-11-20 10:07:31 UTC'],
  ['2026-11-20T11:07:31+01:00', '2026-11-20 10:07:31 UTC'],
  ['yesterday', 'yesterday'],
  [1_763_633_251, '1763633251'],
  [undefined, 'unknown'],
])('timeText(%j) is %j', (value, shown) => expect(timeText(value)).toBe(shown));

describe('elapsed', () => {
  const FROM = '2026-11-20T10:00:00.000Z';

  test.each([
    ['2026-11-20T10:00:00.999Z', '0 s'],
    ['2026-11-20T10:00:59Z', '59 s'],
    ['2026-11-20T10:01:59Z', '1 min'],
    ['2026-11-20T12:30:00Z', '2 h'],
    ['2026-11-23T09:00:00Z', '2 d'],
  ])('to %s is %s', (to, shown) => expect(elapsed(FROM, to)).toBe(shown));

  test.each([['2026-11-20T09:59:59Z'], ['later'], [undefined], [1]])('to %j is not known', (to) =>
    expect(elapsed(FROM, to)).toBeUndefined(),
  );
});
