/** A world for one scenario: the sandbox, a Redis prefix, daemons between, and the books of both ends. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { CHANNEL_KINDS, type ChannelKind } from '../../src/alert.ts';
import { sandboxEnvironment } from '../../src/cli/sandbox-environment.ts';
import { parseConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';
import { createSandbox, type Sandbox, type SandboxAddresses, type SandboxOptions } from '../../src/sandbox/sandbox.ts';
import type { SandboxInspection, SandboxNotification } from '../../src/sandbox/service/model.ts';
import { until } from '../support/until.ts';
import { type Books, createBooks } from './books.ts';
import { type RunningDaemon, startDaemon } from './daemons.ts';
import { watchLeaks } from './leaks.ts';

/** A part of the configuration, as it would stand in the file. */
export type Tree = { [key: string]: Tree | unknown };

/** Where a value comes from the environment. */
export const variable = (name: string): string => `\${${name}}`;

/** The sandbox's service as config/demo.yaml names it. */
export const SANDBOX = {
  name: 'sandbox',
  baseUrl: variable('TOCSIN_SANDBOX_SERVICE'),
  apiKey: variable('TOCSIN_SANDBOX_KEY'),
};

export interface WorldOptions extends SandboxOptions {
  /** Names; each protocol gets a channel of every kind. Default: `PROTOCOLS`. */
  names?: readonly string[];
  /** Channel kinds that the config keeps and the protocols have. Default: all. */
  kinds?: readonly ChannelKind[];
  /** Merged into config/demo.yaml and the pace of tests. */
  config?: Tree;
  /** Default: the test run's. */
  redisUrl?: string;
  /** Takes what has to be done when the test is over; a test that runs beside others gives its own. */
  onFinished?: (stop: () => Promise<void>) => void;
}

export interface World {
  sandbox: Sandbox;
  addresses: SandboxAddresses;
  books: Books;
  /** The configuration's text and the environment it is read with; for programs of their own. */
  configText: string;
  environment: Record<string, string>;
  config: Config;
  /** Of the daemons; removed with the world. */
  dataDir: string;
  /** Of every key in Redis. */
  prefix: string;
  redisUrl: string;
  /** Stopped with the test at the latest. */
  start(): Promise<RunningDaemon>;
  critical(protocol: string, count?: number): SandboxInspection[];
  /** Inspections that nobody should hear of. */
  calm(protocol: string, count?: number): void;
  notification(protocol: string, message: string): SandboxNotification;
  /** Resolves when so much has arrived. */
  arrivals(count: number): Promise<void>;
  /** Resolves when everything that has to arrive has arrived everywhere. */
  delivered(timeoutMs?: number): Promise<void>;
  /** The same, and nothing came twice or should not have come: proved by a last critical of every protocol. */
  balanced(timeoutMs?: number): Promise<void>;
}

/** Two plain names and one that has every markup in it. */
export const PROTOCOLS = ['Vault', 'Bridge', 'A/B <b>&_* Markets?#%'] as const;

/** Faster than anybody would set it, so that a test need not wait; and no rates, but where a scenario is about them. */
const RATE = { perSecond: 1000, burst: 1000 };
const PACE: Tree = {
  poll: { interval: '200ms', sweepEvery: '1s', startFrom: '1h', catalogEvery: '1s' },
  channels: { email: { rateLimit: RATE }, telegram: { rateLimit: RATE }, slack: { rateLimit: RATE } },
};

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);

const merge = (base: Tree, changes: Tree): Tree =>
  Object.fromEntries(
    [...new Set([...Object.keys(base), ...Object.keys(changes)])].map((key) => {
      const [before, change] = [base[key], changes[key]];
      return [key, isTree(before) && isTree(change) ? merge(before, change) : (change ?? before)];
    }),
  );

const readDemo = async (): Promise<Tree> =>
  parse(await readFile(new URL('../../config/demo.yaml', import.meta.url), 'utf8')) as Tree;

const pick = (tree: unknown, keys: readonly string[]): Tree =>
  Object.fromEntries(Object.entries(isTree(tree) ? tree : {}).filter(([key]) => keys.includes(key)));

const keepChannels = ({ service }: Sandbox, kinds: readonly string[]): void => {
  for (const { name, apiKey, channels } of service.protocols()) {
    service.replaceChannels(
      { protocol: name, apiKey },
      channels.filter((channel) => kinds.includes(channel.name)),
    );
  }
};

export const startWorld = async (options: WorldOptions = {}): Promise<World> => {
  const { names = PROTOCOLS, kinds = CHANNEL_KINDS, config: changes = {}, redisUrl = inject('redisSocket') } = options;
  const { onFinished = onTestFinished } = options;
  const prefix = `{scenario-${randomUUID()}}`;
  const dataDir = await mkdtemp(join(tmpdir(), 'tocsin-scenario-'));
  const checkLeaks = watchLeaks();
  const sandbox = createSandbox({ protocols: names.map((name) => ({ name })), ...options });
  const daemons: RunningDaemon[] = [];
  onFinished(async () => {
    const ends = await Promise.allSettled(daemons.map((daemon) => daemon.stop()));
    await sandbox.stop();
    await rm(dataDir, { recursive: true, force: true });
    await checkLeaks();
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  });

  const addresses = await sandbox.start();
  keepChannels(sandbox, kinds);
  const own: Tree = { redis: { url: redisUrl, prefix } };
  const whole = merge(merge(merge(await readDemo(), PACE), own), changes);
  const configText = stringify({ ...whole, channels: pick(whole.channels, kinds) });
  const environment = { ...sandboxEnvironment(addresses), TOCSIN_OPS_LISTEN: '127.0.0.1:0', TOCSIN_DATA_DIR: dataDir };
  const config = parseConfig(configText, 'scenario.yaml', environment);
  const books = createBooks(sandbox);

  const critical = (protocol: string, count = 1): SandboxInspection[] =>
    Array.from({ length: count }, () => sandbox.service.insertInspection({ protocol, assessment: 'critical' }));
  const delivered = async (timeoutMs = 20_000): Promise<void> => {
    await until('everything has arrived', () => books.balance().missing.length === 0, timeoutMs).catch(() => {
      throw new Error(`never arrived: ${books.balance().missing.slice(0, 10).join('; ')}`);
    });
  };

  return {
    sandbox,
    addresses,
    books,
    configText,
    environment,
    config,
    dataDir,
    prefix,
    redisUrl,
    start: async () => {
      const daemon = await startDaemon(config);
      daemons.push(daemon);
      return daemon;
    },
    critical,
    calm: (protocol, count = 1) => {
      for (let index = 0; index < count; index += 1) {
        sandbox.service.insertInspection({ protocol, assessment: index % 2 === 0 ? 'ok' : 'suspecious' });
      }
    },
    notification: (protocol, message) => sandbox.service.insertNotification({ protocol, message }),
    arrivals: async (count) => {
      await until(`${count} arrivals`, () => books.count() >= count);
    },
    delivered,
    balanced: async (timeoutMs) => {
      await delivered(timeoutMs);
      for (const { name } of sandbox.service.protocols()) critical(name);
      await delivered(timeoutMs);
      expect(books.balance()).toEqual({ missing: [], doubled: [], unexpected: [] });
    },
  };
};
