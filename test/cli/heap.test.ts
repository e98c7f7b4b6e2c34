import { expect, test } from 'vitest';
import { missingHeapFlags } from '../../src/cli/heap.ts';
import { startDaemonProgram } from '../support/program.ts';
import { startWorldFor } from './config-file.ts';

const BOTH = ['--max-semi-space-size=8', '--heap-growing-percent=50'];

test.each<[string, string[]]>([
  ['run', ['run', '--config', 'x.yaml']],
  ['the default command', []],
  ['the default command with a config', ['-c', 'x.yaml']],
  ['a command behind the options of all', ['--config', 'status', 'run']],
  ['demo', ['demo', '--for', '30s']],
])('the heap is bounded for %s', (_, args) => {
  expect(missingHeapFlags({ args, execArgv: [] })).toEqual(BOTH);
});

test.each([['status'], ['--help'], ['-V'], ['check', '--config', 'run']])(
  'a command that ends soon does not start twice: %s',
  (...args) => {
    expect(missingHeapFlags({ args, execArgv: [] })).toEqual([]);
  },
);

test('flags that are given stand', () => {
  const args = ['run'];
  expect(missingHeapFlags({ args, execArgv: BOTH })).toEqual([]);
  expect(missingHeapFlags({ args, execArgv: ['--max_semi_space_size=64'] })).toEqual(BOTH.slice(1));
  expect(
    missingHeapFlags({ args, execArgv: [], nodeOptions: '--enable-source-maps --max-semi-space-size=32' }),
  ).toEqual(BOTH.slice(1));
});

test('a daemon runs with a bounded heap', { timeout: 90_000 }, async ({ onTestFinished }) => {
  const { file, environment } = await startWorldFor({ onFinished: onTestFinished });
  const { url } = await startDaemonProgram(file, environment, onTestFinished);
  const metrics = await (await fetch(new URL('/metrics', url))).text();
  const young = /^nodejs_heap_space_size_total_bytes\{space="new"\} (\d+)/m.exec(metrics)?.[1];
  expect(Number(young)).toBeLessThanOrEqual(2 * 8 * 1024 * 1024);
});
