/** The present program with the version of its jobs raised by one, as a tree of its own: what an upgrade leads to. */
import { rmSync } from 'node:fs';
import { cp, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './daemon-process.ts';

const JOB = 'src/queue/job.ts';
const DECLARED = /^const VERSION = (\d+);$/m;
const REFUSED = /\bwritten\.v !== VERSION\b/;

/** It writes the next version, and reads the present one, too. */
export const raised = (source: string): string => {
  const [, version] = DECLARED.exec(source) ?? [];
  if (version === undefined || !REFUSED.test(source)) throw new Error(`${JOB} states its version in another way`);
  return source
    .replace(DECLARED, `const VERSION = ${Number(version) + 1};`)
    .replace(REFUSED, `![VERSION, ${version}].includes(Number(written.v))`);
};

const copy = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-newer-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  for (const part of ['src', 'config', 'package.json']) {
    await cp(join(ROOT, part), join(directory, part), { recursive: true });
  }
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  await writeFile(join(directory, JOB), raised(await readFile(join(ROOT, JOB), 'utf8')));
  return directory;
};

let tree: Promise<string> | undefined;

/** Copied once for all. */
export const newerTree = (): Promise<string> => {
  tree ??= copy();
  return tree;
};
