import { expect, test } from 'vitest';
import { createGlobs } from '../src/globs.ts';

test.each([
  ['*', 'A/B <b>', true],
  ['*', 'two\nlines', true],
  ['A*', 'a/b', false],
  ['*Pool', 'Lending Pool', true],
  ['*Pool', 'Pools', false],
  ['{a,b}', 'b', true],
  ['!a', 'b', false],
  ['!a', '!a', true],
  ['[x', '[x', true],
])('%j on %j: %s', (glob, name, fits) => expect(createGlobs([glob])(name)).toBe(fits));

test('one of several is enough, and none fits nothing', () => {
  expect(createGlobs(['a', 'b*'])('bc')).toBe(true);
  expect(createGlobs([])('')).toBe(false);
});

test('case counts unless it is said not to', () => {
  expect(createGlobs(['*@example.com'])('a@Example.COM')).toBe(false);
  expect(createGlobs(['*@example.com'], { ignoreCase: true })('a@Example.COM')).toBe(true);
});
