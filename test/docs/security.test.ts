/** docs/security.md claims nothing without a test that shows it, and the tests that it names are there. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ATTACK_CASES } from '../support/attack-cases.ts';
import { ROOT, readDocument } from './documents.ts';

const text = readDocument('docs/security.md').replaceAll(/\s+/g, ' ');
const NAMED = /`(test\/[\w./-]+)`(?: “([^”]+)”)?/g;

test('every test that it names is there, by its title where it names one', () => {
  const named = [...text.matchAll(NAMED)];
  expect(named.length).toBeGreaterThan(60);
  const lost = named.filter(([, file = '', title]) => {
    if (!existsSync(join(ROOT, file))) return true;
    return title !== undefined && !readFileSync(join(ROOT, file), 'utf8').includes(title);
  });
  expect(lost.map(([found]) => found)).toEqual([]);
});

test('what somebody cannot do is shown by a test', () => {
  const sections = readDocument('docs/security.md')
    .split(/^## /m)
    .filter((section) => section.startsWith('Who '));
  expect(sections).toHaveLength(6);
  const claims = sections.flatMap((section) => section.split(/^- /m).slice(1));
  const bare = claims.filter((claim) => claim.startsWith('cannot') && !claim.includes('`test/'));
  expect(bare).toEqual([]);
});

test('every class of attack has its cases', () => {
  const rows = readDocument('docs/security.md')
    .split('\n')
    .filter((line) => /^\| \*\*/.test(line));
  expect(rows.length).toBeGreaterThan(17);
  expect(rows.filter((row) => !/\d/.test(row.split('|')[2] ?? '') || !row.includes('`test/'))).toEqual([]);
});

test('no class claims more cases than its tests have', () => {
  const rows = readDocument('docs/security.md').matchAll(/^\| \*\*(.+?)\*\* \| ([^|]+) \|.*$/gm);
  const claims = [...rows].map(([row, name, claimed = '']) => {
    const places = [...row.matchAll(/`(test\/[^`]+)`/g)].map(([, place = '']) => place);
    const counted = Object.entries(ATTACK_CASES).filter(([file]) =>
      places.some((place) => file === place || file.startsWith(`${place}/`)),
    );
    const found = counted.reduce((sum, [, cases]) => sum + cases, 0);
    return { name, claimed: Number(claimed.replaceAll(/\D/g, '')), found };
  });
  expect(claims.length).toBeGreaterThan(17);
  expect(claims.filter(({ claimed, found }) => !(claimed > 0 && found >= claimed))).toEqual([]);
});
