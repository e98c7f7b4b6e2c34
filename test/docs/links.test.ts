/** What the documents lead to is there: files and headings, metrics, rules, decisions. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { KINDS_TEXT } from '../../src/alert.ts';
import { DELIVERY_REASONS } from '../../src/errors.ts';
import { createMetrics } from '../../src/ops/metrics.ts';
import { anchorsIn, codeIn, GUIDES, linksIn, ROOT, readDocument } from './documents.ts';

const DECISIONS = readdirSync(join(ROOT, 'docs/decisions')).map((file) => `docs/decisions/${file}`);
const EVERY = [...GUIDES, ...DECISIONS, 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'bench/README.md'];

const isThere = (file: string, to: string): boolean => {
  const [path = '', anchor] = to.split('#');
  const target = path === '' ? file : normalize(join(dirname(file), path));
  if (!existsSync(join(ROOT, target))) return false;
  return anchor === undefined || anchorsIn(readDocument(target)).includes(anchor);
};

test.each(EVERY)('links of %s lead somewhere', (file) => {
  const lost = linksIn(readDocument(file)).filter((to) => !/^https?:/.test(to) && !isThere(file, to));
  expect(lost).toEqual([]);
});

const metrics = new Set(
  createMetrics({ version: '0.0.0' })
    .registry.getMetricsAsArray()
    .flatMap(({ name }) => [name, `${name}_bucket`, `${name}_sum`, `${name}_count`]),
);

test.each(GUIDES)('metrics that %s names are exposed', (file) => {
  const named = [...readDocument(file).matchAll(/\btocsin_\w+/g)].map(([name]) => name);
  expect(named.filter((name) => !metrics.has(name))).toEqual([]);
});

/** Made by the reader, or by Tocsin as it runs. */
const MADE = /^(config\/tocsin\.(yaml|env)|deploy\/kubernetes\/secrets\.env|src\/.*KIND.*|.*NAME.*)$/;

test.each(GUIDES)('files that %s names are there', (file) => {
  const named = codeIn(readDocument(file)).flatMap(
    (code) => code.match(/(?<![\w./:-])(?:src|test|docs|config|deploy|scripts|bench)\/[\w./-]+\w/g) ?? [],
  );
  expect(named.filter((path) => !MADE.test(path) && !existsSync(join(ROOT, path)))).toEqual([]);
});

test('docs/logs.md names every value of the closed sets', () => {
  const rows = readDocument('docs/logs.md').split('\n');
  const rowOf = (field: string): string => rows.find((row) => row.startsWith(`| \`${field}\` |`)) ?? '';
  expect(rowOf('kind')).toContain(KINDS_TEXT);
  expect(codeIn(rowOf('reason')).slice(1)).toEqual(DELIVERY_REASONS);
});
