import {
  chmod,
  lchown,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createMirror } from '../src/poll/mirror.ts';
import { makePrivateDirectory, openPrivateLog, replacePrivateFile } from '../src/private-file.ts';
import { embeddedFiles, openLog, writeSettings } from '../src/redis/embedded-server.ts';

const setUp = async () => {
  const room = await mkdtemp(join(tmpdir(), 'tocsin-private-'));
  onTestFinished(() => rm(room, { recursive: true, force: true }));
  const [dataDir, victim] = [join(room, 'data'), join(room, 'victim')];
  await writeFile(victim, 'precious');
  return {
    dataDir,
    victim,
    /** A link to a file that must stay as it is. */
    plant: (...names: string[]) => symlink(victim, join(dataDir, ...names)),
    modeOf: async (path: string) => ((await stat(path)).mode & 0o777).toString(8),
    isFile: async (path: string) => (await lstat(path)).isFile(),
  };
};

const STRANGER = 54_321;

describe('a private directory', () => {
  test('is open to its owner only, whatever it was before', async () => {
    const { dataDir, modeOf } = await setUp();
    expect(await makePrivateDirectory(dataDir)).toBe(true);
    expect(await modeOf(dataDir)).toBe('700');
    await chmod(dataDir, 0o777);
    expect(await makePrivateDirectory(dataDir)).toBe(true);
    expect(await modeOf(dataDir)).toBe('700');
  });

  test('may be a link of our own', async () => {
    const { dataDir, modeOf } = await setUp();
    await mkdir(`${dataDir}-large`);
    await symlink(`${dataDir}-large`, dataDir);
    expect(await makePrivateDirectory(dataDir)).toBe(true);
    expect(await modeOf(`${dataDir}-large`)).toBe('700');
  });

  test.runIf(process.getuid?.() === 0)('is no link that another user has planted', async () => {
    const { dataDir, modeOf } = await setUp();
    await mkdir(`${dataDir}-elsewhere`, { mode: 0o755 });
    await symlink(`${dataDir}-elsewhere`, dataDir);
    await lchown(dataDir, STRANGER, STRANGER);
    await expect(makePrivateDirectory(dataDir)).rejects.toThrow(
      `data is a link that another user has made (uid 54321)`,
    );
    expect(await modeOf(`${dataDir}-elsewhere`)).toBe('755');
  });
});

describe('a planted link', () => {
  test('in the place of a file is replaced, and what it leads to stays as it was', async () => {
    const { dataDir, victim, plant, modeOf, isFile } = await setUp();
    await makePrivateDirectory(dataDir);
    for (const name of ['whole', 'whole.new', 'log']) await plant(name);
    const [whole, log] = [join(dataDir, 'whole'), join(dataDir, 'log')];
    await replacePrivateFile(whole, 'ours');
    await replacePrivateFile(whole, 'our');
    const handle = await openPrivateLog(log);
    await handle.appendFile('line');
    await handle.close();
    expect([await readFile(whole, 'utf8'), await readFile(log, 'utf8')]).toEqual(['our', 'line']);
    for (const file of [whole, log]) expect([await isFile(file), await modeOf(file)]).toEqual([true, '600']);
    expect(await readFile(victim, 'utf8')).toBe('precious');
    expect((await readdir(dataDir)).toSorted()).toEqual(['log', 'whole']);
  });

  test('may be a file with a reader of its own: what is written does not go there', async () => {
    const { dataDir, modeOf } = await setUp();
    await makePrivateDirectory(dataDir);
    const whole = join(dataDir, 'whole');
    await writeFile(`${whole}.new`, '', { mode: 0o644 });
    const reader = await open(`${whole}.new`, 'r');
    onTestFinished(() => reader.close());
    await replacePrivateFile(whole, 'ours');
    expect(await reader.readFile('utf8')).toBe('');
    expect([await readFile(whole, 'utf8'), await modeOf(whole)]).toEqual(['ours', '600']);
  });

  test('is not followed by the state file', async () => {
    const { dataDir, victim, plant, modeOf } = await setUp();
    const file = join(dataDir, 'state.json');
    const track = { service: 'main', protocol: 'Vault', source: 'inspections' } as const;
    const flush = async (): Promise<void> => {
      const mirror = createMirror(file);
      mirror.note(track, { start: 1, position: 2, sweptTo: 3 });
      await mirror.flush();
    };
    await flush();
    expect(await modeOf(dataDir)).toBe('700');
    await plant('state.json.new');
    await flush();
    expect(await readFile(victim, 'utf8')).toBe('precious');
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ v: 1 });
  });

  test('is not followed by the files of the embedded Redis', async () => {
    const { dataDir, victim, plant } = await setUp();
    await mkdir(join(dataDir, 'redis'), { recursive: true });
    const files = embeddedFiles(dataDir);
    for (const name of ['redis.conf', 'address.json', 'redis.log']) await plant('redis', name);
    await writeSettings(files, { port: 7, password: 'hush' });
    const { handle, offset } = await openLog(files);
    await handle.appendFile('line');
    await handle.close();
    expect(offset).toBe(0);
    expect(await readFile(victim, 'utf8')).toBe('precious');
    expect(await readFile(files.settings, 'utf8')).toContain('requirepass hush');
  });
});
