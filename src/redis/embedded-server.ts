/** One redis-server process and its files under `DATADIR/redis`: settings, address, data and log; started, waited for, ended. */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { type FileHandle, readFile, rename, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { UnavailableError, UsageError } from '../errors.ts';
import { makePrivateDirectory, openPrivateLog, replacePrivateFile } from '../private-file.ts';
import { createSecret } from '../secret.ts';
import { askRedis } from './connect.ts';
import { isAlive } from './pid.ts';
import type { SingleRedis } from './settings.ts';

/** Written to a file for the next daemon, which may have to end a server that was left behind. */
export type EmbeddedAddress = { socketPath: string } | { port: number; password: string };

/** The kernel's limit is 108 bytes on Linux and 104 on macOS, the closing zero included. */
const LONGEST_SOCKET_PATH = 100;
const LARGEST_LOG_BYTES = 1_000_000;

export const embeddedFiles = (dataDir: string) => {
  const directory = join(resolve(dataDir), 'redis');
  const file = (name: string): string => join(directory, name);
  return {
    directory,
    settings: file('redis.conf'),
    address: file('address.json'),
    pid: file('redis.pid'),
    log: file('redis.log'),
    socket: file('redis.sock'),
  };
};
export type EmbeddedFiles = ReturnType<typeof embeddedFiles>;

/** Creates the directory, readable by its owner alone, and rotates a long log. */
export const prepareFiles = async ({ directory, log }: EmbeddedFiles): Promise<void> => {
  await makePrivateDirectory(directory);
  const size = await stat(log).then(
    (stats) => stats.size,
    () => 0,
  );
  if (size > LARGEST_LOG_BYTES) await rename(log, `${log}.1`);
};

const freePort = async (): Promise<number> => {
  const server = createServer();
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject).listen(0, '127.0.0.1', listening.resolve);
  await listening.promise;
  const address = server.address();
  await new Promise((done) => server.close(done));
  if (address === null || typeof address === 'string') throw new Error('no free port on 127.0.0.1');
  return address.port;
};

/** A unix socket; where its path would be too long, a loopback port with a random password. */
export const chooseAddress = async ({ socket }: EmbeddedFiles): Promise<EmbeddedAddress> =>
  Buffer.byteLength(socket) <= LONGEST_SOCKET_PATH
    ? { socketPath: socket }
    : { port: await freePort(), password: randomBytes(24).toString('hex') };

export const connectionTo = (address: EmbeddedAddress): SingleRedis =>
  'socketPath' in address ? address : { url: createSecret(`redis://:${address.password}@127.0.0.1:${address.port}`) };

const quote = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;

const listenOn = (address: EmbeddedAddress): string[] =>
  'socketPath' in address
    ? ['port 0', `unixsocket ${quote(address.socketPath)}`, 'unixsocketperm 700']
    : [`port ${address.port}`, 'bind 127.0.0.1', `requirepass ${address.password}`];

/** A file and not arguments, so that the password is in no process list. */
const settingsText = ({ directory, pid }: EmbeddedFiles, address: EmbeddedAddress): string =>
  [
    '# Written at every start; changes are lost.',
    ...listenOn(address),
    'protected-mode yes',
    'daemonize no',
    `pidfile ${quote(pid)}`,
    `dir ${quote(directory)}`,
    'logfile ""',
    // A write is in the file before it is acknowledged, and on disk within a second: a power cut costs at most that
    // second, a killed process nothing.
    'appendonly yes',
    'appendfsync everysec',
    'save ""',
    // When memory is full, Redis refuses new work and deletes none that waits.
    'maxmemory-policy noeviction',
    // An alert's hash is one piece of memory, a fifth smaller. Redis 7 calls it `hash-max-listpack-value`, and knows both.
    'hash-max-ziplist-value 512',
    '',
  ].join('\n');

export const writeSettings = async (files: EmbeddedFiles, address: EmbeddedAddress): Promise<void> => {
  await replacePrivateFile(files.address, `${JSON.stringify(address)}\n`);
  await replacePrivateFile(files.settings, settingsText(files, address));
};

/** Where an earlier server listened; undefined where there was none or nothing can be read. */
export const earlierAddress = async ({ address }: EmbeddedFiles): Promise<EmbeddedAddress | undefined> => {
  try {
    const earlier: Partial<Record<'socketPath' | 'port' | 'password', unknown>> = JSON.parse(
      await readFile(address, 'utf8'),
    );
    const { socketPath, port, password } = earlier;
    if (typeof socketPath === 'string') return { socketPath };
    return typeof port === 'number' && typeof password === 'string' ? { port, password } : undefined;
  } catch {
    return undefined;
  }
};

/** The process id that Redis noted; undefined where it noted none. */
export const notedPid = async ({ pid }: EmbeddedFiles): Promise<number | undefined> => {
  const noted = Number(await readFile(pid, 'utf8').catch(() => ''));
  return Number.isInteger(noted) && noted > 1 ? noted : undefined;
};

/** The last lines of the log from `offset` on, in one line: why a server did not start. */
const lastWords = async ({ log }: EmbeddedFiles, offset: number): Promise<string> => {
  const text = (await readFile(log).catch(() => Buffer.alloc(0))).subarray(offset).toString('utf8');
  return text.split('\n').filter(Boolean).slice(-3).join(' | ') || 'it wrote nothing';
};

/** Opened for appending; the server's output goes there. */
export const openLog = async ({ log }: EmbeddedFiles) => {
  const handle = await openPrivateLog(log);
  return { handle, offset: (await handle.stat()).size };
};

export interface EmbeddedLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const ANSWER_TIMEOUT_MS = 2000;
/** A server that neither answers, ends nor loads data for this long is given up. */
const SILENCE_LIMIT_MS = 30_000;
const LOADING_NOTICE_MS = 5000;
const KILL_TIMEOUT_MS = 2000;

const notInstalled = (binary: string): UsageError =>
  new UsageError(
    `${binary} is not installed, and without redis.url the daemon runs a private one. Install it (Debian, Ubuntu: apt-get install redis-server; Alpine: apk add redis; macOS: brew install redis) or set redis.url in the config`,
  );

const cannotStart = (binary: string, error: NodeJS.ErrnoException): UsageError =>
  error.code === 'ENOENT'
    ? notInstalled(binary)
    : new UsageError(`${binary} cannot be started (${error.code})`, { cause: error });

/** The version of the program that would be started, in its own words. Throws a `UsageError` where there is none. */
export const installedVersion = async (binary: string): Promise<string> => {
  const { stdout } = await promisify(execFile)(binary, ['--version'], { timeout: ANSWER_TIMEOUT_MS }).catch(
    (error: NodeJS.ErrnoException) => {
      throw cannotStart(binary, error);
    },
  );
  return /\bv=(\S+)/.exec(stdout)?.[1] ?? 'of an unknown version';
};

const spawned = async (child: ChildProcess, binary: string): Promise<number> => {
  const started = Promise.withResolvers<void>();
  child.once('spawn', started.resolve).once('error', started.reject);
  await started.promise.catch((error: NodeJS.ErrnoException) => {
    throw cannotStart(binary, error);
  });
  if (child.pid === undefined) throw new UsageError(`${binary} cannot be started`);
  return child.pid;
};

/**
 * Starts it in its own process group: Ctrl-C in a terminal ends every process of the foreground group, and Redis has to
 * outlive the daemon's last write. It inherits the lock of its files, for the time after a killed daemon.
 */
export const spawnServer = async (files: EmbeddedFiles, binary: string, lock: FileHandle | undefined) => {
  const { handle, offset } = await openLog(files);
  try {
    const inherited = lock === undefined ? [] : [lock.fd];
    const stdio = ['ignore' as const, handle.fd, handle.fd, ...inherited];
    const child = spawn(binary, [files.settings], { detached: true, stdio });
    const exited = new Promise<string>((resolve) => {
      child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
    });
    const pid = await spawned(child, binary);
    // Otherwise a command that forgets to stop it would never exit.
    child.unref();
    return {
      pid,
      /** `exit code 1` or `signal SIGKILL`. */
      exited,
      /** Why it ended, in its own words. */
      lastWords: (): Promise<string> => lastWords(files, offset),
      /** Keeps this program running until the server has ended. */
      ref: (): void => child.ref(),
    };
  } finally {
    await handle.close();
  }
};

export type ServerProcess = Awaited<ReturnType<typeof spawnServer>>;

/** Which server answers at an address, and how much of its data is not read in yet; undefined where none answers. */
export const stateAt = async (address: EmbeddedAddress) => {
  const info = await askRedis(connectionTo(address), ANSWER_TIMEOUT_MS, (redis) => redis.info()).catch(() => '');
  const field = (name: string): string | undefined => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1];
  const pid = Number(field('process_id'));
  if (!(pid > 1)) return undefined;
  return { pid, loadedPercent: field('loading') === '1' ? (field('loading_loaded_perc') ?? '0') : undefined };
};

/** Whether a new connection gets an answer: a refusal is one, too. */
export const answers = (address: EmbeddedAddress): Promise<boolean> =>
  askRedis(connectionTo(address), ANSWER_TIMEOUT_MS, (redis) => redis.ping()).then(
    () => true,
    (error: Error) => error.name === 'ReplyError',
  );

/** Resolves when this very process answers and has read all data in, however long that takes; `signal` ends the wait. */
export const waitUntilReady = async (
  server: ServerProcess,
  address: EmbeddedAddress,
  log: EmbeddedLog,
  signal: AbortSignal,
): Promise<void> => {
  let end: string | undefined;
  const ended = server.exited.then((how) => {
    end = how;
  });
  let heardAt = performance.now();
  let noticedAt = Number.NEGATIVE_INFINITY;
  for (;;) {
    const state = await stateAt(address);
    if (end !== undefined) throw new UnavailableError(`redis-server ended (${end}): ${await server.lastWords()}`);
    signal.throwIfAborted();
    const now = performance.now();
    if (state?.pid === server.pid) {
      if (state.loadedPercent === undefined) return;
      heardAt = now;
      if (now - noticedAt > LOADING_NOTICE_MS) {
        noticedAt = now;
        log.info({ loadedPercent: Number(state.loadedPercent) }, 'embedded Redis is loading its data');
      }
    }
    if (now - heardAt > SILENCE_LIMIT_MS) throw new UnavailableError('redis-server runs but does not answer');
    await Promise.race([delay(20), ended]);
  }
};

const isGone = async (pid: number, withinMs: number): Promise<boolean> => {
  const deadline = performance.now() + withinMs;
  while (performance.now() < deadline) {
    if (!(await isAlive(pid))) return true;
    await delay(10);
  }
  return !(await isAlive(pid));
};

const send = (pid: number, name: 'SIGTERM' | 'SIGCONT' | 'SIGKILL'): void => {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
};

/**
 * SIGTERM makes Redis shut down and flush its append-only file. A server that does not end in time is killed, which loses
 * nothing that was acknowledged. True when the process is gone.
 */
export const endServer = async (pid: number, timeoutMs: number): Promise<boolean> => {
  send(pid, 'SIGTERM');
  // A suspended process handles SIGTERM only once it continues.
  send(pid, 'SIGCONT');
  return (await isGone(pid, timeoutMs)) || killServer(pid);
};

/** Without its farewell, in which it removes its socket: another server may have that by now. */
export const killServer = (pid: number): Promise<boolean> => {
  send(pid, 'SIGKILL');
  return isGone(pid, KILL_TIMEOUT_MS);
};

/** For one whose process we cannot see. Where it does not end, it keeps the lock of its files. */
export const shutDown = async (address: EmbeddedAddress): Promise<void> => {
  // Its answer is the end of the connection.
  await askRedis(connectionTo(address), ANSWER_TIMEOUT_MS, (redis) => redis.shutdown()).catch(() => {});
};
