/** docker-compose.yml: its commands, run here in its environment, with directories in the place of the volumes. */
import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { MAIN, startCommand } from '../support/program.ts';
import { freePort } from '../support/redis-server.ts';
import { until } from '../support/until.ts';

interface Compose {
  services: Record<
    'redis-password' | 'redis' | 'tocsin',
    {
      entrypoint: string[];
      command: string | string[];
      healthcheck: { test: string[] };
      environment: Record<string, string | null>;
      volumes: string[];
      ports: string[];
    }
  >;
}

const read = (file: string): Promise<string> => readFile(new URL(`../../${file}`, import.meta.url), 'utf8');
const run = promisify(execFile);
const PLACE = '/run/redis-secret';

const setUp = async () => {
  const text = await read('docker-compose.yml');
  const { services } = parse(text, { merge: true }) as Compose;
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-compose-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  /** As compose and the container have it. */
  const here = (command: string): string => command.replaceAll('$$', '$').replaceAll(PLACE, directory);
  const generate = async (): Promise<string> => {
    await run('sh', ['-c', here(String(services['redis-password'].command))]);
    return readFile(join(directory, 'password'), 'utf8');
  };
  return { text, services, directory, here, generate };
};

type Where = Awaited<ReturnType<typeof setUp>>;

/** As compose starts it and asks whether it is healthy; gives its port. */
const startRedis = async ({ services, directory, here }: Where): Promise<number> => {
  const port = await freePort();
  const [program = '', ...args] = here(String(services.redis.command)).trim().split(/\s+/);
  const server = spawn(program, [...args, '--port', String(port), '--dir', directory], { stdio: 'ignore' });
  onTestFinished(() => void server.kill('SIGKILL'));
  expect(args.join(' ')).not.toContain(await readFile(join(directory, 'password'), 'utf8'));
  const [, ...health] = services.redis.healthcheck.test;
  const isHealthy = (): Promise<boolean> =>
    run('sh', ['-c', here(String(health)).replaceAll('redis-cli', `redis-cli -p ${port}`)]).then(
      () => true,
      () => false,
    );
  await until('Redis is healthy', isHealthy);
  return port;
};

test('the password is made once, and Redis lets nobody in without it', async () => {
  const where = await setUp();
  const { directory, generate } = where;
  const password = await generate();
  expect(password).toMatch(/^[0-9a-f]{64}$/);
  expect(await generate()).toBe(password);
  // The users of Redis and of the daemon are others than the one that made it.
  for (const file of ['password', 'redis.conf']) {
    expect((await stat(join(directory, file))).mode & 0o777).toBe(0o444);
  }

  const port = await startRedis(where);
  const stranger = new Redis({ port, lazyConnect: true, retryStrategy: null });
  stranger.on('error', () => {});
  onTestFinished(() => stranger.disconnect());
  await expect(stranger.get('x')).rejects.toThrow(/NOAUTH/);
});

test('only Redis and the daemon see the password, and they cannot change it', async () => {
  const { text, services } = await setUp();
  for (const name of ['redis', 'tocsin'] as const) {
    expect(services[name].volumes).toContain(`redis-secret:${PLACE}:ro`);
  }
  expect(text.match(new RegExp(`redis-secret:${PLACE}`, 'g'))).toHaveLength(3);
});

/** What the Dockerfile sets for every container. */
const imageEnvironment = async (): Promise<Record<string, string>> => {
  const [, variables = ''] = /^ENV ((?:.*\\\n)*.*)$/m.exec(await read('Dockerfile')) ?? [];
  return Object.fromEntries(variables.split(/\s+/).flatMap((pair) => (/^\w+=/.test(pair) ? [pair.split('=', 2)] : [])));
};

/** The container of the daemon: its entrypoint and its environment, without tini; a `tocsin` that runs the sources. */
const container = async (where: Where) => {
  const { tocsin } = where.services;
  const port = await startRedis(where);
  const place = (name: string): string => join(where.directory, name);
  for (const name of ['data', 'etc', 'bin']) await mkdir(place(name));
  await writeFile(place('bin/tocsin'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`, { mode: 0o755 });
  const waiting = fileURLToPath(new URL('../../deploy/wait-for-config.sh', import.meta.url));
  await symlink(waiting, place('bin/wait-for-config'));
  const given = { SLACK_TOKEN: 'xoxb-1', TOCSIN_API_KEY: 'key' };
  const passed = Object.entries(tocsin.environment).map(([name, value]) => [name, value ?? Object(given)[name]]);
  const here = (value: string): string =>
    where
      .here(value)
      .replace('@redis:6379', `@127.0.0.1:${port}`)
      .replace(/^(0\.0\.0\.0|127\.0\.0\.1):\d+$/, '$1:0')
      .replace(/^\/(etc|data)\b(\/tocsin\b)?/, (_, name: string) => place(name));
  const environment = Object.fromEntries(
    [...Object.entries(await imageEnvironment()), ...passed].flatMap(([name, value]) =>
      value === undefined ? [] : [[name, here(value)]],
    ),
  );
  const PATH = `${place('bin')}:${process.env.PATH}`;
  const [, , ...command] = [...tocsin.entrypoint, ...tocsin.command].map((word) => word.replaceAll('$$', '$'));
  return {
    port,
    config: place('etc/tocsin.yaml'),
    data: place('data/data'),
    command,
    environment: { ...environment, PATH },
  };
};

test('the smallest config of the README uses this Redis, and its page can be reached from outside', async () => {
  const where = await setUp();
  const password = await where.generate();
  const { port, config, data, command, environment } = await container(where);
  const daemon = startCommand(command, environment);
  await until('it says what to do', () => daemon.stdout().includes('The daemon waits for the file'));
  expect(daemon.stdout()).toContain('There is no config/tocsin.yaml yet. Make it, ');
  await writeFile(config, 'services: []\n');
  await until('it names the mistake', () => daemon.stdout().includes('must list at least one service'), 60_000);
  await until('it waits again', () => daemon.stdout().includes('The daemon waits until the config is right.'));
  expect(daemon.process.exitCode).toBeNull();

  const [, smallest = ''] = /```yaml\n(.*?)```/s.exec(await read('README.md')) ?? [];
  await writeFile(config, smallest.replace('https://monitor.example.com/api', 'http://127.0.0.1:9/api'));
  const started = await until('the daemon has started', () => daemon.log('started')[0], 60_000);
  const { port: page } = new URL(String(started.ops));
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((each) => each?.family === 'IPv4' && !each.internal);
  const response = await fetch(`http://${outside?.address ?? '127.0.0.1'}:${page}/livez`);
  expect(response.status).toBe(200);
  const redis = new Redis({ port, password });
  onTestFinished(() => redis.disconnect());
  await until('it beats in this Redis', async () => (await redis.keys('{tocsin}:*')).length > 0);
  expect((await readdir(data)).filter((name) => name.startsWith('redis'))).toEqual([]);

  const check = startCommand([...command.slice(0, -1), 'check'], environment);
  expect({ code: await check.ended, said: check.stdout().split('\n') }).toMatchObject({
    code: 0,
    said: expect.arrayContaining([
      'redis: one server, by TOCSIN_REDIS_URL',
      `dataDir: ${data} (from TOCSIN_DATA_DIR)`,
      'ops: 0.0.0.0:0 (from TOCSIN_OPS_LISTEN); probes at 127.0.0.1:0 (from TOCSIN_OPS_PROBES)',
    ]),
  });
  daemon.signal('SIGTERM');
  expect(await daemon.ended).toBe(0);
});

test('what the service publishes is what the daemon listens on', async () => {
  const { services } = await setUp();
  const { TOCSIN_OPS_LISTEN, TOCSIN_OPS_PROBES, TOCSIN_DATA_DIR } = await imageEnvironment();
  expect(services.tocsin.ports).toEqual([expect.stringMatching(/:9464$/)]);
  expect(TOCSIN_OPS_LISTEN).toBe('0.0.0.0:9464');
  // Nobody who holds connections of the page can make the container unhealthy.
  expect(TOCSIN_OPS_PROBES).toBe('127.0.0.1:9466');
  expect(await read('Dockerfile')).toContain(`'http://${TOCSIN_OPS_PROBES}/livez'`);
  expect(services.tocsin.volumes).toContain('data:/data');
  expect(TOCSIN_DATA_DIR).toBe('/data/data');
});

test('podman-compose takes it, also without .env: no file of variables, and names that are passed on', async () => {
  const { text, services } = await setUp();
  expect(text).not.toContain('env_file');
  const example = await read('config/tocsin.example.yaml');
  const named = [...example.matchAll(/^[^#\n]*\$\{([A-Z_]+)\}/gm)].map(([, name]) => name);
  const passedOn = Object.entries(services.tocsin.environment).flatMap(([name, value]) =>
    value === null ? [name] : [],
  );
  expect(passedOn.toSorted()).toEqual(named.toSorted());
});

test('the image bears the version of the program', async () => {
  const { version, description } = JSON.parse(await read('package.json')) as Record<string, string>;
  const dockerfile = await read('Dockerfile');
  expect(dockerfile).toContain(`org.opencontainers.image.version="${version}"`);
  expect(dockerfile).toContain(`org.opencontainers.image.description="${description}"`);
});
