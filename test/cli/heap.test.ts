import { expect, test } from 'vitest';
import { missingHeapFlags } from '../../src/cli/heap.ts';

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
