/** The rows as people read them. */
import type { Expected } from './expected.ts';
import { isMet, isWorse, type Row, watchedOf } from './row.ts';
import { print, printTable } from './run.ts';

/** Three digits are as many as a repetition gives again. */
const short = (value: number): string => {
  if (!Number.isFinite(value)) return '-';
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
};

const ratioOf = ({ measured, yardstick }: Row): string =>
  yardstick === undefined ? '' : `${short(yardstick.ratio ?? measured / yardstick.measured)} x`;

const wantedOf = ({ wanted, unit }: Row): string => {
  const bound = 'most' in wanted ? `<= ${wanted.most}` : `>= ${wanted.least}`;
  return `${bound} ${wanted.of === 'ratio' ? 'x' : unit.replace(/,.*/, '')}`.trimEnd();
};

const metText = (row: Row): string => {
  const met = isMet(row);
  return met === undefined ? '-' : met ? 'met' : 'missed';
};

const cellsOf = (row: Row, expected: Expected): string[] => {
  const { key, work, measured, isLeast, unit, yardstick } = row;
  const before = expected[key];
  return [
    work,
    `${isLeast ? '> ' : ''}${short(measured)} ${unit}`.trimEnd(),
    yardstick === undefined ? '' : `${yardstick.name}: ${short(yardstick.measured)}`,
    ratioOf(row),
    wantedOf(row),
    metText(row),
    before === undefined || watchedOf(row) === undefined
      ? ''
      : `${short(before)}${isWorse(row, before) ? ' WORSE' : ''}`,
  ];
};

const HEAD = ['', 'measured', 'yardstick', 'ratio', 'wanted', '', 'written down'];

/** Gives whether no row is worse than what was written down. */
export const printRows = (rows: readonly Row[], expected: Expected): boolean => {
  printTable([HEAD, ...rows.map((row) => cellsOf(row, expected))]);
  print('');
  for (const { work, note } of rows) if (note !== undefined) print(`  ${work}: ${note}`);
  const worse = rows.filter((row) => isWorse(row, expected[row.key]));
  for (const { key, work } of worse) print(`WORSE than written down by more than a quarter: ${work} (${key})`);
  return worse.length === 0;
};
