/** docs/deployment.md: its commands name what there is, its configs load, and what can run here is run. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { runInProcess } from '../cli/in-process.ts';
import { ownRedis } from '../support/redis-server.ts';
import { COMPOSE_FILES, readCompose, readProject } from './compose-files.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const text = await readProject('docs/deployment.md');

const blocks = (language: string): string[] =>
  [...text.matchAll(/^```(\w+)\n(.*?)^```/gms)].flatMap(([, found, block = '']) => (found === language ? [block] : []));

const lines = blocks('sh')
  .flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'))
  .map((line) => line.replace(/\s+#.*/, '').trim())
  .filter((line) => line !== '');

const scratch = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-document-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
};

describe('commands of Tocsin', () => {
  const inBlocks = lines.flatMap((line) => [...line.matchAll(/(?<!\/)\btocsin ((?:check|status|init)\b.*)$/g)]);
  const inText = [...text.matchAll(/`tocsin\s+([^`]+)`/g)];
  const named = [...inBlocks, ...inText].map(([, words = '']) => words.replaceAll(/\s+/g, ' '));

  test('are there', () => expect(named.length).toBeGreaterThan(8));

  test.each([...new Set(named)].filter((words) => words !== '...'))('tocsin %s', async (words) => {
    const [command = ''] = /^[a-z]+(?: (?:set|list))?/.exec(words) ?? [];
    const { code, out } = await runInProcess([...command.split(' '), '--help'], { env: {} });
    expect(code).toBe(0);
    for (const option of words.match(/--[a-z-]+/g) ?? []) expect(out).toMatch(new RegExp(`^ .*${option}\\b`, 'm'));
  });
});

/** The services of `docker compose VERB [options] SERVICE...`; with exec and run, a command follows the first. */
const servicesIn = (verb: string, rest: readonly string[]): string[] => {
  const words = rest.filter((word, at) => !word.startsWith('-') && rest[at - 1] !== '-v');
  if (verb === 'cp') return words.flatMap((word) => (word.includes(':') ? word.replace(/:.*/, '') : []));
  return ['exec', 'run'].includes(verb) ? words.slice(0, 1) : words;
};

test('commands of compose name files and services that there are', async () => {
  const commands = lines.filter((line) => line.startsWith('docker compose '));
  expect(commands.length).toBeGreaterThan(10);
  for (const command of commands) {
    const [, file = 'docker-compose.yml', verb = '', rest = ''] =
      /^docker compose (?:-f (\S+) )?(up|stop|build|run|exec|cp) ?(.*)$/.exec(command) ?? [];
    expect(COMPOSE_FILES).toContain(file);
    const services = Object.keys((await readCompose(file as (typeof COMPOSE_FILES)[number])).services);
    const named = servicesIn(verb, rest.split(' ').filter(Boolean));
    expect({ command, some: named.length > 0 }).toEqual({ command, some: rest !== '-d' });
    for (const name of named) expect(services, command).toContain(name);
  }
});

test('commands of kubectl name what the manifests have', async () => {
  const manifests = (
    await Promise.all(['namespace', 'tocsin', 'redis'].map((name) => readProject(`deploy/kubernetes/${name}.yaml`)))
  ).flatMap((file) => parseAllDocuments(file).map((document) => document.toJS()));
  const names = manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`.toLowerCase());
  const commands = lines.filter((line) => line.startsWith('kubectl '));
  expect(commands.length).toBeGreaterThan(5);
  for (const command of commands) {
    for (const [, namespace] of command.matchAll(/-n (\S+)/g)) expect(names).toContain(`namespace/${namespace}`);
    for (const [name] of command.matchAll(/\b(?:statefulset|service)\/\S+/g)) expect(names).toContain(name);
    for (const [, pod] of command.matchAll(/\b([a-z-]+)-\d+\b/g)) expect(names).toContain(`statefulset/${pod}`);
    for (const [, folder = ''] of command.matchAll(/-k (\S+)/g)) {
      expect(existsSync(join(ROOT, folder, 'kustomization.yaml'))).toBe(true);
    }
  }
});

test('files that it uses are there', () => {
  const used = lines.flatMap((line) => line.match(/(?<![\w./-])(?:deploy|config|scripts)\/[\w./-]+/g) ?? []);
  expect(used.length).toBeGreaterThan(8);
  const made = ['config/tocsin.yaml', 'deploy/kubernetes/secrets.env'];
  expect(used.filter((file) => !made.includes(file) && !existsSync(join(ROOT, file)))).toEqual([]);
});

test('its links to its own headings lead somewhere', () => {
  const anchors = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
  const linked = [...text.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor);
  expect(linked.length).toBeGreaterThan(4);
  for (const anchor of linked) expect(anchors).toContain(anchor);
});

test.each(blocks('yaml'))('this section fits into a config:\n%s', async (block) => {
  const file = join(await scratch(), 'tocsin.yaml');
  const rest =
    'services: [{ name: main, baseUrl: "https://monitor.example.com", apiKey: k }]\nchannels: { telegram: { botToken: "1:a" } }\n';
  await writeFile(file, rest + block);
  await expect(loadConfig(file, { REDIS_PASSWORD: 'secret' })).resolves.toMatchObject({ services: [{ name: 'main' }] });
});

test('the config of docker-compose.ha.yml loads', async () => {
  const file = join(await scratch(), 'tocsin.yaml');
  const config = (await readProject('deploy/tocsin.ha.yaml')).replace(/password: .*/, 'password: secret');
  await writeFile(file, config);
  const { redis } = await loadConfig(file, { TOCSIN_API_KEY: 'key', SLACK_TOKEN: 'xoxb-1' });
  const { services } = await readCompose('docker-compose.ha.yml');
  const sentinels = Object.keys(services).filter((name) => name.startsWith('sentinel'));
  expect(redis.sentinel?.nodes).toEqual(sentinels.map((name) => `${name}:26379`));
});

describe('a backup of Redis', () => {
  const RESTORE = join(ROOT, 'deploy/restore-redis.sh');

  const backUp = async (): Promise<{ server: Awaited<ReturnType<typeof ownRedis>>; file: string }> => {
    const server = await ownRedis('--appendonly', 'yes', '--repl-diskless-sync-delay', '0');
    onTestFinished(() => server.remove());
    const redis = new Redis({ port: server.port });
    await redis.set('kept', 'yes');
    const [command = ''] = lines.filter((line) => line.startsWith('redis-cli --rdb'));
    const directory = await scratch();
    await run('sh', ['-c', command.replace('redis-cli', `redis-cli -p ${server.port}`)], { cwd: directory });
    await redis.set('later', 'yes');
    await redis.quit();
    return { server, file: join(directory, 'tocsin.rdb') };
  };

  test('is restored by the script, and by itself would be an empty Redis', async () => {
    const { server, file } = await backUp();
    const keys = async (): Promise<string[]> => {
      const redis = new Redis({ port: server.port });
      redis.on('error', () => {});
      onTestFinished(() => redis.disconnect());
      return redis.keys('*');
    };
    await server.kill('SIGTERM');
    await rename(join(server.directory, 'appendonlydir'), join(server.directory, 'aside'));
    await writeFile(join(server.directory, 'dump.rdb'), await readFile(file));
    await server.start();
    expect(await keys()).toEqual([]);

    await server.kill('SIGTERM');
    const { stdout } = await run(RESTORE, [file, server.directory]);
    expect(stdout).toBe(`restore: 1 keys are in ${server.directory}/appendonlydir\n`);
    await server.start();
    expect(await keys()).toEqual(['kept']);
    // What was there is not thrown away, and not overwritten by a second restore.
    expect(existsSync(join(server.directory, 'appendonlydir.before-restore'))).toBe(true);
    await expect(run(RESTORE, [file, server.directory])).rejects.toThrow('remove it first');
  });

  test('that cannot be read leaves everything as it was', async () => {
    const { server, file } = await backUp();
    await server.kill('SIGTERM');
    await writeFile(file, 'REDIS0010 no backup');
    await expect(run(RESTORE, [file, server.directory])).rejects.toThrow('Redis cannot read the backup');
    await server.start();
    const redis = new Redis({ port: server.port });
    onTestFinished(() => redis.disconnect());
    expect((await redis.keys('*')).toSorted()).toEqual(['kept', 'later']);
  });
});
