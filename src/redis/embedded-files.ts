/** What the embedded Redis keeps under `DATADIR/redis`: its settings, its address, its data and its log. */
import { randomBytes } from 'node:crypto';
import { readFile, rename, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { makePrivateDirectory, openPrivateLog, replacePrivateFile } from '../private-file.ts';
import { createSecret } from '../secret.ts';
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
export const lastWords = async ({ log }: EmbeddedFiles, offset: number): Promise<string> => {
  const text = (await readFile(log).catch(() => Buffer.alloc(0))).subarray(offset).toString('utf8');
  return text.split('\n').filter(Boolean).slice(-3).join(' | ') || 'it wrote nothing';
};

/** Opened for appending; the server's output goes there. */
export const openLog = async ({ log }: EmbeddedFiles) => {
  const handle = await openPrivateLog(log);
  return { handle, offset: (await handle.stat()).size };
};
