/** `tocsin reload` asks every daemon that shares the Redis, and says what each made of it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createConfigSource } from '../../src/config/source.ts';
import { type RunningDaemon, startDaemon } from '../scenario/daemons.ts';
import { startWorld } from '../scenario/world.ts';
import { runInProcess } from './in-process.ts';

const setUp = async () => {
  const world = await startWorld({ names: ['Vault'], kinds: ['webhook'] });
  const fileOf = (name: string): string => join(world.dataDir, `${name}.yaml`);
  const start = async (name: string): Promise<RunningDaemon> => {
    await writeFile(fileOf(name), world.configText);
    const source = createConfigSource(fileOf(name), { ...world.environment, TOCSIN_DATA_DIR: fileOf(`data-${name}`) });
    const daemon = await startDaemon(await source.read(), { source });
    onTestFinished(daemon.stop);
    return daemon;
  };
  const edit = (name: string, from: string, to: string): Promise<void> =>
    writeFile(fileOf(name), world.configText.replace(from, to));
  const reload = (name: string, ...more: string[]) =>
    runInProcess(['reload', '--config', fileOf(name), ...more], { env: world.environment });
  return { world, fileOf, start, edit, reload };
};

test('by all of them: 0; by one that refuses its own file: 1, with its problems', async () => {
  const { world, start, edit, reload } = await setUp();
  await start('one');
  await start('other');
  for (const name of ['one', 'other']) await edit(name, 'sweepEvery: 1s', 'sweepEvery: 2s');
  const taken = await reload('one');
  expect(taken).toMatchObject({ code: 0, err: '' });
  expect(taken.out.match(/poll\.sweepEvery$/gm)).toHaveLength(2);

  await edit('one', 'sweepEvery: 1s', 'sweepEvery: 3s');
  await edit('other', 'sweepEvery', 'sweepEvry');
  const { code, out } = await reload('one', '--json');
  expect(code).toBe(1);
  const { daemons } = JSON.parse(out) as { daemons: { outcome: string; problems?: string[] }[] };
  const refused = daemons.find(({ outcome }) => outcome === 'refused');
  expect(refused?.problems).toEqual([expect.stringMatching(/other\.yaml:\d+:\d+: poll\.sweepEvry: /)]);
  expect(daemons).toHaveLength(2);
  world.critical('Vault');
  await world.balanced();
});

test('a file that is wrong is refused here, as check does, and nobody is asked', async () => {
  const { start, edit, reload, fileOf } = await setUp();
  const daemon = await start('one');
  await edit('one', 'sweepEvery', 'sweepEvry');
  const checked = await runInProcess(['check', '--config', fileOf('one')]);
  const { code, out } = await reload('one');
  expect(code).toBe(1);
  expect(checked.out).toContain(out.trim());
  expect(out).toMatch(/one\.yaml:\d+:\d+: poll\.sweepEvry: /);
  expect(daemon.log().filter(({ cause }) => cause === 'tocsin reload')).toEqual([]);
});

test('where none runs it ends with 75', async () => {
  const { world, reload, fileOf } = await setUp();
  await writeFile(fileOf('one'), world.configText);
  expect(await reload('one')).toMatchObject({ code: 75, err: expect.stringContaining('no daemon runs') });
});
