/** The program of an earlier commit, as a tree of its own. */
import { execFile, execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './daemon-process.ts';

/** The last commit before these faults were mended: what an upgrade comes from. */
const COMMIT = '5f1696a481a9437963a3659aae540450430fd0b9';

export const whyNoOlder = (): string | undefined => {
  try {
    execFileSync('git', ['cat-file', '-e', `${COMMIT}^{commit}`], { cwd: ROOT, stdio: 'ignore' });
    return undefined;
  } catch {
    return 'the history here does not go back to the commit before';
  }
};

let tree: Promise<string> | undefined;

const unpack = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-older-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  const run = promisify(execFile);
  await run('sh', ['-c', `git archive ${COMMIT} | tar -x -C "$0"`, directory], { cwd: ROOT });
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  return directory;
};

/** Unpacked once for all; its packages are the present ones. */
export const olderTree = (): Promise<string> => {
  tree ??= unpack();
  return tree;
};
