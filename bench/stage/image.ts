/** The program as the image ships it: plain JavaScript, its compiled code kept between starts. */
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { copyFile, mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Of the daemons and commands that a bench starts; nothing of it is the operator's own. */
export const programEnvironment = (): Record<string, string> => {
  const { PATH = '', XDG_CACHE_HOME } = process.env;
  return { PATH, NODE_NO_WARNINGS: '1', ...(XDG_CACHE_HOME !== undefined && { XDG_CACHE_HOME }) };
};

/** Code compiled by earlier starts is found again, as on a machine where Tocsin has run before. Gone with this process. */
const openPlace = async (): Promise<string> => {
  const place = await mkdtemp(join(tmpdir(), 'tocsin-bench-image-'));
  process.once('exit', () => rmSync(place, { recursive: true, force: true }));
  // As in the image: commands find their compiled code there, and a daemon does not look for it.
  process.env.XDG_CACHE_HOME = join(place, 'cache');
  return place;
};

/** `program` as it is, or this tree's built as for the image. Gives the path of what to run. */
export const openProgram = async (program: string | undefined): Promise<string> => {
  const place = await openPlace();
  if (program !== undefined) return program;
  await copyFile(join(ROOT, 'package.json'), join(place, 'package.json'));
  await symlink(join(ROOT, 'node_modules'), join(place, 'node_modules'));
  const args = [join(ROOT, 'node_modules/rolldown/bin/cli.mjs'), '-c', '--dir', join(place, 'dist')];
  await promisify(execFile)(process.execPath, args, { cwd: ROOT });
  return join(place, 'dist/main.js');
};
