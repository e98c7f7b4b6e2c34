/** The npm package: made from a checkout that is in use, installed where nothing is, and run. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { runProgram, startProgram } from '../support/program.ts';
import { until } from '../support/until.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SECRETS = ['config/tocsin.yaml', 'config/tocsin.env', '.env', 'deploy/kubernetes/secrets.env'];

/** The compiler and npm take longest of all, the more so where much runs at once. */
vi.setConfig({ hookTimeout: 240_000 });

const run = promisify(execFile);
let place = '';
let main = '';
let packed: string[] = [];

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'tocsin-package-'));
  const checkout = join(place, 'checkout');
  const { stdout } = await run('git', ['ls-files', '-z'], { cwd: ROOT });
  const tracked = stdout.split('\0').filter((file) => file !== '' && !file.startsWith('test/'));
  for (const file of tracked) await cp(join(ROOT, file), join(checkout, file));
  await symlink(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
  for (const file of SECRETS) await writeFile(join(checkout, file), 'secret: value\n');

  const environment = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` };
  await run('npm', ['pack', '--silent', '--pack-destination', place], { cwd: checkout, env: environment });
  const [tarball = ''] = (await readdir(place)).filter((file) => file.endsWith('.tgz'));
  packed = (await run('tar', ['tzf', join(place, tarball)])).stdout
    .split('\n')
    .map((file) => file.replace('package/', ''));

  const empty = join(place, 'empty');
  const options = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  await run('npm', ['install', '--prefix', empty, ...options, join(place, tarball)], { cwd: place, env: environment });
  main = join(empty, 'node_modules/tocsin/dist/main.js');
});
afterAll(() => rm(place, { recursive: true, force: true }));

test('it has the program, its configs and documents, and no secret, test or source', () => {
  for (const file of ['dist/main.js', 'config/demo.yaml', 'config/tocsin.example.yaml', 'docs/configuration.md'])
    expect(packed).toContain(file);
  expect(packed.filter((file) => SECRETS.includes(file) || /^(src|test|scripts|bench)\/|\.ts$/.test(file))).toEqual([]);
});

test('it says its version, checks the example, and plays the demo', async () => {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  expect(await runProgram(['--version'], {}, undefined, main)).toMatchObject({ code: 0, stdout: `${version}\n` });
  const example = join(dirname(dirname(main)), 'config/tocsin.example.yaml');
  const check = await runProgram(['check', '--config', example], {}, undefined, main);
  expect(check).toMatchObject({ code: 1, stdout: expect.stringMatching(/TOCSIN_API_KEY, which is not set/) });

  const demo = startProgram(['demo'], {}, undefined, main);
  await until('a digest has arrived', () => demo.stdout().includes('a digest of'));
  demo.signal('SIGINT');
  expect(await demo.ended).toBe(0);
});
