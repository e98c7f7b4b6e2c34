/** What a bench plays on: the whole daemon in this process, with its private Redis, and the world in another. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attachRedis } from '../src/app/redis.ts';
import { parseConfig } from '../src/config/load.ts';
import type { Config } from '../src/config/schema.ts';
import { collectSecrets } from '../src/config/secrets.ts';
import { createDaemon } from '../src/daemon.ts';
import { createLogger } from '../src/ops/log.ts';
import type { RedisClient } from '../src/redis/connect.ts';
import { createScrubber } from '../src/secret.ts';
import { interruption } from './run.ts';
import { startWorld, type World, type WorldSettings } from './world/world.ts';

/** CPU time since the start, in seconds. */
export interface Used {
  daemon: number;
  redis: number;
}

export interface Stage {
  world: World;
  used(): Promise<Used>;
}

/** Where the world is; else the defaults, without what would only come later than a bench ends. */
const configTree = ({ url, smtpPort }: World, dataDir: string, poll: object) => ({
  services: [{ name: 'bench', baseUrl: url, apiKey: 'bench-key' }],
  dataDir,
  poll: { startFrom: '1h', ...poll },
  alerts: { sources: ['inspections'], secondLook: [] },
  channels: {
    webhook: { secret: `whsec_${'YmVuY2gg'.repeat(4)}`, allowHttp: true, allowNetworks: ['127.0.0.0/8'] },
    slack: { botToken: 'xoxb-bench', apiUrl: `${url}/slack/` },
    telegram: { botToken: '1000:bench', apiRoot: url },
    email: { from: 'bench@example.com', smtp: { host: '127.0.0.1', port: smtpPort, requireTLS: false } },
  },
  ops: { listen: '127.0.0.1:0' },
});

/** What went wrong, by message, with how often and the last reason. */
type Complaints = Map<string, { times: number; reason: string }>;

/** The log is written as in earnest, to nowhere; what is no mere information is counted. */
const openDaemon = (config: Config, complaints: Complaints) => {
  const scrub = createScrubber(collectSecrets(config));
  const write = (line: string): void => {
    if (line.includes('"level":"info"')) return;
    const { msg, err, message = '' } = JSON.parse(line) as { msg: string; err?: { message: string }; message?: string };
    complaints.set(msg, { times: (complaints.get(msg)?.times ?? 0) + 1, reason: err?.message ?? message });
  };
  return createDaemon({ config, scrub, log: createLogger({ level: 'info', scrub, destination: { write } }) });
};

const redisSeconds = async (redis: RedisClient): Promise<number> => {
  const info = await redis.info('cpu');
  const seconds = (name: string): number => Number(new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1] ?? 0);
  return seconds('used_cpu_sys') + seconds('used_cpu_user');
};

const used = async (redis: RedisClient): Promise<Used> => {
  const { user, system } = process.cpuUsage();
  return { daemon: (user + system) / 1e6, redis: await redisSeconds(redis) };
};

const play = async <T>(world: World, config: Config, act: (stage: Stage) => Promise<T>): Promise<T> => {
  const complaints: Complaints = new Map();
  const daemon = openDaemon(config, complaints);
  try {
    await daemon.start();
    const { redis, close } = await attachRedis(config);
    return await act({ world, used: () => used(redis) }).finally(close);
  } finally {
    await daemon.stop();
    for (const [message, { times, reason }] of complaints)
      process.stderr.write(`logged ${times} times: ${message}: ${reason}\n`);
  }
};

/** Sets the stage, lets `act` play on it, and clears everything away. `poll`: that section of the config. */
export const withStage = async <T>(
  settings: WorldSettings,
  poll: object,
  act: (stage: Stage) => Promise<T>,
): Promise<T> => {
  const interrupted = interruption();
  const dataDir = await mkdtemp(join(tmpdir(), 'tocsin-bench-'));
  const world = await startWorld(settings);
  try {
    const config = parseConfig(JSON.stringify(configTree(world, dataDir, poll)), 'bench.yaml', {});
    return await play(world, config, (stage) => Promise.race([act(stage), interrupted]));
  } finally {
    await world.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
};
