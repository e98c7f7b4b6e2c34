/** What the image ships: the program as plain JavaScript, away from its sources. */
import { execFile } from 'node:child_process';
import { access, copyFile, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startWorldFor } from '../cli/config-file.ts';
import { runProgram, startDaemonProgram } from '../support/program.ts';

/** The compiler takes longest of all, the more so where much runs at once. */
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
let place = '';
let main = '';

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'tocsin-build-'));
  main = join(place, 'dist/main.js');
  await copyFile(join(ROOT, 'package.json'), join(place, 'package.json'));
  await symlink(join(ROOT, 'node_modules'), join(place, 'node_modules'));
  await promisify(execFile)('npm', ['run', '--silent', 'build', '--', '--outDir', join(place, 'dist')], { cwd: ROOT });
});
afterAll(() => rm(place, { recursive: true, force: true }));

test('it is JavaScript, and imports nothing else', async () => {
  const files = await readdir(join(place, 'dist'), { recursive: true, withFileTypes: true });
  expect(files.filter((file) => file.isFile() && !file.name.endsWith('.js'))).toEqual([]);
  await access(join(place, 'dist/channels/slack/transport.js'));
});

test('it shows the same help', async () => {
  const [built, source] = await Promise.all([runProgram(['--help'], {}, undefined, main), runProgram(['--help'])]);
  expect(built).toEqual(source);
  expect(built).toMatchObject({ code: 0, stderr: '' });
});

test('it checks a config, runs as a daemon and stops', async ({ onTestFinished }) => {
  const { world, file, environment } = await startWorldFor({ onFinished: onTestFinished });
  expect(await runProgram(['check', '--config', file], environment, onTestFinished, main)).toMatchObject({ code: 0 });
  const daemon = await startDaemonProgram(file, environment, onTestFinished, main);
  world.critical('Vault', 1);
  await world.balanced();
  daemon.signal('SIGTERM');
  expect(await daemon.ended).toBe(0);
  expect(daemon.stderr()).toBe('');
});
