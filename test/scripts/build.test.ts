/** What the image ships: the program as plain JavaScript, away from its sources. */
import { execFile } from 'node:child_process';
import { cp, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openProgram } from '../../bench/stage/image.ts';
import { CHANNEL_KINDS } from '../../src/alert.ts';
import { startWorldFor } from '../cli/config-file.ts';
import { readProject } from '../deploy/compose-files.ts';
import { runProgram, startDaemonProgram, startProgram } from '../support/program.ts';
import { until } from '../support/until.ts';

/** Not beside the program in these tests: it has them in itself, also those that it loads at their first use. */
const BUNDLED = ['bullmq', 'ioredis', 'liquidjs', 'nodemailer', 'undici', 'zod'];

/** The bundler takes longest of all, the more so where much runs at once. */
vi.setConfig({ hookTimeout: 120_000 });

let main = '';

/** What the Dockerfile takes out of the packages, taken out of a copy beside the program: links, so nothing is gone. */
const strip = async (place: string): Promise<void> => {
  expect(await readProject('Dockerfile')).toMatch(/^RUN npm ci --omit=dev .*\\\n && sh strip-packages\.sh$/m);
  const sh = (script: string) => promisify(execFile)('sh', ['-euc', script], { cwd: place });
  await sh(
    'target=$(readlink node_modules); rm node_modules; cp -al "$target" node_modules || cp -R "$target" node_modules',
  );
  await sh(`sh ${fileURLToPath(new URL('../../scripts/strip-packages.sh', import.meta.url))}`);
};

beforeAll(async () => {
  main = await openProgram(undefined);
  const place = dirname(dirname(main));
  await cp(fileURLToPath(new URL('../../config/demo.yaml', import.meta.url)), join(place, 'config/demo.yaml'));
  await strip(place);
  for (const name of BUNDLED) await rm(join(place, 'node_modules', name), { recursive: true });
});
afterAll(() => rm(dirname(dirname(main)), { recursive: true, force: true }));

test('it is JavaScript, side by side', async () => {
  const files = await readdir(dirname(main));
  expect(files.filter((name) => !name.endsWith('.js'))).toEqual([]);
});

test('its packages have no sources, typings, tests and examples', async () => {
  const modules = join(dirname(dirname(main)), 'node_modules');
  const all = await readdir(modules, { recursive: true, withFileTypes: true });
  expect(all.length).toBeGreaterThan(1000);
  const extra = all.filter(
    (entry) => /^(tests?|__tests__|examples?|benchmarks?)$/.test(entry.name) && entry.isDirectory(),
  );
  const typed = all.filter(
    (entry) => /\.([cm]?tsx?|map)$/.test(entry.name) && entry.isFile() && !/\.css\.map$/.test(entry.name),
  );
  expect([...extra, ...typed].map(({ parentPath, name }) => join(parentPath, name).slice(modules.length))).toEqual([]);
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

test('while all kinds deliver, Node warns of nothing that its packages do', async ({ onTestFinished }) => {
  const demo = startProgram(['demo'], { NODE_NO_WARNINGS: '' }, onTestFinished, main);
  const hasDelivered = (kind: string): boolean => new RegExp(`^\\S+ +${kind} +delivered`, 'm').test(demo.stdout());
  await until('all kinds have delivered', () => CHANNEL_KINDS.every(hasDelivered));
  demo.signal('SIGINT');
  expect(await demo.ended).toBe(0);
  expect(demo.stderr()).not.toMatch(/warning/i);
});
