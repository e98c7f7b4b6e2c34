/** The Redis of docker-compose.yml: its commands, run here, on a directory in the place of the volume. */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../../src/config/load.ts';
import { freePort } from '../support/redis-server.ts';
import { until } from '../support/until.ts';

interface Compose {
  services: Record<
    'redis-password' | 'redis' | 'tocsin',
    { entrypoint?: string[]; command: string | string[]; healthcheck: { test: string[] }; volumes: string[] }
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

test('the password is made once, and Redis lets nobody in without it', async () => {
  const { services, directory, here, generate } = await setUp();
  const password = await generate();
  expect(password).toMatch(/^[0-9a-f]{64}$/);
  expect(await generate()).toBe(password);
  // The users of Redis and of the daemon are others than the one that made it.
  for (const file of ['password', 'redis.conf']) {
    expect((await stat(join(directory, file))).mode & 0o777).toBe(0o444);
  }

  const port = await freePort();
  const [program = '', ...args] = here(String(services.redis.command)).trim().split(/\s+/);
  const server = spawn(program, [...args, '--port', String(port), '--dir', directory], { stdio: 'ignore' });
  onTestFinished(() => void server.kill('SIGKILL'));
  expect(args.join(' ')).not.toContain(password);
  const [, ...health] = services.redis.healthcheck.test;
  const isHealthy = (): Promise<boolean> =>
    run('sh', ['-c', here(String(health)).replaceAll('redis-cli', `redis-cli -p ${port}`)]).then(
      () => true,
      () => false,
    );
  await until('Redis is healthy', isHealthy);
  const stranger = new Redis({ port, lazyConnect: true, retryStrategy: null });
  stranger.on('error', () => {});
  onTestFinished(() => stranger.disconnect());
  await expect(stranger.get('x')).rejects.toThrow(/NOAUTH/);

  const line = `redis: { url: "redis://:\${file:${PLACE}/password}@redis:6379/0" }`;
  for (const file of ['docker-compose.yml', 'README.md']) expect(await read(file)).toContain(line);
  const small = 'services: [{ name: main, baseUrl: "https://a.example", apiKey: key }]\nchannels: { webhook: {} }\n';
  const { redis } = parseConfig(`${small}${here(line)}`, 'tocsin.yaml', {});
  expect(redis.url?.reveal()).toBe(`redis://:${password}@redis:6379/0`);
});

test('only Redis and the daemon see the password, and they cannot change it', async () => {
  const { text, services } = await setUp();
  for (const name of ['redis', 'tocsin'] as const) {
    expect(services[name].volumes).toContain(`redis-secret:${PLACE}:ro`);
  }
  expect(text.match(new RegExp(`redis-secret:${PLACE}`, 'g'))).toHaveLength(3);
});
