/** What a container's environment gives for keys that the config leaves out. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { problemsOf, read, SMALL } from './samples.ts';

const ENVIRONMENT = {
  TOCSIN_REDIS_URL: 'redis://:password@redis:6379/0',
  TOCSIN_DATA_DIR: '/data',
  TOCSIN_OPS_LISTEN: '0.0.0.0:9464',
};

const seen = (text: string, environment: Record<string, string> = ENVIRONMENT) => {
  const { redis, dataDir, ops } = read(text, environment);
  return { url: redis.url?.reveal(), dataDir, listen: ops.listen };
};

test('a config that leaves the keys out gets them, one that has them keeps its own', () => {
  const given = { url: ENVIRONMENT.TOCSIN_REDIS_URL, dataDir: '/data', listen: '0.0.0.0:9464' };
  expect(seen(SMALL)).toEqual(given);
  expect(seen(`${SMALL}redis: { prefix: mine }\nops: { publicUrl: "https://a.example" }\n`)).toEqual(given);
  const own = 'redis: { url: "redis://own" }\ndataDir: ./own\nops: { listen: "127.0.0.1:1" }\n';
  expect(seen(`${SMALL}${own}`)).toEqual({ url: 'redis://own', dataDir: './own', listen: '127.0.0.1:1' });
});

test('the address of the probes is one of them, and clashes like one of the file', () => {
  expect(read(SMALL, { TOCSIN_OPS_PROBES: '0.0.0.0:9466' }).ops.probes).toBe('0.0.0.0:9466');
  expect(problemsOf(SMALL, { TOCSIN_OPS_LISTEN: '0.0.0.0:9466', TOCSIN_OPS_PROBES: '127.0.0.1:9466' })).toEqual([
    expect.stringMatching(/^c\.yaml:1:1: ops\.probes: must have another port than ops\.listen, which takes 9466/),
  ]);
});

test('an empty variable counts as none', () => {
  const empty = { TOCSIN_REDIS_URL: '', TOCSIN_DATA_DIR: '', TOCSIN_OPS_LISTEN: '' };
  expect(seen(SMALL, empty)).toEqual({ url: undefined, dataDir: './data', listen: '127.0.0.1:9464' });
});

test('Sentinel and a Cluster of the config stand for themselves', () => {
  for (const redis of ['sentinel: { name: m, nodes: ["a:1"] }', 'cluster: { nodes: ["a:1"] }']) {
    expect(seen(`${SMALL}redis: { ${redis} }\n`).url).toBeUndefined();
  }
});

test('a password may stay in a file; one that cannot be read is named, and no second Redis is started for it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-defaults-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'password');
  const variables = { TOCSIN_REDIS_URL: `redis://:\${file:${file}}@redis:6379/0` };
  expect(problemsOf(SMALL, variables)).toEqual([
    `c.yaml:1:1: redis.url: comes from TOCSIN_REDIS_URL, which names a file that cannot be read: ${file}: there is no such file`,
  ]);
  await writeFile(file, 'hush\n');
  expect(seen(SMALL, variables).url).toBe('redis://:hush@redis:6379/0');
});

test('a wrong value is told by its variable, and never shown', () => {
  const problems = problemsOf(SMALL, { TOCSIN_REDIS_URL: 'http://:hush@redis', TOCSIN_OPS_LISTEN: 'nowhere' });
  expect(problems).toEqual([
    expect.stringMatching(/^c\.yaml:1:1: redis\.url: must be a redis:.* \(got the value of TOCSIN_REDIS_URL\)$/),
    expect.stringMatching(/^c\.yaml:1:1: ops\.listen: .* \(got the value of TOCSIN_OPS_LISTEN\)$/),
  ]);
  expect(problems.join()).not.toContain('hush');
});

test('a section that is no map stays the problem that it is', () => {
  expect(problemsOf(`${SMALL}redis: 5\nops:\n`, ENVIRONMENT)).toEqual(problemsOf(`${SMALL}redis: 5\nops:\n`));
});
