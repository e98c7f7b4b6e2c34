/** What a bench plays on: the daemon, its Redis and the world, each a process of its own, so that each is measured alone. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChannelKind } from '../../src/alert.ts';
import { interruption } from '../run.ts';
import { servicesFor } from '../world/service.ts';
import { startWorld, type World, type WorldSettings } from '../world/world.ts';
import { type Crowd, overridesOf } from './crowd.ts';
import { type DaemonProcess, startDaemon } from './daemon.ts';
import { type BenchRedis, startRedis } from './redis.ts';

export interface StageSettings extends WorldSettings {
  program: string;
  /** That section of the config; left out: the defaults. */
  poll?: object;
  /** Of the config, by kind: keys of these channels. Left out: the defaults. */
  channels?: Partial<Record<ChannelKind, object>>;
  /** By protocol: its destinations, instead of those that the service lists. */
  crowds?: readonly (readonly Crowd[])[];
  /** Everything as it is configured by default, with notifications and rechecks, which a short bench leaves out. */
  isDefault?: boolean;
  /** Of the daemons, besides what they always have. */
  environment?: Readonly<Record<string, string>>;
  /** Whether daemons tell how much they allocate, which takes a little CPU. */
  countsAllocations?: boolean;
  /** A program that starts every process, such as taskset, with its arguments. */
  prefix?: readonly string[];
}

/** Every protocol leads to one webhook of its own, and is read every second. */
export const webhookEach = (program: string, protocols: number) =>
  ({ program, protocols, hanging: 0, kinds: ['webhook'], each: 'one', poll: { interval: '1s' } }) as const;

export interface Stage {
  world: World;
  redis: BenchRedis;
  /** A config file for commands; only the data directory differs from the daemons'. */
  config: string;
  /** Starts one more daemon; those of one name share a data directory. They all end with the stage. */
  startDaemon(name?: string): Promise<DaemonProcess>;
}

const channelConfig = ({ url, smtpPort }: World): Record<ChannelKind, object> => ({
  webhook: { secret: `whsec_${'YmVuY2gg'.repeat(4)}`, allowHttp: true, allowNetworks: ['127.0.0.0/8'] },
  slack: { botToken: 'xoxb-bench', apiUrl: `${url}/slack/` },
  telegram: { botToken: '1000:bench', apiRoot: url },
  email: {
    from: 'bench@example.com',
    smtp: { host: '127.0.0.1', port: smtpPort, requireTLS: false },
    // What waits by design is not measured.
    ...{ groupWait: '0s', rateLimit: {} },
  },
});

const configTree = (
  { poll, kinds, isDefault, protocols, channels: given = {}, crowds }: StageSettings,
  world: World,
  redis: BenchRedis,
  dataDir: string,
) => {
  const channels = channelConfig(world);
  return {
    services: Array.from({ length: servicesFor(protocols) }, (_, n) => ({
      name: `bench-${n}`,
      baseUrl: `${world.url}/service-${n}`,
      apiKey: 'bench-key',
    })),
    redis: { url: redis.url },
    dataDir,
    ...(poll && { poll: { startFrom: '1h', ...poll } }),
    ...(!isDefault && { alerts: { sources: ['inspections'], secondLook: [] } }),
    ...(crowds && { protocols: { overrides: overridesOf(crowds, world.url) } }),
    channels: Object.fromEntries(kinds.map((kind) => [kind, { ...channels[kind], ...given[kind] }])),
    ops: { listen: '127.0.0.1:0' },
  };
};

const OPERATOR = 'operator';

type Undo = () => Promise<unknown>;

const build = async (settings: StageSettings, directory: string, undo: Undo[]): Promise<Stage> => {
  const world = await startWorld(settings, settings.prefix);
  undo.push(world.stop);
  const redis = await startRedis(directory, settings.prefix);
  undo.push(redis.stop);
  const configFor = async (name: string): Promise<string> => {
    const file = join(directory, `${name}.yaml`);
    await writeFile(file, JSON.stringify(configTree(settings, world, redis, join(directory, name))), { mode: 0o600 });
    return file;
  };
  const { program, environment = {}, prefix = [], countsAllocations = false } = settings;
  return {
    world,
    redis,
    config: await configFor(OPERATOR),
    startDaemon: async (name = 'daemon') => {
      const daemon = await startDaemon({
        ...{ program, directory, environment, prefix, countsAllocations },
        config: await configFor(name),
      });
      undo.push(async () => {
        await daemon.stop();
        for (const complaint of daemon.complaints()) process.stderr.write(`${complaint}\n`);
      });
      return daemon;
    },
  };
};

const interrupted = interruption();

/** Sets the stage, lets `act` play on it, and clears everything away. */
export const withStage = async <T>(settings: StageSettings, act: (stage: Stage) => Promise<T>): Promise<T> => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-bench-'));
  const undo: Undo[] = [];
  try {
    const stage = await build(settings, directory, undo);
    return await Promise.race([act(stage), interrupted]);
  } finally {
    for (const end of undo.toReversed()) await end();
    await rm(directory, { recursive: true, force: true });
  }
};
