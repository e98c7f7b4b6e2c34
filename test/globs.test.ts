import { expect, test } from 'vitest';
import { createGlobs } from '../src/globs.ts';

test.each([
  ['*', 'A/B <b>', true],
  ['*', 'two\nlines', true],
  ['*', '', true],
  ['*', '.', true],
  ['*', '..', true],
  ['*', '../x', true],
  ['*', '.hidden', true],
  ['*', './x/../y', true],
  ['a*', 'a/../b', true],
  ['**', '..', true],
  ['?', '.', true],
  ['?', '/', true],
  ['?', '😀', true],
  ['?', '', false],
  ['?', 'ab', false],
  ['A*', 'a/b', false],
  ['*Pool', 'Lending Pool', true],
  ['*Pool', 'Pools', false],
  ['*a*b*', 'xaxbx', true],
  ['*a*b*', 'xbxax', false],
  ['V?', 'V2', true],
  ['{a,b}', 'b', true],
  ['{a,b}', 'c', false],
  ['x{a,b{c,}}y*', 'xby', true],
  ['x{a,b{c,}}y*', 'xbcyz', true],
  ['x{a,b{c,}}y*', 'xacy', false],
  ['{a,*}z', '{xz', true],
  ['{a}*', '{a}b', true],
  ['{a,b*', '{a,bc', true],
  ['[abc]*', 'b1', true],
  ['[a-c]', 'd', false],
  ['[!a-c]', 'd', true],
  ['[^a]', 'a', false],
  ['[]x]', ']', true],
  ['{[,],b}', ',', true],
  ['\\*', '*', true],
  ['\\*', 'a', false],
  ['Pool (v2)*', 'Pool (v2) new', true],
  ['!a', 'b', false],
  ['!a', '!a', true],
  ['[x', '[x', true],
  ['[x*', '[xy', true],
])('%j on %j: %s', (glob, name, fits) => expect(createGlobs([glob])(name)).toBe(fits));

test('one of several is enough, and none fits nothing', () => {
  expect(createGlobs(['a', 'b*'])('bc')).toBe(true);
  expect(createGlobs([])('')).toBe(false);
});

test('case counts unless it is said not to', () => {
  expect(createGlobs(['*@example.com'])('a@Example.COM')).toBe(false);
  expect(createGlobs(['*@example.com'], { ignoreCase: true })('a@Example.COM')).toBe(true);
});

/** A matcher that tried every way to divide these would never end. */
test.each([
  ['*a*a*a*a*a*a*a*a*a*a*b', 'a'.repeat(20_000)],
  [`${'?*'.repeat(50)}b`, 'a'.repeat(20_000)],
  ['{a,a*}{a,a*}{a,a*}{a,a*}{a,a*}{a,a*}b', 'a'.repeat(20_000)],
])('%j is tried in linear time on a long name', (glob, name) => {
  expect(createGlobs([glob])(name)).toBe(false);
  expect(createGlobs([glob])(`${name}b`)).toBe(true);
});
