/** What `make pack` makes of a checkout that is in use: the npm package, installed where nothing is, and the tarball, unpacked. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startWorldFor } from '../cli/config-file.ts';
import { checkoutEnvironment, copyCheckout, packCheckout } from '../support/checkout.ts';
import { runProgram, startCommand, startProgram } from '../support/program.ts';
import { until } from '../support/until.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SECRETS = ['config/tocsin.yaml', 'config/tocsin.env', '.env', 'deploy/kubernetes/secrets.env'];

/** The compiler and npm take longest of all, the more so where much runs at once. */
vi.setConfig({ hookTimeout: 240_000 });

const run = promisify(execFile);
const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
let place = '';
let said = '';
/** Of the package, installed by npm. */
let main = '';
/** The command of the tarball, by the link. */
let command = '';
let packed: string[] = [];
let unpacked: string[] = [];

const listed = async (tarball: string): Promise<string[]> =>
  (await run('tar', ['tzf', tarball], { maxBuffer: 1 << 26 })).stdout.split('\n').filter(Boolean);
const withoutFirst = (file: string): string => file.replace(/^[^/]*\//, '');

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'tocsin-package-'));
  const checkout = join(place, 'checkout');
  const revision = await copyCheckout(checkout);
  said = `${version} (${revision.slice(0, 12)})\n`;
  for (const file of SECRETS) await writeFile(join(checkout, file), 'secret: value\n');

  const tarball = await packCheckout(checkout);
  const tgz = join(checkout, 'release', `tocsin-${version}.tgz`);
  [packed, unpacked] = (await Promise.all([listed(tgz), listed(tarball)])).map((files) => files.map(withoutFirst)) as [
    string[],
    string[],
  ];

  const empty = join(place, 'empty');
  const options = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  await run('npm', ['install', '--prefix', empty, ...options, tgz], { cwd: place, env: checkoutEnvironment() });
  main = join(empty, 'node_modules/tocsin/dist/main.js');

  // As docs/deployment.md says.
  const releases = join(place, 'opt/releases');
  await mkdir(releases, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', releases]);
  await symlink(`releases/tocsin-${version}`, join(place, 'opt/current'));
  command = join(place, 'opt/current/deploy/tocsin');
});
afterAll(() => rm(place, { recursive: true, force: true }));

test('the package has the program, its configs and documents, and no secret, test or source', () => {
  for (const file of ['dist/main.js', 'config/demo.yaml', 'config/tocsin.example.yaml', 'docs/configuration.md'])
    expect(packed).toContain(file);
  expect(packed.filter((file) => SECRETS.includes(file) || /^(src|test|scripts|bench)\/|\.ts$/.test(file))).toEqual([]);
});

test('the package says its version, checks the example, and plays the demo', async () => {
  expect(await runProgram(['--version'], {}, undefined, main)).toMatchObject({ code: 0, stdout: said });
  const example = join(dirname(dirname(main)), 'config/tocsin.example.yaml');
  const check = await runProgram(['check', '--config', example], {}, undefined, main);
  expect(check).toMatchObject({ code: 1, stdout: expect.stringMatching(/TOCSIN_API_KEY, which is not set/) });

  const demo = startProgram(['demo'], {}, undefined, main);
  await until('a digest has arrived', () => demo.stdout().includes('a digest of'));
  demo.signal('SIGINT');
  expect(await demo.ended).toBe(0);
});

test('the tarball has the package, its packages without sources, and one Node', async () => {
  expect(unpacked).toEqual(expect.arrayContaining(packed.filter((file) => !file.endsWith('/'))));
  const packages = unpacked.filter((file) => /^node_modules\/(@[^/]*\/)?[^/@]+\/package\.json$/.test(file));
  const { dependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) expect(packages).toContain(`node_modules/${name}/package.json`);
  const Node = `node-linux-${process.arch}`;
  for (const name of ['typescript', 'vitest', 'node'])
    expect(packages).not.toContain(`node_modules/${name}/package.json`);
  expect(unpacked).toEqual(expect.arrayContaining([`node_modules/${Node}/bin/node`, `node_modules/${Node}/LICENSE`]));
  const isLeft = /\.([cm]?tsx?|[cm]?[jt]s\.map)$|\/(tests?|__tests__|examples?|benchmarks?)\/|\.npmrc$/;
  expect(unpacked.filter((file) => isLeft.test(file) && !SECRETS.includes(file))).toEqual([]);
  expect(unpacked.filter((file) => SECRETS.includes(file))).toEqual([]);
});

test('a second tarball of the same commit is the same file', async () => {
  const checkout = join(place, 'checkout');
  const sum = async (): Promise<string> =>
    (await run('sha256sum', (await readdir(join(checkout, 'release'))).toSorted(), { cwd: join(checkout, 'release') }))
      .stdout;
  const first = await sum();
  expect(first).toContain('.tar.gz');
  expect(basename(await packCheckout(checkout))).toBe(`tocsin-${version}-linux-${process.arch}.tar.gz`);
  expect(await sum()).toBe(first);
});

test('the tarball needs nothing of the machine: it says its version, checks a config, runs as a daemon and stops', async ({
  onTestFinished,
}) => {
  const { world, file, environment } = await startWorldFor({ onFinished: onTestFinished });
  // No Node, neither npm.
  const bare = { ...environment, PATH: '/usr/bin:/bin', TOCSIN_CONFIG: file };
  const ended = async (...args: string[]) => {
    const program = startCommand([command, ...args], bare, onTestFinished);
    return { code: await program.ended, stdout: program.stdout(), stderr: program.stderr() };
  };
  expect(await ended('--version')).toEqual({ code: 0, stdout: said, stderr: '' });
  expect(await ended('check')).toMatchObject({ code: 0 });
  const daemon = startCommand([command, 'run'], bare, onTestFinished);
  await until('it works', () => daemon.log('started').length > 0);
  expect(daemon.log('started')[0]).toMatchObject({ version, revision: said.slice(version.length + 2, -2) });
  world.critical('Vault', 1);
  await world.balanced();
  daemon.signal('SIGTERM');
  expect(await daemon.ended).toBe(0);
  expect(daemon.stderr()).toBe('');
});
