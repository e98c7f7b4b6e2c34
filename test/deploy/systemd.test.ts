/** deploy/tocsin.service agrees with the program, and systemd has nothing to say about it. */
import { execFile, spawnSync } from 'node:child_process';
import { constants } from 'node:fs';
import { access, copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { exitCodeOf } from '../../src/cli/program.ts';
import { readCompose, readProject } from './compose-files.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const INSTALLED = '/opt/tocsin/current/';
/** Steps of a stop that wait for a Redis that is silent: measured, 18 s in all. */
const SILENT_STEPS = 3;

/** Values by key, in order; a key may come again. */
const readUnit = async (): Promise<(key: string) => string[]> => {
  const lines = (await readProject('deploy/tocsin.service')).split('\n');
  const pairs = lines.flatMap((line) => {
    const [, key = '', value = ''] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? [];
    return key === '' ? [] : [{ key, value }];
  });
  return (key) => pairs.filter((pair) => pair.key === key).map(({ value }) => value);
};

const scratch = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-unit-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
};

test('every command of it is a file of the project', async () => {
  const unit = await readUnit();
  const commands = [...unit('ExecStartPre'), ...unit('ExecStart')];
  expect(commands).toEqual([`${INSTALLED}deploy/tocsin check`, `${INSTALLED}deploy/tocsin run`]);
  await access(join(ROOT, 'deploy/tocsin'), constants.X_OK);
  const [documentation = ''] = unit('Documentation');
  await access(documentation.replace(`file://${INSTALLED}`, ROOT));
});

test('the command finds its program through a link, and names the directories that the unit makes', async () => {
  const directory = await scratch();
  for (const name of ['deploy', 'dist', 'bin']) await mkdir(join(directory, name));
  await copyFile(join(ROOT, 'deploy/tocsin'), join(directory, 'deploy/tocsin'));
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  await symlink('../deploy/tocsin', join(directory, 'bin/tocsin'));
  await writeFile(
    join(directory, 'dist/main.js'),
    'const { TOCSIN_CONFIG, TOCSIN_DATA_DIR } = process.env; console.log(TOCSIN_CONFIG, TOCSIN_DATA_DIR, process.argv.slice(2))',
  );
  const { PATH } = process.env;
  const run = promisify(execFile);
  const { stdout } = await run(join(directory, 'bin/tocsin'), ['trace', 'a b'], { env: { PATH } });
  expect(stdout).toBe("/etc/tocsin/tocsin.yaml /var/lib/tocsin [ 'trace', 'a b' ]\n");
  const elsewhere = { PATH, TOCSIN_CONFIG: '/x.yaml', TOCSIN_DATA_DIR: '/y' };
  expect((await run(join(directory, 'bin/tocsin'), [], { env: elsewhere })).stdout).toBe('/x.yaml /y []\n');

  const unit = await readUnit();
  expect([unit('StateDirectory'), unit('WorkingDirectory')]).toEqual([['tocsin'], ['/var/lib/tocsin']]);
  expect(unit('CacheDirectory')).toEqual(['tocsin']);
  // A core dump would hold every secret.
  expect(unit('LimitCORE')).toEqual(['0']);
  expect(unit('Environment').join(' ')).toContain('XDG_CACHE_HOME=/var/cache/tocsin');
});

test('it is started again whatever ended it: a bug ends with the code of a mistake in the config', async () => {
  const unit = await readUnit();
  expect(exitCodeOf(new Error('a bug'), false).code).toBe(1);
  expect(unit('Restart')).toEqual(['always']);
  expect(unit('StartLimitIntervalSec')).toEqual(['0']);
  expect([...unit('RestartPreventExitStatus'), ...unit('SuccessExitStatus')]).toEqual([]);
});

test('all ways to run it give a stop the same time, and it is enough', async () => {
  const [, stepMs] = /const AT_STOP\b.*\bstep: (\d+)/.exec(await readProject('src/app/generation.ts')) ?? [];
  const [timeout = ''] = (await readUnit())('TimeoutStopSec');
  expect(Number(stepMs)).toBeGreaterThan(0);
  expect(Number.parseInt(timeout, 10) * 1000).toBeGreaterThan(SILENT_STEPS * Number(stepMs));
  const { services } = await readCompose('docker-compose.yml');
  expect(services.tocsin?.stop_grace_period).toBe(timeout);
});

test('it gets the memory that the containers get', async () => {
  const [memory = ''] = (await readUnit())('MemoryMax');
  const { services } = await readCompose('docker-compose.yml');
  expect(services.tocsin?.mem_limit).toContain(`:-${memory.toLowerCase()}}`);
});

test('only the daemon is told to stop, and V8 may compile', async () => {
  const unit = await readUnit();
  expect(unit('KillMode')).toEqual(['mixed']);
  expect(unit('MemoryDenyWriteExecute')).toEqual([]);
  expect(unit('ExecReload')).toEqual(['/bin/kill -HUP $MAINPID']);
});

const analyze = (...args: string[]) => spawnSync('systemd-analyze', args, { encoding: 'utf8' });

test('systemd accepts it, and finds little that it may do', async ({ skip }) => {
  if (analyze('--version').status !== 0) skip('systemd-analyze is not installed; it comes with systemd');
  const file = join(await scratch(), 'tocsin.service');
  // It looks whether the commands are there.
  await writeFile(file, (await readProject('deploy/tocsin.service')).replaceAll(`=${INSTALLED}`, `=${ROOT}`));
  const verified = analyze('verify', file);
  // What it says of other units of the machine is not about ours.
  expect(verified.stderr.split('\n').filter((line) => line.includes('tocsin'))).toEqual([]);
  const judged = analyze('security', '--offline=true', file);
  // Before version 250 it judges only units that are loaded.
  if (judged.stderr.includes('offline')) return;
  const [, exposure] = /Overall exposure level for tocsin\.service: ([\d.]+)/.exec(judged.stdout) ?? [];
  expect(Number(exposure)).toBeLessThan(2);
});
