import { expect, test } from 'vitest';
import { missingHeapFlags } from '../../src/cli/heap.ts';

const ALL = ['--max-semi-space-size=8', '--heap-growing-percent=50', '--v8-pool-size=1'];

test.each<[string, string[]]>([
  ['run', ['run', '--config', 'x.yaml']],
  ['the default command', []],
  ['the default command with a config', ['-c', 'x.yaml']],
  ['a command behind the options of all', ['--config', 'status', 'run']],
  ['demo', ['demo', '--for', '30s']],
])('the heap is bounded for %s', (_, args) => {
  expect(missingHeapFlags({ args, execArgv: [] })).toEqual(ALL);
});

test.each([['status'], ['--help'], ['-V'], ['check', '--config', 'run']])(
  'a command that ends soon does not start twice: %s',
  (...args) => {
    expect(missingHeapFlags({ args, execArgv: [] })).toEqual([]);
  },
);

test('flags that are given stand', () => {
  const args = ['run'];
  expect(missingHeapFlags({ args, execArgv: ALL })).toEqual([]);
  expect(missingHeapFlags({ args, execArgv: ['--max_semi_space_size=64'] })).toEqual(ALL.slice(1));
  expect(
    missingHeapFlags({ args, execArgv: [], nodeOptions: '--enable-source-maps --max-semi-space-size=32' }),
  ).toEqual(ALL.slice(1));
});
