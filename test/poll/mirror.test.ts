import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createMirror } from '../../src/poll/mirror.ts';

const TRACK = { service: 'main', source: 'inspections', protocol: 'Vault' } as const;
const at = (position: number) => ({ start: 1, position, sweptTo: 1 });

const makeDirectory = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-mirror-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
};

test('two that write at the same time do not take the file away from each other', async () => {
  const file = join(await makeDirectory(), 'state.json');
  const mirror = createMirror(file);
  for (let n = 1; n <= 20; n += 1) {
    mirror.note(TRACK, at(2 * n));
    const first = mirror.flush();
    mirror.note(TRACK, at(2 * n + 1));
    await Promise.all([first, mirror.flush()]);
  }
  const later = createMirror(file);
  await later.load();
  expect(later.recall(TRACK)).toEqual(at(41));
});

test('what could not be written is written with the next one', async () => {
  const directory = await makeDirectory();
  const blocked = join(directory, 'data');
  await writeFile(blocked, 'a file where the directory should be');
  const mirror = createMirror(join(blocked, 'state.json'));
  mirror.note(TRACK, at(2));
  await expect(mirror.flush()).rejects.toThrow();
  await rm(blocked);
  await mirror.flush();
  const later = createMirror(join(blocked, 'state.json'));
  await later.load();
  expect(later.recall(TRACK)).toEqual(at(2));
});
