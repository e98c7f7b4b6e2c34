/** Where a relative `dataDir` is. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { SMALL } from './samples.ts';

test.each([
  ['dir/data', (room: string) => join(room, 'dir/data')],
  ['/full/path', () => '/full/path'],
])('%s is beside the config file, whatever directory a command is started in', async (dataDir, placeIn) => {
  const room = await mkdtemp(join(tmpdir(), 'tocsin-place-'));
  onTestFinished(() => rm(room, { recursive: true, force: true }));
  await writeFile(join(room, 'tocsin.yaml'), `${SMALL}dataDir: ${dataDir}\n`);
  expect(await loadConfig(join(room, 'tocsin.yaml'), {})).toMatchObject({ dataDir: placeIn(room) });
});
