/** One real redis-server for the whole test run, on a unix socket of its own; each test takes a prefix of its own. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    redisSocket: string;
  }
}

const accepts = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });

export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-test-'));
  const socket = join(directory, 'redis.sock');
  const server = spawn(
    'redis-server',
    ['--port', '0', '--unixsocket', socket, '--dir', directory, '--save', '', '--appendonly', 'no'],
    { stdio: 'ignore' },
  );
  const exited = new Promise<void>((resolve) => {
    server.once('exit', () => resolve());
    server.once('error', () => resolve());
  });
  for (let tries = 0; !(await accepts(socket)); tries += 1) {
    if (tries > 200) throw new Error('redis-server did not start: is it installed? (make setup)');
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  project.provide('redisSocket', socket);
  return async () => {
    server.kill('SIGTERM');
    await exited;
    await rm(directory, { recursive: true, force: true });
  };
};
