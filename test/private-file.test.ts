import { execFile } from 'node:child_process';
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
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createMirror } from '../src/poll/mirror.ts';
import {
  makeDirectory,
  makePrivateDirectory,
  openPrivateLog,
  replaceFile,
  replacePrivateFile,
} from '../src/private-file.ts';
import { embeddedFiles, openLog, writeSettings } from '../src/redis/embedded-server.ts';

const run = promisify(execFile);

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

test.runIf(process.platform === 'linux')(
  'a directory that can be made nowhere is refused, and nobody waits',
  async () => {
    await expect(makeDirectory('/proc/tocsin/data', 0o700)).rejects.toThrow(/ENOENT|EACCES/);
    const { dataDir } = await setUp();
    await makeDirectory(join(dataDir, 'a/b'), 0o700);
    await writeFile(join(dataDir, 'a/file'), '');
    await expect(makeDirectory(join(dataDir, 'a/file'), 0o700)).rejects.toThrow('EEXIST');
  },
);

/** Mounted by itself, as a container has a config. */
const mounted = async (file: string, onto: string): Promise<void> => {
  await run('mount', ['--bind', file, onto]);
  onTestFinished(async () => void (await run('umount', [onto])));
};

const mayMount = process.platform === 'linux' && process.getuid?.() === 0;

test.runIf(mayMount)('a file that is mounted by itself is written over, with its mode', async ({ skip }) => {
  const { victim, dataDir, modeOf } = await setUp();
  const file = join(dataDir, 'tocsin.yaml');
  await mkdir(dataDir);
  await writeFile(file, '');
  await mounted(victim, file).catch(() => skip('nothing can be mounted here'));
  await replaceFile(file, 'new', 0o644);
  expect([await readFile(victim, 'utf8'), await modeOf(victim)]).toEqual(['new', '644']);
  await replaceFile(file, 'n', 0o600);
  expect([await readFile(victim, 'utf8'), await modeOf(victim)]).toEqual(['n', '600']);
  expect(await readdir(dataDir)).toEqual(['tocsin.yaml']);
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
