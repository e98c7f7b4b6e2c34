/** A redis-server of a bench's own: with the settings of the one that Tocsin starts. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { cpuOf } from './process.ts';

export interface BenchRedis {
  url: string;
  pid: number;
  client: Redis;
  /** Seconds since its start. */
  cpu(): number;
  /** Calls since the last reset, by command in lower case. */
  commands(): Promise<Map<string, number>>;
  /** The sum of these, without the reset. */
  commandsGiven(): Promise<number>;
  resetCommands(): Promise<void>;
  /** That clients wrote to it since the last reset, texts of scripts included. */
  writtenBytes(): Promise<number>;
  usedBytes(): Promise<number>;
  stop(): Promise<void>;
}

const START_MS = 10_000;

export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
};

const SETTINGS = [
  ...['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', ''],
  ...['--maxmemory-policy', 'noeviction', '--hash-max-ziplist-value', '512'],
];

const answering = async (client: Redis): Promise<void> => {
  for (const end = performance.now() + START_MS; ; await sleep(20)) {
    try {
      await client.ping();
      return;
    } catch (error) {
      if (performance.now() > end) throw error;
    }
  }
};

/** `prefix`: a program that starts it, such as taskset, with its arguments. */
export const startRedis = async (directory: string, prefix: readonly string[] = []): Promise<BenchRedis> => {
  const port = await freePort();
  const [program = '', ...args] = [...prefix, 'redis-server', '--port', String(port), '--dir', directory, ...SETTINGS];
  const server = spawn(program, args, { stdio: 'ignore' });
  const ended = Promise.race([once(server, 'exit'), once(server, 'error')]);
  const client = new Redis({ port, host: '127.0.0.1', maxRetriesPerRequest: 0, retryStrategy: () => 20 });
  client.on('error', () => {});
  const stop = async (): Promise<void> => {
    client.disconnect();
    server.kill('SIGKILL');
    await ended;
  };
  await answering(client).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const pid = server.pid ?? 0;
  const info = async (section: string): Promise<string> => client.info(section);
  const commands = async (): Promise<Map<string, number>> => {
    const found = [...(await info('commandstats')).matchAll(/^cmdstat_(.+?):calls=(\d+)/gm)];
    return new Map(found.map(([, name = '', calls]) => [name, Number(calls)]));
  };
  const commandsGiven = async (): Promise<number> =>
    [...(await commands())].reduce((sum, [name, times]) => (name === 'config|resetstat' ? sum : sum + times), 0);
  return {
    url: `redis://127.0.0.1:${port}/0`,
    pid,
    client,
    cpu: () => cpuOf(pid),
    commands,
    commandsGiven,
    resetCommands: async () => void (await client.config('RESETSTAT')),
    writtenBytes: async () => Number(/^total_net_input_bytes:(\d+)/m.exec(await info('stats'))?.[1]),
    usedBytes: async () => Number(/^used_memory:(\d+)/m.exec(await info('memory'))?.[1]),
    stop,
  };
};
