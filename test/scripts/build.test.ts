/** What the image ships: the program as plain JavaScript, away from its sources. */
import { access, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openProgram } from '../../bench/stage/image.ts';
import { startWorldFor } from '../cli/config-file.ts';
import { runProgram, startDaemonProgram } from '../support/program.ts';

/** The compiler takes longest of all, the more so where much runs at once. */
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

let main = '';

beforeAll(async () => {
  main = await openProgram(undefined);
});
afterAll(() => rm(dirname(dirname(main)), { recursive: true, force: true }));

test('it is JavaScript, and imports nothing else', async () => {
  const files = await readdir(dirname(main), { recursive: true, withFileTypes: true });
  expect(files.filter((file) => file.isFile() && !file.name.endsWith('.js'))).toEqual([]);
  await access(join(dirname(main), 'channels/slack/transport.js'));
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
