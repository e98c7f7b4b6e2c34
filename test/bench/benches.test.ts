/** Nothing but people runs the benches, so that one that is broken would not be noticed. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const pathOf = (file: string): string => fileURLToPath(new URL(`../../${file}`, import.meta.url));

test('a small run goes all the way and prints its table', async () => {
  const options = ['--only', 'alerts', '--alerts', '40', '--repeat', '1', '--program', pathOf('src/main.ts')];
  const run = promisify(execFile)(process.execPath, [pathOf('bench/main.ts'), ...options]);
  // What forty alerts cost is no measure, so it may be told to be worse.
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  expect(stdout).toMatch(/^CPU an alert to a webhook +\d+ us +floor: \d+ /m);
  expect(stdout).toMatch(/^Redis commands an alert +[\d.]+ +<= 5/m);
});
