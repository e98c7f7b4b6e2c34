/** Nothing but people runs the benches, so that one that is broken would not be noticed. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const bench = (name: string): string => fileURLToPath(new URL(`../../bench/${name}.ts`, import.meta.url));

test('a small run goes all the way and prints its table', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [bench('throughput'), '--alerts', '40']);
  expect(stdout).toMatch(/^tocsin( +\d+){3}$/m);
});
