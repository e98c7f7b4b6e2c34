/** Redis servers for tests that restart, freeze or configure them; the shared one of the test run stays untouched. */
import { spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../support/until.ts';

const listenOn = async (port: number): Promise<Server> => {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
};

/** Not one that the system gives by itself: another test may have it by then, and a connection to it may come from it, too. */
export const freePort = async (): Promise<number> => {
  const port = randomInt(11_000, 22_000);
  const server = await listenOn(port).catch(() => undefined);
  if (!server) return freePort();
  server.close();
  await once(server, 'close');
  return port;
};

/** Whether anything listens there: a Redis with TLS has no answer to plain words. */
const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });

/** Whether a Redis answers there at all, be it with a refusal. */
const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket
      .on('data', () => socket.destroy())
      .on('error', () => {})
      .on('close', () => resolve(socket.bytesRead > 0));
  });

export interface OwnRedis {
  port: number;
  directory: string;
  kill(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Suspends it and lets it go on: it answers nothing, and its connections stay open. */
  freeze(): void;
  thaw(): void;
  /** Starts it again on the same port with the same data. */
  start(): Promise<void>;
  remove(): Promise<void>;
}

type Arguments = (port: number, directory: string) => Promise<string[]>;

const own = async (argumentsFor: Arguments, isUp = answers): Promise<OwnRedis> => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-redis-'));
  const port = await freePort();
  const args = await argumentsFor(port, directory);
  const launch = () => spawn('redis-server', args, { stdio: 'ignore' });
  let server = launch();
  let running = true;
  await until('redis-server answers', () => isUp(port)).catch((error: unknown) => {
    server.kill('SIGKILL');
    throw error;
  });
  const kill = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    if (!running) return;
    running = false;
    // Ctrl-C in a terminal ends every process of the group.
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, 'exit');
    server.kill(signal);
    await exited;
  };
  return {
    port,
    directory,
    kill,
    freeze: () => void server.kill('SIGSTOP'),
    thaw: () => void server.kill('SIGCONT'),
    start: async () => {
      server = launch();
      running = true;
      await until('redis-server answers again', () => isUp(port));
    },
    remove: async () => {
      await kill('SIGKILL');
      await rm(directory, { recursive: true, force: true });
    },
  };
};

/** A redis-server on a free loopback port in a directory of its own. */
export const ownRedis = (...args: string[]): Promise<OwnRedis> =>
  own(async (port, directory) => ['--port', String(port), '--dir', directory, '--save', '', ...args]);

/** Why tests with TLS are skipped; undefined where this redis-server was built with it: it then misses a certificate. */
export const lacksTls = (): string | undefined => {
  const { stdout } = spawnSync('redis-server', ['--port', '0', '--tls-port', '1'], { encoding: 'utf8' });
  return stdout.includes('tls-cert-file') ? undefined : 'this redis-server was built without TLS';
};

/** The same with TLS on its port; `tls` are its settings. */
export const ownTlsRedis = (tls: readonly string[], ...args: string[]): Promise<OwnRedis> =>
  own(
    async (port, directory) => [
      ...['--port', '0', '--tls-port', String(port), ...tls, '--dir', directory, '--save', '', ...args],
    ],
    listens,
  );

/** A sentinel that alone watches over `master`, under the name `mymaster`. `settings`: further lines; `port` may be another. */
export const ownSentinel = (
  master: OwnRedis,
  settings: readonly string[] = [],
  portKey: 'port' | 'tls-port' = 'port',
): Promise<OwnRedis> =>
  own(
    async (port, directory) => {
      // It rewrites its settings, so they have to be in a file.
      const file = join(directory, 'sentinel.conf');
      const ports = portKey === 'port' ? `port ${port}` : `port 0\ntls-port ${port}`;
      const first = settings.filter((line) => !line.startsWith('sentinel '));
      const watched = [
        `sentinel monitor mymaster 127.0.0.1 ${master.port} 1`,
        ...settings.filter((line) => !first.includes(line)),
      ];
      await writeFile(file, `${[ports, ...first, ...watched].join('\n')}\n`);
      return [file, '--sentinel'];
    },
    portKey === 'port' ? answers : listens,
  );
