/** What `make setup` says on a machine where something cannot be installed: before it installs anything. */
import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../scripts/setup.sh', import.meta.url));
const run = promisify(execFile);

/** Runs it in a project of its own, on a machine that has these programs and what the shell itself needs. */
const setUpWith = async (programs: Record<string, string>) => {
  const project = await mkdtemp(join(tmpdir(), 'tocsin-setup-'));
  onTestFinished(() => rm(project, { recursive: true, force: true }));
  const bin = join(project, 'bin');
  await Promise.all([mkdir(bin), mkdir(join(project, 'scripts'))]);
  await cp(SCRIPT, join(project, 'scripts/setup.sh'));
  const { stdout } = await run('sh', ['-c', 'command -v dirname']);
  for (const [name, body] of Object.entries({ ...programs, dirname: `exec ${stdout.trim()} "$@"` })) {
    await writeFile(join(bin, name), `#!/bin/sh\n${body}\n`);
    await chmod(join(bin, name), 0o755);
  }
  const ended = await run('/bin/sh', ['scripts/setup.sh'], { cwd: project, env: { PATH: bin } }).then(
    () => ({ code: 0, stderr: '' }),
    (error: { code: number; stderr: string }) => error,
  );
  return { ...ended, files: (await readdir(project)).toSorted() };
};

const NOBODY = { id: 'echo 1000' };
const NPM = { npm: 'echo 11.0.0' };

test.each<[string, Record<string, string>, RegExp]>([
  ['no npm', NOBODY, /npm is missing: install any Node\.js/],
  ['an npm of before its lock file', { ...NOBODY, npm: 'echo 6.14.18' }, /npm 6\.14\.18 is too old: 7 or newer/],
  [
    'a Node that npm refuses',
    { ...NOBODY, npm: 'exit 1', node: 'echo v12.22.0' },
    /Node v12\.22\.0: install Node\.js 20/,
  ],
  [
    'no way to a Redis',
    { ...NOBODY, ...NPM },
    /redis-server is missing.*As root: apt-get install.*Without root: .*container/s,
  ],
  ['a sudo that wants a password', { ...NOBODY, ...NPM, dnf: 'exit 0', sudo: 'exit 1' }, /redis-server is missing/],
])('%s: it says so, and installs nothing', async (_, programs, says) => {
  const { code, stderr, files } = await setUpWith(programs);
  expect(stderr).toMatch(says);
  expect(stderr).not.toContain('installing');
  expect({ code, files }).toEqual({ code: 1, files: ['bin', 'scripts'] });
});
