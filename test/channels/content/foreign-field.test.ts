import { expect, test } from 'vitest';
import { objectOf, text } from '../../../src/channels/content/foreign.ts';

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
