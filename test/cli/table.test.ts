/** Tables for people, compared as they stand on the terminal. */
import { expect, test } from 'vitest';
import { type Column, indented, renderTable } from '../../src/cli/table.ts';

type Row = [name: string, count: number | undefined, rest?: string];

const columns: Column<Row>[] = [
  { head: 'name', shrinks: true, cell: ([name]) => name },
  { head: 'count', isNumber: true, cell: ([, count]) => count },
  { head: 'rest', cell: ([, , rest]) => rest },
];

test('columns stand under their heads, numbers at the right, also beside scripts of double width', () => {
  const rows: Row[] = [
    ['漢字', 7, 'x'],
    ['🏦 bank', 1234567, ''],
    ['e\u0301te\u0301', undefined, 'y'],
  ];
  expect(renderTable(rows, columns)).toBe(
    [
      'NAME       COUNT  REST',
      '漢字           7  x',
      '🏦 bank  1234567  -',
      'e\u0301te\u0301            -  y',
      '',
    ].join('\n'),
  );
});

test('the column that may shrinks so far that lines fit, and says so', () => {
  const rest = 'r'.repeat(66);
  const [head = '', row = ''] = renderTable([['n'.repeat(70), 1, rest]], columns).split('\n');
  expect(row).toBe(`${'n'.repeat(44)}…      1  ${rest}`);
  expect(row).toHaveLength(120);
  expect(head).toHaveLength(58);
});

test('no text makes a cell longer than a transaction hash needs', () => {
  const [, row = ''] = renderTable([['a', 1, 'z'.repeat(10_000)]], columns).split('\n');
  expect(row).toBe(`a     ${'    1'}  ${'z'.repeat(71)}…`);
});

test('what stands below a row is indented, and wrapped between words', () => {
  const words = Array.from({ length: 30 }, (_, n) => `word${n}`).join(' ');
  const table = renderTable([['a', 1, 'b']], columns, () => [words, 'second']);
  const [, , ...below] = table.trimEnd().split('\n');
  expect(below.every((line) => /^ {4}\S/.test(line) && line.length <= 120)).toBe(true);
  expect(below.map((line) => line.trim()).join(' ')).toBe(`${words} second`);
  expect(below).toHaveLength(3);
});

test('a word longer than a line is broken, a text longer than a page is cut', () => {
  expect(indented(`see ${'q'.repeat(200)}`)).toEqual(['    see', `    ${'q'.repeat(116)}`, `    ${'q'.repeat(84)}`]);
  const lines = indented('long '.repeat(10_000));
  expect(lines.join('').length).toBeLessThan(5000);
  expect(lines.at(-1)).toMatch(/…$/);
});
