import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { compileCacheOf } from '../../src/cli/heap.ts';

/** A cache directory of this user, as XDG_CACHE_HOME names it. */
const cacheHome = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-cache-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
};

test('compiled code is kept in the cache of the user, where nobody else can write', async () => {
  const home = await cacheHome();
  expect(compileCacheOf({ XDG_CACHE_HOME: home })).toBe(join(home, 'tocsin'));
  expect((await stat(join(home, 'tocsin'))).mode & 0o777).toBe(0o700);
});

test('a directory that others can write is not used, nor one within such a directory', async () => {
  const home = await cacheHome();
  const directory = compileCacheOf({ XDG_CACHE_HOME: home }) ?? '';
  await chmod(directory, 0o722);
  expect(compileCacheOf({ XDG_CACHE_HOME: home })).toBeUndefined();
  await chmod(directory, 0o700);
  await chmod(home, 0o777);
  expect(compileCacheOf({ XDG_CACHE_HOME: home })).toBeUndefined();
});

test('without a directory that can be made nothing is kept', async () => {
  const home = await cacheHome();
  await writeFile(join(home, 'file'), '');
  expect(compileCacheOf({ XDG_CACHE_HOME: join(home, 'file') })).toBeUndefined();
});

test.each([{ NODE_COMPILE_CACHE: '/elsewhere' }, { NODE_DISABLE_COMPILE_CACHE: '1' }])(
  'what the operator says of it stands: %j',
  async (said) => {
    expect(compileCacheOf({ XDG_CACHE_HOME: await cacheHome(), ...said })).toBeUndefined();
  },
);
