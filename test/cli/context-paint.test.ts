/** Colours on a terminal. */
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { isColoured, painted } from '../../src/cli/context.ts';
import { renderTable } from '../../src/cli/table.ts';

test('a terminal gets them, unless the environment says otherwise', () => {
  expect(isColoured({}, true)).toBe(true);
  expect(isColoured({}, false)).toBe(false);
  expect(isColoured({ NO_COLOR: '1' }, true)).toBe(false);
  expect(isColoured({ NO_COLOR: '' }, true)).toBe(true);
  expect(isColoured({ TERM: 'dumb' }, true)).toBe(false);
  expect(isColoured({ FORCE_COLOR: '1' }, false)).toBe(true);
  expect(isColoured({ FORCE_COLOR: '0' }, true)).toBe(false);
});

test('heads and states are coloured, and the text stays the same', () => {
  const table = renderTable(
    [{ a: 'WE ARE LOUD', b: 1 }],
    [
      { head: 'name', cell: ({ a }) => a },
      { head: 'count (UTC)', isNumber: true, cell: ({ b }) => b },
    ],
  );
  const text = `Needs a look\n  x\n\nok    redis: answers\nFAIL  channel slack: no\n${table}`;
  const done = painted(text);
  expect(stripVTControlCharacters(done)).toBe(text);
  const coloured = done.split('\n').filter((line) => line.includes('\u001b['));
  expect(coloured.map(stripVTControlCharacters)).toEqual([
    'Needs a look',
    'ok    redis: answers',
    'FAIL  channel slack: no',
    expect.stringMatching(/^NAME +COUNT/),
  ]);
});
