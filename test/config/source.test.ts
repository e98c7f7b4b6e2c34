import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createConfigSource } from '../../src/config/source.ts';
import { SMALL } from './samples.ts';

const KEY = `${'$'}{file:key}`;
const TEXT = SMALL.replace('key-1', `"${KEY}"`);

const setUp = async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-source-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return (name: string): string => join(directory, name);
};

const keyOf = async (source: ReturnType<typeof createConfigSource>): Promise<string | undefined> =>
  (await source.read()).services[0]?.apiKey.reveal();

test('what is on disk differs when the file changes, or one that it names, or that of the variables', async () => {
  const at = await setUp();
  await writeFile(at('c.yaml'), TEXT);
  await writeFile(at('key'), 'key-1\n');
  const source = createConfigSource(at('c.yaml'), {});
  const differs = async (): Promise<boolean> => (await source.diskPrint()) !== source.readPrint();
  expect(await keyOf(source)).toBe('key-1');
  expect(await differs()).toBe(false);
  for (const [file, text] of [
    ['c.yaml', `${TEXT}poll: { lookback: 20m }\n`],
    ['key', 'key-2\n'],
    ['c.env', 'A=b\n'],
  ] as const) {
    await writeFile(at(file), text);
    expect(await differs(), file).toBe(true);
    await source.read();
    expect(await differs(), file).toBe(false);
  }
  expect(await keyOf(source)).toBe('key-2');
});

test('so it does while the file is wrong, until it is right, and where a file is gone', async () => {
  const at = await setUp();
  await writeFile(at('c.yaml'), TEXT);
  const source = createConfigSource(at('c.yaml'), {});
  await expect(source.read()).rejects.toThrow('cannot be read');
  expect(await source.diskPrint()).toBe(source.readPrint());
  await writeFile(at('key'), 'key-1');
  expect(await source.diskPrint()).not.toBe(source.readPrint());
  await source.read();
  await rm(at('c.yaml'));
  expect(await source.diskPrint()).not.toBe(source.readPrint());
});

test('a file that is too large is refused once, and not at every look', async () => {
  const at = await setUp();
  await writeFile(at('c.yaml'), TEXT);
  for (const [file, size] of [
    ['key', 100_000],
    ['c.env', 100_000],
    ['c.yaml', 1_100_000],
  ] as const) {
    await writeFile(at('key'), 'key-1\n');
    const source = createConfigSource(at('c.yaml'), {});
    await source.read();
    await writeFile(at(file), '#'.repeat(size));
    await source.read().catch(() => {});
    expect(await source.diskPrint(), file).toBe(source.readPrint());
  }
});

test('a link that is turned around, as of a ConfigMap, is followed', async () => {
  const at = await setUp();
  for (const [version, key] of [
    ['v1', 'key-1'],
    ['v2', 'key-2'],
  ] as const) {
    await mkdir(at(version));
    await writeFile(at(`${version}/c.yaml`), TEXT);
    await writeFile(at(`${version}/key`), key);
  }
  await symlink('v1', at('..data'));
  for (const file of ['c.yaml', 'key']) await symlink(`..data/${file}`, at(file));
  const source = createConfigSource(at('c.yaml'), {});
  expect(await keyOf(source)).toBe('key-1');
  await symlink('v2', at('..new'));
  await rename(at('..new'), at('..data'));
  expect(await source.diskPrint()).not.toBe(source.readPrint());
  expect(await keyOf(source)).toBe('key-2');
});

test('a pipe is read at the start only, and never waited for', async () => {
  const at = await setUp();
  await writeFile(at('c.yaml'), SMALL);
  const source = createConfigSource(at('c.yaml'), {});
  await source.read();
  await rm(at('c.yaml'));
  expect(spawnSync('mkfifo', [at('c.yaml')]).status).toBe(0);
  // It has taken the place of a file, so it is read for once, refused and told; and not again and again.
  expect(await source.diskPrint()).not.toBe(source.readPrint());
  await expect(source.read()).rejects.toThrow('is a pipe or a device');
  expect(await source.diskPrint()).toBe(source.readPrint());

  await rm(at('c.yaml'));
  await writeFile(at('c.yaml'), SMALL);
  expect(await source.diskPrint()).not.toBe(source.readPrint());
  await source.read();
  expect(await source.diskPrint()).toBe(source.readPrint());
});

test('a config that came through a pipe is not looked at again', async () => {
  const at = await setUp();
  expect(spawnSync('mkfifo', [at('c.yaml')]).status).toBe(0);
  const source = createConfigSource(at('c.yaml'), {});
  // In a process of its own: this one stands still until there is something to read.
  const writer = spawn('sh', ['-c', 'printf %s "$1" > "$2"', 'sh', SMALL, at('c.yaml')]);
  const written = once(writer, 'exit');
  await source.read();
  await written;
  expect(await source.diskPrint()).toBeUndefined();
  await expect(source.read()).rejects.toThrow('is a pipe or a device');
});
