/** Redis servers for tests that restart, freeze or configure them; the shared one of the test run stays untouched. */
import { spawn } from 'node:child_process';
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

export const freePort = async (): Promise<number> => {
  const server = await listenOn(0);
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
};

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

const own = async (argumentsFor: Arguments): Promise<OwnRedis> => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-redis-'));
  const port = await freePort();
  const args = await argumentsFor(port, directory);
  const launch = () => spawn('redis-server', args, { stdio: 'ignore' });
  let server = launch();
  let running = true;
  await until('redis-server answers', () => answers(port)).catch((error: unknown) => {
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
      await until('redis-server answers again', () => answers(port));
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

/** A sentinel that alone watches over `master`, under the name `mymaster`. */
export const ownSentinel = (master: OwnRedis): Promise<OwnRedis> =>
  own(async (port, directory) => {
    // It rewrites its settings, so they have to be in a file.
    const file = join(directory, 'sentinel.conf');
    await writeFile(file, `port ${port}\nsentinel monitor mymaster 127.0.0.1 ${master.port} 1\n`);
    return [file, '--sentinel'];
  });
