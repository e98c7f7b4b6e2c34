/** What a Redis user must be allowed: all that we and BullMQ send, and no more than the documents say. */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { checkRedis } from '../../src/redis/check.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import { NEEDED } from '../../src/redis/permissions.ts';
import { createSecret } from '../../src/secret.ts';
import { ownRedis } from '../support/redis-server.ts';
import { documentedUser, documentText, refusals } from '../support/redis-user.ts';
import { until } from '../support/until.ts';

const SOURCES = fileURLToPath(new URL('../../src', import.meta.url));
/** Tocsin uses neither BullMQ's relay nor flows, whose dependencies are paginated. */
const SCRIPTS = join(dirname(createRequire(import.meta.url).resolve('bullmq')), 'scripts');

const textsIn = (folder: string, end: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(end) && !/^(relay|paginate)/.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8'));

/** Of scripts; also where one is chosen: `local pushCmd = lifo and 'RPUSH' or 'LPUSH'`. */
const COMMAND =
  /(?:\brcall|redis\.p?call)\(\s*['"]([A-Za-z]+)['"]|(?:[cC]ommand|Cmd) = .*?['"]([A-Z]+)['"](?: or ['"]([A-Z]+)['"])?/g;

const commandsOf = (texts: readonly string[]): string[] => {
  const found = texts.flatMap((text) => [...text.matchAll(COMMAND)].flatMap(([, ...names]) => names));
  return [...new Set(found.flatMap((name) => name?.toLowerCase() ?? []))].sort();
};

test.each([
  ['of ours', commandsOf(textsIn(SOURCES, '.ts')), 20],
  ["of BullMQ's", commandsOf(textsIn(SCRIPTS, '.js')), 45],
])('every command in a script %s is tried', (_whose, found, least) => {
  expect(found.length).toBeGreaterThan(least);
  expect(found.filter((command) => !NEEDED.includes(command))).toEqual([]);
});

test('the documents allow exactly what is tried', () => {
  const allowed = documentedUser('{tocsin}', 'x').filter((rule) => rule.startsWith('+'));
  expect(allowed.map((rule) => rule.slice(1)).toSorted()).toEqual(NEEDED.toSorted());
});

test('on a Cluster the documents allow what its client needs, too', async () => {
  const node = await ownRedis('--appendonly', 'yes', '--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1');
  const owner = new Redis(node.port);
  onTestFinished(async () => {
    owner.disconnect();
    await node.remove();
  });
  await owner.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  const [, more = ''] = /A Cluster needs `([^`]+)`/.exec(documentText()) ?? [];
  const rules = more.replaceAll("'", '').split(' ');
  expect(rules).toContain('+asking');
  await owner.call('ACL', 'SETUSER', ...documentedUser('{tocsin}', 'secret'), ...rules);
  await until('it serves all slots', async () => /cluster_state:ok/.test(String(await owner.call('CLUSTER', 'INFO'))));
  const settings = {
    cluster: { nodes: [`127.0.0.1:${node.port}`] },
    username: 'tocsin',
    password: createSecret('secret'),
  };
  const redis = connectRedis(settings, { role: 'check', onError: () => {} });
  onTestFinished(() => redis.disconnect());
  expect(await checkRedis(redis, { address: 'HERE', prefix: '{tocsin}' })).toEqual([]);
  expect(await refusals(owner)).toEqual([]);
});

const server = await ownRedis('--appendonly', 'yes');
const admin = new Redis(server.port);
afterAll(async () => {
  admin.disconnect();
  await server.remove();
});

const PLACE = { address: 'HERE', prefix: '{tocsin}' };
const findingsOf = async (...rules: string[]): Promise<string[]> => {
  await admin.call('ACL', 'SETUSER', ...documentedUser(PLACE.prefix, 'secret'), ...rules);
  const redis = new Redis({ port: server.port, username: 'tocsin', password: 'secret', maxRetriesPerRequest: null });
  const findings = await checkRedis(redis, PLACE);
  redis.disconnect();
  return findings.filter(({ name }) => name === 'forbidden').map(({ message }) => message);
};

test('the documented user lacks nothing, and leaves nothing behind', async () => {
  expect(await findingsOf()).toEqual([]);
  expect(await admin.keys('*')).toEqual([]);
});

test.each(NEEDED)('a user without %s learns so by name', async (command) => {
  const name = command.replace('|', ' ').toUpperCase();
  expect(await findingsOf(`-${command}`)).toEqual([
    `Redis at HERE does not let our user run ${name}; docs/redis-keys.md has the ACL rule that it needs`,
  ]);
});
