/** A world for one scenario: the sandbox, a Redis prefix, daemons between, and the reconciler of both ends. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished } from 'vitest';
import { CHANNEL_KINDS, type ChannelKind } from '../../src/alert.ts';
import { sandboxEnvironment } from '../../src/cli/sandbox.ts';
import { parseConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';
import { createSandbox, type Sandbox, type SandboxAddresses, type SandboxOptions } from '../../src/sandbox/sandbox.ts';
import type { SandboxInspection, SandboxNotification } from '../../src/sandbox/service/model.ts';
import { until } from '../support/until.ts';
import { configTextOf, type Tree } from './config.ts';
import { type DaemonOptions, type RunningDaemon, startDaemon } from './daemons.ts';
import { watchLeaks } from './leaks.ts';
import { createReconciler, type Reconciler } from './reconciler.ts';

export interface WorldOptions extends SandboxOptions {
  /** Names; each protocol gets a channel of every kind. Default: `PROTOCOLS`. */
  names?: readonly string[];
  /** Channel kinds that the config keeps and the protocols have. Default: all. */
  kinds?: readonly ChannelKind[];
  /** Merged into config/demo.yaml and the pace of tests. */
  config?: Tree | ((addresses: SandboxAddresses) => Tree);
  /** Default: the test run's. */
  redisUrl?: string;
  /** Takes what has to be done when the test is over; a test that runs beside others gives its own. */
  onFinished?: (stop: () => Promise<void>) => void;
}

export interface World {
  sandbox: Sandbox;
  addresses: SandboxAddresses;
  reconciler: Reconciler;
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
  start(options?: DaemonOptions): Promise<RunningDaemon>;
  critical(protocol: string, count?: number): SandboxInspection[];
  /** Inspections that nobody should hear of. */
  calm(protocol: string, count?: number): void;
  notification(protocol: string, message: string): SandboxNotification;
  /** Resolves when everything that has to arrive has arrived everywhere. */
  delivered(timeoutMs?: number): Promise<void>;
  /** The same, and nothing came twice or should not have come: proved by a last critical of every protocol. */
  balanced(timeoutMs?: number): Promise<void>;
}

/** Two plain names and one that has every markup in it. */
export const PROTOCOLS = ['Vault', 'Bridge', 'A/B <b>&_* Markets?#%'] as const;

const keepChannels = ({ service }: Sandbox, kinds: readonly string[]): void => {
  for (const { name, apiKey, channels } of service.protocols()) {
    service.replaceChannels(
      { protocol: name, apiKey },
      channels.filter((channel) => kinds.includes(channel.name)),
    );
  }
};

/** What the service produces, and what has to become of it. */
const verbsOf = ({ service }: Sandbox, reconciler: Reconciler) => {
  const critical: World['critical'] = (protocol, count = 1) =>
    Array.from({ length: count }, () => service.insertInspection({ protocol, assessment: 'critical' }));
  const delivered: World['delivered'] = async (timeoutMs) => {
    await until('everything has arrived', () => reconciler.balance().missing.length === 0, timeoutMs).catch(() => {
      throw new Error(`never arrived: ${reconciler.balance().missing.slice(0, 10).join('; ')}`);
    });
  };
  const calm: World['calm'] = (protocol, count = 1) => {
    for (let index = 0; index < count; index += 1) {
      service.insertInspection({ protocol, assessment: index % 2 === 0 ? 'ok' : 'suspecious' });
    }
  };
  const balanced: World['balanced'] = async (timeoutMs) => {
    await delivered(timeoutMs);
    for (const { name } of service.protocols()) critical(name);
    await delivered(timeoutMs);
    expect(reconciler.balance()).toEqual({ missing: [], doubled: [], unexpected: [] });
  };
  const notification: World['notification'] = (protocol, message) => service.insertNotification({ protocol, message });
  return { critical, calm, notification, delivered, balanced };
};

export const startWorld = async (options: WorldOptions = {}): Promise<World> => {
  const { names = PROTOCOLS, kinds = CHANNEL_KINDS, redisUrl = inject('redisSocket') } = options;
  const { config: changes = {}, onFinished = onTestFinished } = options;
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
  const changed = typeof changes === 'function' ? changes(addresses) : changes;
  const configText = await configTextOf(kinds, { redis: { url: redisUrl, prefix } }, changed);
  const environment = { ...sandboxEnvironment(addresses), TOCSIN_OPS_LISTEN: '127.0.0.1:0', TOCSIN_DATA_DIR: dataDir };
  const config = parseConfig(configText, 'scenario.yaml', environment);
  const reconciler = createReconciler(sandbox);
  const start: World['start'] = async (options) => {
    const daemon = await startDaemon(options?.config ?? config, options);
    daemons.push(daemon);
    return daemon;
  };
  const place = { dataDir, prefix, redisUrl, configText, environment, config };
  return { sandbox, addresses, reconciler, ...place, ...verbsOf(sandbox, reconciler), start };
};
