/** Checkouts of this project in other places: what a release is made of. */
import { execFile } from 'node:child_process';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** With the Node of this process first in PATH, and nobody's settings of git. */
export const checkoutEnvironment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
});

/** Makes a repository of a directory. Gives the commit. */
export const commitAll = async (cwd: string): Promise<string> => {
  const git = (...args: string[]) => run('git', args, { cwd, env: checkoutEnvironment() });
  await git('init', '-q');
  await git('add', '.');
  await git('commit', '-qm', 'all');
  return (await git('rev-parse', 'HEAD')).stdout.trim();
};

/** Every file that git knows here but the tests, as a repository of its own. Gives its commit. `version`: another one. */
export const copyCheckout = async (to: string, version?: string): Promise<string> => {
  const { stdout } = await run('git', ['ls-files', '-z'], { cwd: ROOT });
  const tracked = stdout.split('\0').filter((file) => file !== '' && !file.startsWith('test/'));
  for (const file of tracked) await cp(join(ROOT, file), join(to, file));
  await symlink(join(ROOT, 'node_modules'), join(to, 'node_modules'));
  if (version !== undefined) {
    for (const file of ['package.json', 'package-lock.json']) {
      const text = await readFile(join(to, file), 'utf8');
      await writeFile(join(to, file), text.replace(/"version": "[^"]*"/, `"version": "${version}"`));
    }
  }
  return commitAll(to);
};

/** Makes the files of a release in a checkout, as `make pack` does. Gives the tarball that is unpacked and runs. */
export const packCheckout = async (checkout: string): Promise<string> => {
  const { stdout } = await run('sh', [join(checkout, 'scripts/pack.sh')], {
    cwd: checkout,
    // Node alone takes gzip's own level some seconds.
    env: { ...checkoutEnvironment(), PACK_GZIP: '-1' },
  });
  const [, tarball = ''] = /pack: (\S+\.tar\.gz)/.exec(stdout) ?? [];
  return join(checkout, tarball);
};
