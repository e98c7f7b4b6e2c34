/** Which build a program says that it is: from a checkout, from a build, and where nobody knows. */
import { execFile } from 'node:child_process';
import { appendFile, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { buildText } from '../src/version.ts';
import { commitAll } from './support/checkout.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);

/** A program that is nothing but its version, below a directory of nobody. */
const openProgram = async (): Promise<{ place: string; ask(path?: string): Promise<unknown> }> => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-version-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const place = join(directory, 'program');
  await mkdir(join(place, 'src'), { recursive: true });
  for (const file of ['src/version.ts', 'src/program-path.ts']) await cp(join(ROOT, file), join(place, file));
  await writeFile(join(place, 'package.json'), '{ "version": "1.2.3", "type": "module" }');
  const script = 'const { build } = await import("./src/version.ts"); console.log(JSON.stringify(build()))';
  return {
    place,
    ask: async (PATH = process.env.PATH ?? '') => {
      const options = { cwd: place, env: { PATH, NODE_NO_WARNINGS: '1' } };
      return JSON.parse((await run(process.execPath, ['--input-type=module', '-e', script], options)).stdout);
    },
  };
};

test('a checkout says its commit, and whether files differ from it', async () => {
  const { place, ask } = await openProgram();
  const revision = (await commitAll(place)).slice(0, 12);
  expect(await ask()).toEqual({ version: '1.2.3', revision });
  await appendFile(join(place, 'src/version.ts'), '// changed\n');
  expect(await ask()).toEqual({ version: '1.2.3', revision: `${revision}-dirty` });
  // Without git.
  expect(await ask('/nowhere')).toEqual({ version: '1.2.3' });
});

test('a build says what it was made from, and asks nobody', async () => {
  const { place, ask } = await openProgram();
  await commitAll(place);
  await writeFile(join(place, 'src/REVISION'), '0123456789ab\n');
  expect(await ask('/nowhere')).toEqual({ version: '1.2.3', revision: '0123456789ab' });
  // As an image is that was built without saying it.
  await writeFile(join(place, 'src/REVISION'), 'unknown\n');
  expect(await ask()).toEqual({ version: '1.2.3' });
});

test("a program within somebody else's repository does not say the commit of that one", async () => {
  const { place, ask } = await openProgram();
  await commitAll(join(place, '..'));
  expect(await ask()).toEqual({ version: '1.2.3' });
});

test('people read both, or the version alone', () => {
  expect(buildText({ version: '1.2.3', revision: '0123456789ab' })).toBe('1.2.3 (0123456789ab)');
  expect(buildText({ version: '1.2.3' })).toBe('1.2.3');
});
