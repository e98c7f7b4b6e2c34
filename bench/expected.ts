/** What was written down of an earlier run: by key of its row, the ratio or the value that is watched. */
import { readFile, writeFile } from 'node:fs/promises';
import { type Row, watchedOf } from './row.ts';

const FILE = new URL('./expected.json', import.meta.url);
const DIGITS = 3;

export type Expected = Readonly<Record<string, number>>;

export const readExpected = async (): Promise<Expected> => JSON.parse(await readFile(FILE, 'utf8')) as Expected;

/** Rows that were not measured keep what was written. */
export const writeExpected = async (rows: readonly Row[]): Promise<void> => {
  const watched = rows.flatMap((row): [string, number][] => {
    const value = watchedOf(row);
    return value === undefined ? [] : [[row.key, Number(value.toPrecision(DIGITS))]];
  });
  const all = Object.entries({ ...(await readExpected()), ...Object.fromEntries(watched) });
  const sorted = Object.fromEntries(all.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  await writeFile(FILE, `${JSON.stringify(sorted, undefined, 2)}\n`);
};
