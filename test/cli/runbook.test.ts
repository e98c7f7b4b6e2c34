/** Every command that the runbook names is there, with its options. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runInProcess } from './in-process.ts';

const RUNBOOK = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8');

/** `tocsin dead retry --reason WORD` and, standing alone, `--all`. Lines may break within. */
const named = [...RUNBOOK.matchAll(/`tocsin\s+([^`]+)`/g)].map(([, text = '']) => {
  const [words = ''] = /^[a-z]+(?:\s+[a-z]+)*/.exec(text) ?? [];
  return { text, words: words.split(/\s+/), options: text.match(/--[a-z-]+/g) ?? [] };
});

test('the runbook names commands', () => {
  expect(named.length).toBeGreaterThan(20);
});

test.each(named)('tocsin $text', async ({ words, options }) => {
  const { code, out } = await runInProcess([...words, '--help'], { env: {} });
  expect(code).toBe(0);
  expect(out).toContain(`Usage: tocsin ${words.join(' ')} `);
  for (const option of options) expect(out).toMatch(new RegExp(`^ .*${option}\\b`, 'm'));
});
