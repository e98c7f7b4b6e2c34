/** The programs beside the daemon say what they take, and refuse what they do not. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

const PROGRAMS = ['test/fault/run.ts', 'test/fault/soak.ts', 'bench/main.ts', 'bench/growth.ts', 'bench/profile.ts'];

const run = (...args: readonly string[]) => spawnSync(process.execPath, args, { encoding: 'utf8' });

test.each(PROGRAMS)('%s lists its options', (program) => {
  const { status, stdout, stderr } = run(program, '--help');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain(`\n  node ${program} [--`);
});

test('a wrong option is refused in a line, without a stack', () => {
  const { status, stderr } = run('test/fault/run.ts', '--backlog', 'many');
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: '--backlog takes a number above 0\n--help lists the options\n',
  });
  expect(run('test/fault/run.ts', '--what').stderr).toMatch(/^Unknown option '--what'.*\n--help lists the options\n$/);
});
