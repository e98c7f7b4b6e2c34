import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { UnavailableError, UsageError } from '../../src/errors.ts';
import type { RedisClient } from '../../src/redis/connect.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import { type EmbeddedRedis, type EmbeddedSettings, startEmbeddedRedis } from '../../src/redis/embedded.ts';
import { isAlive } from '../../src/redis/pid.ts';
import type { SingleRedis } from '../../src/redis/settings.ts';
import { CONTAINER, whyNoContainers } from '../support/container.ts';
import { until } from '../support/until.ts';

let dataDir: string;
const undo: (() => Promise<unknown> | unknown)[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'tocsin-embedded-'));
});

afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
  await rm(dataDir, { recursive: true, force: true });
});

const createLog = () => {
  const lines: string[] = [];
  const write = (_fields: object, message: string) => {
    lines.push(message);
  };
  return { lines, info: write, warn: write, error: write };
};

const start = async (settings: Partial<EmbeddedSettings> = {}): Promise<EmbeddedRedis> => {
  const redis = await startEmbeddedRedis({ dataDir, log: createLog(), ...settings });
  undo.push(redis.stop);
  return redis;
};

const connect = (connection: SingleRedis): RedisClient => {
  const redis = connectRedis(connection, { role: 'test', onError: () => {} });
  undo.push(() => redis.disconnect());
  return redis;
};

interface OtherDaemon {
  process: ChildProcess;
  /** Of its redis-server. */
  server: number;
}

const SCRIPT = join(import.meta.dirname, 'embedded-daemon.ts');

/** Starts another daemon in a process of its own; gives the first that it says. */
const launch = async (program: string, ...args: string[]): Promise<{ daemon: ChildProcess; said: string }> => {
  const daemon = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  undo.push(() => daemon.kill('SIGKILL'));
  const [said] = await once(createInterface(daemon.stdout), 'line');
  return { daemon, said };
};

const otherDaemon = async (...args: string[]): Promise<OtherDaemon> => {
  const { daemon, said } = await launch('node', SCRIPT, dataDir, ...args);
  expect(said).toMatch(/^READY \d+$/);
  const server = Number(said.replace('READY ', ''));
  // Killed, a daemon leaves its server behind.
  undo.push(async () => (await isAlive(server)) && process.kill(server, 'SIGKILL'));
  return { process: daemon, server };
};

/** A daemon that was killed with 100 values in its queue; gives the process id of the server that it left behind. */
const orphan = async (): Promise<number> => {
  const { process: daemon, server } = await otherDaemon();
  const redis = connect({ socketPath: join(dataDir, 'redis', 'redis.sock') });
  await redis.rpush('queued', ...Array.from({ length: 100 }, (_, index) => index));
  const exited = once(daemon, 'exit');
  daemon.kill('SIGKILL');
  await exited;
  expect(await isAlive(server)).toBe(true);
  return server;
};

/** Another daemon has the directory now. */
const leaveLease = async (): Promise<void> => {
  const place = { id: 'other', host: 'elsewhere', pid: 1, pids: '', boot: '', isLocked: false };
  await writeFile(join(dataDir, 'tocsin.lock'), JSON.stringify({ ...place, renewedAt: new Date().toISOString() }));
};

/** A redis-server that takes its time to read its data back in; it answers after every 1024 entries. */
const slowBinary = async (): Promise<string> => {
  const binary = join(dataDir, 'slow-redis-server');
  await writeFile(binary, '#!/bin/sh\nexec redis-server "$@" --key-load-delay 100\n');
  await chmod(binary, 0o755);
  return binary;
};

const ENTRIES = 20_000;

const fill = async (): Promise<void> => {
  const redis = await start();
  const client = connect(redis.connection);
  await Promise.all(Array.from({ length: ENTRIES }, (_, index) => client.set(`key${index}`, 'x')));
  await redis.stop();
};

/** What a server says to somebody who does not know the password. */
const asStranger = async (port: number): Promise<string> => {
  const socket = createConnection(port, '127.0.0.1').end('PING\r\n');
  const [answer] = await once(socket, 'data');
  return String(answer);
};

describe('a private server', () => {
  test('keeps every write, evicts nothing, and is open to nobody else', async () => {
    const redis = await start();
    const client = connect(redis.connection);
    for (const [setting, value] of [
      ['appendonly', 'yes'],
      ['appendfsync', 'everysec'],
      ['maxmemory-policy', 'noeviction'],
      ['hash-max-ziplist-value', '512'],
      ['save', ''],
      ['port', '0'],
    ] as const) {
      expect(await client.config('GET', setting)).toEqual([setting, value]);
    }
    expect((await stat(join(dataDir, 'redis'))).mode & 0o777).toBe(0o700);
    expect((await stat(join(dataDir, 'redis', 'redis.sock'))).mode & 0o077).toBe(0);
  });

  test('has everything again at the next start, also what was written last', async () => {
    const first = await start();
    await connect(first.connection).set('last', 'word');
    await first.stop();
    expect(await isAlive(first.pid())).toBe(false);
    expect(await first.exited).toEqual({ reason: 'stopped' });
    const second = await start();
    expect(await connect(second.connection).get('last')).toBe('word');
  });

  test('is not in our process group, so that Ctrl-C does not end it before us', async () => {
    const pid = (await start()).pid();
    const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ');
    expect(Number(fields[2])).toBe(pid);
  });

  test('takes a loopback port and a password where the socket path would be too long', async () => {
    const redis = await start({ dataDir: join(dataDir, 'x'.repeat(100)) });
    const client = connect(redis.connection);
    expect(await client.set('a', '1')).toBe('OK');
    const [, port] = (await client.config('GET', 'port')) as string[];
    expect(await asStranger(Number(port))).toMatch(/^-NOAUTH/);
  });
});

describe('a server that dies', () => {
  test('is started again with its data, and what waits goes on', async () => {
    const log = createLog();
    const redis = await start({ log });
    const client = connect(redis.connection);
    await client.set('kept', 'yes');
    const killed = redis.pid();
    process.kill(killed, 'SIGKILL');
    await until('another server runs', () => redis.pid() !== killed);
    expect(await client.get('kept')).toBe('yes');
    await until('it is said', () => log.lines.includes('embedded Redis is back'));
    // It may be asked while it loads, and says so.
    const said = log.lines.filter((line) => line !== 'embedded Redis is loading its data');
    expect(said).toEqual(['embedded Redis died; starting it again', 'embedded Redis is back']);
  });

  test('is not started again when another daemon has the directory', async () => {
    const redis = await start();
    await leaveLease();
    process.kill(redis.pid(), 'SIGKILL');
    expect(await redis.exited).toMatchObject({ reason: 'lost' });
    await redis.stop();
    expect(await isAlive(redis.pid())).toBe(false);
    expect(await readFile(join(dataDir, 'tocsin.lock'), 'utf8')).toContain('elsewhere');
  });

  test('ends when the program exits without stopping it', async () => {
    const { server } = await otherDaemon('exit');
    await until('the server is gone', async () => !(await isAlive(server)));
  });
});

describe('a server that lives and cannot be reached', () => {
  const silence = { askEveryMs: 20, rounds: 3, most: 8 };

  test('is ended and started again with its data, and that is told', async () => {
    const log = createLog();
    const told: string[] = [];
    const onSilence = (isSilent: boolean): void => void told.push(isSilent ? 'silent' : 'back');
    const redis = await start({ log, silence, onSilence });
    const client = connect(redis.connection);
    await client.set('kept', 'yes');
    const before = redis.pid();
    await rm(join(dataDir, 'redis', 'redis.sock'));
    await until('another server runs', () => told.includes('back'));
    expect(redis.pid()).not.toBe(before);
    expect(await isAlive(before)).toBe(false);
    expect(await client.get('kept')).toBe('yes');
    expect(told).toEqual(['silent', 'back']);
    expect(log.lines[0]).toBe('embedded Redis lives and does not answer; ending it and starting it again');
  });

  test('as it is suspended: so, too', async () => {
    const redis = await start({ silence });
    const before = redis.pid();
    process.kill(before, 'SIGSTOP');
    await until('another server runs', () => redis.pid() !== before);
    expect(await connect(redis.connection).ping()).toBe('PONG');
  });

  test('is given up when starting it again does not help', async () => {
    const redis = await start({ silence: { ...silence, most: 0 } });
    await rm(join(dataDir, 'redis', 'redis.sock'));
    expect(await redis.exited).toMatchObject({ reason: 'lost', message: expect.stringMatching(/does not answer/) });
  });
});

describe('what an earlier daemon left behind', () => {
  test('its server is ended and replaced, and nothing is lost', async () => {
    const pid = await orphan();
    const log = createLog();
    const redis = await start({ log });
    expect(log.lines[0]).toBe('ending an embedded Redis that an earlier daemon left behind');
    expect(await isAlive(pid)).toBe(false);
    expect(await connect(redis.connection).llen('queued')).toBe(100);
  });

  test('so is a server that does not answer any more', async () => {
    const pid = await orphan();
    process.kill(pid, 'SIGSTOP');
    const redis = await start();
    expect(await isAlive(pid)).toBe(false);
    expect(await connect(redis.connection).llen('queued')).toBe(100);
  });

  test('a process that took over the noted id is left alone', async () => {
    const pid = await orphan();
    process.kill(pid, 'SIGTERM');
    await until('the orphan is gone', async () => !(await isAlive(pid)));
    const bystander = spawn('sleep', ['60'], { stdio: 'ignore' });
    undo.push(() => bystander.kill('SIGKILL'));
    await writeFile(join(dataDir, 'redis', 'redis.pid'), `${bystander.pid}\n`);
    await start();
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
  });
});

describe('a second daemon', () => {
  test('is refused while another process has the directory', async () => {
    const { process: daemon } = await otherDaemon();
    const refused = await start().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(UsageError);
    expect(String(refused)).toContain(`process ${daemon.pid} on `);
    expect(String(refused)).toContain(join(dataDir, 'tocsin.lock'));
  });

  test('is refused in the same process too, and harms the first in nothing', async () => {
    const first = await start();
    await expect(start()).rejects.toThrow(/is in use by another Tocsin/);
    expect(await connect(first.connection).ping()).toBe('PONG');
  });

  test.skipIf(whyNoContainers() !== undefined)(
    'is refused in another container of the same host name, too',
    async () => {
      const containers = [1, 2, 3].map(() => launch(...CONTAINER, 'node', SCRIPT, dataDir));
      const said = (await Promise.all(containers)).map((each) => each.said);
      expect(said.filter((each) => each.startsWith('READY'))).toHaveLength(1);
      expect(said.filter((each) => each.includes('is in use by another Tocsin'))).toHaveLength(2);
      const redis = connect({ socketPath: join(dataDir, 'redis', 'redis.sock') });
      expect(await redis.ping()).toBe('PONG');
    },
  );

  test('that takes the directory from a slow one keeps its socket, when the slow one ends', async () => {
    const slow = await start();
    await leaveLease();
    const socket = join(dataDir, 'redis', 'redis.sock');
    await rm(socket);
    await writeFile(socket, 'of the other one');
    await slow.stop();
    expect(await isAlive(slow.pid())).toBe(false);
    expect(await readFile(socket, 'utf8')).toBe('of the other one');
  });

  test('is welcome after the first has stopped', async () => {
    await (await start()).stop();
    await otherDaemon('exit');
  });
});

describe('a server with much to read back in', () => {
  test('is waited for, and the log says why', async () => {
    await fill();
    const log = createLog();
    const redis = await start({ log, binary: await slowBinary() });
    expect(log.lines).toContain('embedded Redis is loading its data');
    expect(await connect(redis.connection).dbsize()).toBe(ENTRIES);
  });

  test('can be given up, and leaves nothing running', async () => {
    await fill();
    const stopping = new AbortController();
    const log = { ...createLog(), info: () => stopping.abort(new Error('stopped while starting')) };
    const binary = await slowBinary();
    await expect(start({ log, binary, signal: stopping.signal })).rejects.toThrow('stopped while starting');
    await expect(readFile(join(dataDir, 'tocsin.lock'))).rejects.toThrow(/ENOENT/);
    expect(await connect((await start()).connection).dbsize()).toBe(ENTRIES);
  });
});

describe('a server that cannot be started', () => {
  test('because it is not installed: says how to get it', async () => {
    const refused = await start({ binary: 'no-such-redis-server' }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(UsageError);
    expect(String(refused)).toMatch(/no-such-redis-server is not installed.*apt-get install redis-server.*redis\.url/);
  });

  test('because its data is damaged: says so in its own words', async () => {
    await fill();
    const files = await readFile(join(dataDir, 'redis', 'appendonlydir', 'appendonly.aof.manifest'), 'utf8');
    const [, increments = ''] = /file (\S+\.incr\.aof)/.exec(files) ?? [];
    await appendFile(join(dataDir, 'redis', 'appendonlydir', increments), 'this is no command\r\n');
    const failed = await start().catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(UnavailableError);
    expect(String(failed)).toMatch(/redis-server ended \(exit code 1\): .*Bad file format/);
  });

  test('because the data directory cannot be made', async () => {
    const file = join(dataDir, 'file');
    await writeFile(file, '');
    await expect(start({ dataDir: join(file, 'data') })).rejects.toThrow(
      /cannot be written \(ENOTDIR\): .*set dataDir/,
    );
  });
});
