import { expect, test } from 'vitest';
import { createRarely, createRareWarning } from '../src/rarely.ts';

const rarely = () => {
  const clock = { now: 0 };
  const said: [string, number][] = [];
  const say = createRarely(() => clock.now, 10_000);
  return { clock, said, report: (what: string) => say(what, (times) => said.push([what, times])) };
};

test('what is the same comes once in ten seconds, with its number', () => {
  const { clock, said, report } = rarely();
  for (let count = 0; count < 500; count += 1) report('OOM');
  clock.now = 9_999;
  report('OOM');
  expect(said).toEqual([['OOM', 1]]);
  clock.now = 10_000;
  report('OOM');
  expect(said).toEqual([
    ['OOM', 1],
    ['OOM', 501],
  ]);
});

test('something else is said at once', () => {
  const { said, report } = rarely();
  for (const what of ['reset', 'refused', 'reset']) report(what);
  expect(said).toEqual([
    ['reset', 1],
    ['refused', 1],
  ]);
});

test('texts that all differ do not pile up: the oldest is forgotten', () => {
  const { said, report } = rarely();
  for (let id = 0; id <= 100; id += 1) report(`job ${id}`);
  report('job 100');
  expect(said).toHaveLength(101);
  report('job 0');
  expect(said).toHaveLength(102);
});

test('a warning is written at once, and then once a minute with how often it was due', () => {
  const lines: object[] = [];
  let now = 1_000_000;
  const log = { warn: (fields: object, text?: string) => void lines.push({ ...fields, text }) };
  const warn = createRareWarning({ log, text: 'refused', now: () => now });
  warn({ host: 'a' });
  warn({ host: 'b' });
  warn({ host: 'c' });
  now += 60_000;
  warn({ host: 'd' });
  expect(lines).toEqual([
    { host: 'a', times: 1, text: 'refused' },
    { host: 'd', times: 3, text: 'refused' },
  ]);
});
