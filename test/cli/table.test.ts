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

const WIDTH = 120;

test('the column that may shrinks so far that lines fit, and says so', () => {
  const rest = 'r'.repeat(66);
  const [head = '', row = ''] = renderTable([['n'.repeat(70), 1, rest]], columns, { width: WIDTH }).split('\n');
  expect(row).toBe(`${'n'.repeat(44)}…      1  ${rest}`);
  expect(row).toHaveLength(WIDTH);
  expect(head).toHaveLength(58);
});

test('on a narrow terminal every column shrinks, except numbers; a pipe gets everything', () => {
  const row: Row = ['n'.repeat(70), 123_456_789, 'z'.repeat(100)];
  const lines = renderTable([row], columns, { width: 40 }).trimEnd().split('\n');
  expect(lines.every(({ length }) => length <= 40)).toBe(true);
  expect(lines[1]).toMatch(/^n+… {2}123456789 {2}z+…$/);
  expect(renderTable([row], columns).split('\n')[1]).toBe(row.join('  '));
});

test('a remark at the end is wrapped, and stands below where there is no room', () => {
  const withRemark: Column<Row>[] = [...columns.slice(0, 2), { head: 'why', isRemark: true, cell: ([, , why]) => why }];
  const words = 'the relay refuses our certificate, which has expired yesterday';
  const beside = renderTable([['a', 1, words]], withRemark, { width: 50 })
    .trimEnd()
    .split('\n')
    .slice(1);
  expect(beside).toEqual([
    `a         1  the relay refuses our certificate,`,
    `${' '.repeat(13)}which has expired yesterday`,
  ]);
  const under = renderTable([['name of some length', 1, words]], withRemark, { width: 40 });
  expect(under).toContain('\n    the relay refuses our certificate,\n    which has expired yesterday\n');
});

test('what stands below a row is indented, and wrapped between words', () => {
  const words = Array.from({ length: 30 }, (_, n) => `word${n}`).join(' ');
  const table = renderTable([['a', 1, 'b']], columns, { below: () => [words, 'second'] });
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
