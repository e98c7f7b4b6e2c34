import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { checkRedis } from '../../src/redis/check.ts';
import type { RedisClient } from '../../src/redis/connect.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import { createSecret } from '../../src/secret.ts';
import { createCertificate } from '../support/certificate.ts';
import { freePort, type OwnRedis, ownRedis } from '../support/redis-server.ts';

const PLACE = { address: 'redis.example:6379', prefix: '{tocsin}' };
const HERE = { ...PLACE, address: 'HERE' };
/** Where nobody will answer: long enough to see how connecting fails. */
const SOON = { timeoutMs: 1500 };

const undo: (() => Promise<unknown> | unknown)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

const serve = async (...args: string[]): Promise<OwnRedis> => {
  const server = await ownRedis(...args);
  undo.push(server.remove);
  return server;
};

const connect = (port: number, credentials = ''): RedisClient => {
  const url = createSecret(`redis://${credentials}127.0.0.1:${port}`);
  const redis = connectRedis({ url }, { role: 'check', onError: () => {} });
  undo.push(() => redis.disconnect());
  return redis;
};

const listen = async (server: Server): Promise<number> => {
  undo.push(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
};

/** Speaks just enough of the old protocol to claim what no installed Redis would say. */
const impostor = (info: string): Promise<number> => {
  const answers: Record<string, string> = {
    hello: '-ERR unknown command `HELLO`\r\n',
    info: `$${info.length}\r\n${info}\r\n`,
  };
  const server = createServer((socket) => {
    socket
      .on('error', () => {})
      .on('data', (data) => {
        const commands = data.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)\r\n/g);
        for (const [, command = ''] of commands) socket.write(answers[command.toLowerCase()] ?? '+OK\r\n');
      });
  });
  return listen(server);
};

test('a Redis that keeps everything has no findings', async () => {
  const { port } = await serve('--appendonly', 'yes');
  expect(await checkRedis(connect(port), PLACE)).toEqual([]);
});

test('one that may delete or forget what is queued is named, with the setting to change', async () => {
  const { port } = await serve('--maxmemory', '50mb', '--maxmemory-policy', 'allkeys-lru');
  const findings = await checkRedis(connect(port), PLACE);
  expect(findings.map(({ name }) => name)).toEqual(['eviction', 'append-only']);
  expect(findings[0]?.message).toMatch(
    /is allkeys-lru: .* deletes queued deliveries .* Set maxmemory-policy to noeviction/,
  );
  expect(findings[1]?.message).toMatch(/is lost\. Set appendonly to yes/);
});

test('one that is too old is named with the version that is needed', async () => {
  const port = await impostor('redis_version:6.0.16\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n');
  expect(await checkRedis(connect(port), PLACE)).toEqual([
    { name: 'version', message: expect.stringMatching(/6\.0\.16 is too old .* Use 6\.2 or newer/) },
  ]);
});

test('what a Redis does not say could not be checked', async () => {
  const port = await impostor('redis_version:7.2.0\r\n');
  expect((await checkRedis(connect(port), PLACE)).map(({ message }) => message)).toEqual([
    expect.stringMatching(/^maxmemory-policy could not be checked/),
    expect.stringMatching(/^appendonly could not be checked/),
  ]);
});

test('a user who may not ask learns so: BullMQ has to ask, too', async () => {
  const server = await serve();
  await connect(server.port).call('ACL', 'SETUSER', 'limited', 'on', '>pass', '~*', '&*', '+@all', '-info');
  const findings = await checkRedis(connect(server.port, 'limited:pass@'), PLACE);
  expect(findings).toEqual([
    { name: 'unreadable', message: expect.stringMatching(/could not be checked.*NOPERM/) },
    { name: 'forbidden', message: expect.stringMatching(/does not let our user run INFO; /) },
  ]);
});

test('keys that our user may not write are named', async () => {
  const server = await serve('--appendonly', 'yes');
  await connect(server.port).call('ACL', 'SETUSER', 'elsewhere', 'on', '>pass', '~other:*', '+@all');
  const findings = await checkRedis(connect(server.port, 'elsewhere:pass@'), PLACE);
  expect(findings).toEqual([
    { name: 'forbidden', message: expect.stringMatching(/does not let our user read and write keys .* \{tocsin\}: /) },
  ]);
});

test('commands that a server does not have, as many as there are, are named', async () => {
  const renamed = ['hvals', 'rename', 'zpopmin'].flatMap((command) => ['--rename-command', command, '']);
  const server = await serve('--appendonly', 'yes', ...renamed);
  const findings = await checkRedis(connect(server.port), PLACE);
  expect(findings.map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /^Redis at redis\.example:6379 does not let our user run HVALS, RENAME, ZPOPMIN; docs\/redis/,
    ),
  ]);
});

test('a Redis that takes no writes now is no mistake of the config', async () => {
  const server = await serve('--appendonly', 'yes', '--maxmemory', '1', '--maxmemory-policy', 'noeviction');
  expect(await checkRedis(connect(server.port), PLACE)).toEqual([
    { name: 'unwritable', message: expect.stringMatching(/takes no writes now \(OOM .*until it does\.$/) },
  ]);
});

test('a Redis that is not there is a finding, not a wait without end', async () => {
  const findings = await checkRedis(connect(await freePort()), PLACE, SOON);
  expect(findings).toEqual([
    {
      name: 'unreachable',
      message: expect.stringMatching(
        /does not answer: redis\.example:6379 refuses connections \(ECONNREFUSED\): start it, or /,
      ),
    },
  ]);
});

const openAt = (url: string): RedisClient => {
  const redis = connectRedis({ url: createSecret(url) }, { role: 'check', onError: () => {} });
  undo.push(() => redis.disconnect());
  return redis;
};

test.each([
  ['a wrong password', ':wr0ng@', '', /^Redis at HERE refuses our user and password \(WRONGPASS\)/],
  ['no password where one is needed', '', '', /^Redis at HERE asks for a password.* \(NOAUTH\)$/],
  [
    'a database that there is not',
    ':right@',
    '/99',
    /^Redis at HERE does not have the database .*\(DB index is out of range\)$/,
  ],
  [
    'a user who may not choose one',
    'tied:right@',
    '/3',
    /^Redis at HERE does not let our user choose the database .*\(NOPERM\)$/,
  ],
])('%s is named at once, and is no silence', async (_what, credentials, database, said) => {
  const { port } = await serve(
    '--requirepass',
    'right',
    '--user',
    'tied',
    'on',
    '>right',
    '~*',
    '&*',
    '+@all',
    '-select',
  );
  const redis = openAt(`redis://${credentials}127.0.0.1:${port}${database}`);
  expect(await checkRedis(redis, HERE)).toEqual([{ name: 'refused', message: expect.stringMatching(said) }]);
});

test('a question that ended with its connection is no answer: what refused the connection is named', async () => {
  const { port } = await serve('--requirepass', 'right');
  const redis = openAt(`redis://:wr0ng@127.0.0.1:${port}`);
  // On a slow machine this comes before the refusal.
  redis.info = () => Promise.reject(new Error('Connection is closed.'));
  expect(await checkRedis(redis, HERE)).toEqual([
    { name: 'refused', message: expect.stringMatching(/refuses our user and password \(WRONGPASS\)/) },
  ]);
});

test('a node of a Cluster that refuses us is named, too', async () => {
  const { port } = await serve('--cluster-enabled', 'yes', '--requirepass', 'right');
  const settings = { cluster: { nodes: [`127.0.0.1:${port}`] }, password: createSecret('wr0ng') };
  const redis = connectRedis(settings, { role: 'check', onError: () => {} });
  undo.push(() => redis.disconnect());
  expect(await checkRedis(redis, HERE)).toEqual([
    { name: 'refused', message: expect.stringMatching(/^Redis at HERE refuses our user and password/) },
  ]);
});

test('a certificate that nobody vouches for is told apart from a port that is closed', async () => {
  const server = createTlsServer(createCertificate()).listen(0, '127.0.0.1');
  undo.push(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  expect(await checkRedis(openAt(`rediss://127.0.0.1:${port}`), HERE, SOON)).toEqual([
    { name: 'unreachable', message: expect.stringMatching(/HERE has a certificate that nobody .*SELF_SIGNED/) },
  ]);
});

test('a server that is no Redis is called so', async () => {
  const web = createServer((socket) => {
    socket.on('error', () => {}).on('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  });
  expect(await checkRedis(connect(await listen(web)), HERE)).toEqual([
    { name: 'refused', message: 'Redis at HERE answers, but not as a Redis does: correct redis.url' },
  ]);
});
