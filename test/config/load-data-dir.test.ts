/** Where a relative `dataDir` is. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { oldPlaceOf, placeDataDir } from '../../src/config/load.ts';

/** A relative path that leads to two directories of `room`: from the working directory and from the config file. */
const setUp = async () => {
  const room = await mkdtemp(join(tmpdir(), 'tocsin-place-'));
  onTestFinished(() => rm(room, { recursive: true, force: true }));
  const dataDir = relative('.', join(room, 'old'));
  const file = join(room, 'deep', ...process.cwd().split('/').filter(Boolean), 'tocsin.yaml');
  return { dataDir, file, old: resolve(dataDir), place: resolve(file, '..', dataDir) };
};

test('it is beside the config file, whatever directory a command is started in', async () => {
  const { dataDir, file, old, place } = await setUp();
  expect(place).not.toBe(old);
  expect(placeDataDir(file, dataDir)).toBe(place);
  expect(placeDataDir(file, '/full/path')).toBe('/full/path');
  expect(oldPlaceOf(file, { dataDir: place })).toBeUndefined();
  // Another program's.
  await mkdir(old);
  await writeFile(join(old, 'notes.txt'), '');
  expect(placeDataDir(file, dataDir)).toBe(place);
});

test('what an earlier version left at the working directory goes on being used, and is told', async () => {
  const { dataDir, file, old, place } = await setUp();
  await mkdir(old);
  await writeFile(join(old, 'state.json'), '{}');
  const found = placeDataDir(file, dataDir);
  expect(resolve(found)).toBe(old);
  expect(oldPlaceOf(file, { dataDir: found })).toContain(`in ${old}: stop the daemons and move it to ${place}`);
  await mkdir(join(place, 'redis'), { recursive: true });
  expect(placeDataDir(file, dataDir)).toBe(place);
});
