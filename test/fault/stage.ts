/** What a fault is played on: the sandbox, a real Redis, daemons as processes, links between, and a steady stream of alerts. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHANNEL_KINDS, type ChannelKind } from '../../src/alert.ts';
import { sandboxEnvironment } from '../../src/cli/sandbox.ts';
import { createRandom, type Random } from '../../src/sandbox/random.ts';
import { createSandbox, type Sandbox, type SandboxAddresses } from '../../src/sandbox/sandbox.ts';
import { configTextOf, type Tree } from '../scenario/config.ts';
import { startProxy } from '../support/proxy.ts';
import { type Books, openBooks } from './books.ts';
import { createDaemonProcess, type DaemonProcess } from './daemon-process.ts';
import { type Link, openLink } from './link.ts';
import { type RedisWorld, startCluster, startEmbedded, startSentinels, startSingle } from './redis-worlds.ts';
import { mountSmallDisk, unmount } from './small-disk.ts';
import { type Stream, startStream } from './stream.ts';

export interface StageOptions {
  /** Default 1. */
  daemons?: number;
  /** Default `single`. */
  redis?: 'single' | 'sentinel' | 'cluster' | 'embedded';
  /** Default: all. */
  kinds?: readonly ChannelKind[];
  /** Merged into the pace of the suite. */
  config?: Tree;
  /** How the receivers and the service are called, instead of 127.0.0.1. */
  host?: string;
  /** Each daemon reaches the service over a proxy of its own, with the same config. */
  hasOwnWays?: boolean;
  /** Alerts a second. Default 5. */
  perSecond?: number;
  /** The tree whose program the daemons run at first; default this one. */
  root?(): Promise<string>;
  /** What the daemons are. Default: processes. */
  createDaemon?: typeof createDaemonProcess;
  /** Puts the daemons' data on disks of this size. */
  smallDisk?: string;
}

export type End = 'service' | ChannelKind;

export interface Stage {
  sandbox: Sandbox;
  books: Books;
  redis: RedisWorld;
  daemons: readonly [DaemonProcess, ...DaemonProcess[]];
  /** The ways of all daemons to the service and to the receivers. */
  links: Record<End, Link>;
  /** The way of one daemon to the service, of those that have one each. */
  wayOf(daemon: DaemonProcess): Link;
  stream: Stream;
  random: Random;
  /** Of everything that is written. */
  directory: string;
  names: readonly string[];
  /** Says what is going on, for whoever reads the result. */
  note(text: string): void;
  notes: readonly string[];
  clear(keepFiles: boolean): Promise<void>;
}

const PREFIX = '{tocsin}';
const NAMES = ['Vault', 'Bridge', 'A/B <b>&_* Markets?#%'] as const;

/** Times outs and turns so short that a fault of seconds is long for them. */
const PACE: Tree = {
  poll: { interval: '500ms', sweepEvery: '2s', catalogEvery: '3s', startFrom: '1h' },
  audit: { every: '5s', lostAfter: '30s' },
  channels: Object.fromEntries(CHANNEL_KINDS.map((kind) => [kind, { timeout: '5s' }])),
};
const SERVICE_TIMEOUT = '3s';

const startRedis = (redis: StageOptions['redis'], daemons: number): Promise<RedisWorld> => {
  if (redis === 'sentinel') return startSentinels();
  if (redis === 'cluster') return startCluster(PREFIX);
  return redis === 'embedded' ? startEmbedded() : startSingle(daemons);
};

const portOf = (url: string): number => Number(new URL(url).port);

const openLinks = async ({ service, slack, telegram, smtp, webhook }: SandboxAddresses): Promise<Stage['links']> => {
  const [toService, toSlack, toTelegram, toSmtp, toWebhook] = await Promise.all([
    openLink(() => portOf(service.url)),
    openLink(() => portOf(slack.apiUrl)),
    openLink(() => portOf(telegram.apiRoot)),
    openLink(() => smtp.port),
    openLink(() => portOf(webhook.url)),
  ]);
  return { service: toService, slack: toSlack, telegram: toTelegram, email: toSmtp, webhook: toWebhook };
};

const through = (url: string, { port }: Link, host: string): string => {
  const changed = new URL(url);
  changed.port = String(port);
  changed.hostname = host;
  return changed.href;
};

/** The addresses as the daemons have them: each at the near end of its link. */
const linkedAddresses = (at: SandboxAddresses, links: Stage['links'], host: string): SandboxAddresses => ({
  service: { ...at.service, url: through(at.service.url, links.service, host) },
  slack: { ...at.slack, apiUrl: through(at.slack.apiUrl, links.slack, host) },
  telegram: { ...at.telegram, apiRoot: through(at.telegram.apiRoot, links.telegram, host) },
  smtp: { ...at.smtp, host, port: links.email.port },
  webhook: { ...at.webhook, url: through(at.webhook.url, links.webhook, host).replace(/\/$/, '') },
});

const linkChannels = ({ service }: Sandbox, kinds: readonly string[], { webhook }: SandboxAddresses): void => {
  for (const { name, apiKey, channels } of service.protocols()) {
    const kept = channels.filter((channel) => kinds.includes(channel.name));
    const linked = kept.map((channel) =>
      channel.url === undefined ? channel : { ...channel, url: `${webhook.url}${new URL(channel.url).pathname}` },
    );
    service.replaceChannels({ protocol: name, apiKey }, linked);
  }
};

type Undo = () => Promise<void>;

const build = async (options: StageOptions, seed: number, directory: string, undo: Undo[]): Promise<Stage> => {
  const { daemons: count = 1, kinds = CHANNEL_KINDS, config = {}, host = '127.0.0.1', perSecond = 5 } = options;
  const { createDaemon = createDaemonProcess } = options;
  const sandbox = createSandbox({ seed, protocols: NAMES.map((name) => ({ name })) });
  undo.push(sandbox.stop);
  const real = await sandbox.start();
  const books = openBooks(sandbox);
  const links = await openLinks(real);
  undo.push(async () => void (await Promise.all(Object.values(links).map((link) => link.close()))));
  const addresses = linkedAddresses(real, links, host);
  linkChannels(sandbox, kinds, addresses);
  const redis = await startRedis(options.redis, count);
  undo.push(redis.remove);

  const root = await options.root?.();
  const environment = sandboxEnvironment(addresses);
  const service = { name: 'sandbox', apiKey: real.service.apiKey, timeout: SERVICE_TIMEOUT };
  const ways = new Map<DaemonProcess, Link>();
  const proxy = options.hasOwnWays ? await startProxy() : undefined;
  if (proxy !== undefined) undo.push(proxy.close);
  // What is on this machine no proxy is asked for.
  const baseUrl = through(addresses.service.url, links.service, proxy === undefined ? host : 'service.test');
  const process = async (index: number): Promise<DaemonProcess> => {
    const place = {
      services: [{ ...service, baseUrl }],
      redis: { ...redis.configOf(index), prefix: PREFIX },
    };
    const configText = await configTextOf(kinds, PACE, place, config);
    const files = join(directory, `daemon-${index + 1}`);
    const settings = { directory: files, configText, ...(root !== undefined && { root }) };
    if (proxy === undefined) return createDaemon({ ...settings, environment });
    const way = await openLink(() => portOf(proxy.origin));
    undo.push(way.close);
    const own = { ...environment, http_proxy: `http://127.0.0.1:${way.port}` };
    const daemon = await createDaemon({ ...settings, environment: own });
    ways.set(daemon, way);
    return daemon;
  };
  const [first, ...others] = await Promise.all(Array.from({ length: count }, (_, index) => process(index)));
  if (first === undefined) throw new Error('no daemon');
  const daemons: Stage['daemons'] = [first, ...others];
  // A daemon that is killed leaves its private Redis behind.
  const end = (daemon: DaemonProcess) => (options.redis === 'embedded' ? daemon.terminate() : daemon.kill());
  undo.push(async () => void (await Promise.all(daemons.map(end))));
  if (options.smallDisk !== undefined) {
    for (const { dataDir } of daemons) {
      mountSmallDisk(dataDir, options.smallDisk);
      undo.splice(-1, 0, async () => unmount(dataDir));
    }
  }
  await Promise.all(daemons.map((daemon) => daemon.start()));
  const stream = startStream(sandbox, NAMES, perSecond);
  undo.push(async () => stream.stop());
  const random = createRandom(`faults ${seed}`);
  const startedAt = Date.now();
  const notes: string[] = [];
  const note = (text: string): void => {
    notes.push(`+${((Date.now() - startedAt) / 1000).toFixed(0)} s ${text}`);
  };
  return {
    note,
    notes,
    sandbox,
    books,
    redis,
    daemons,
    links,
    wayOf: (daemon) => ways.get(daemon) ?? links.service,
    stream,
    random,
    directory,
    names: NAMES,
    clear: async () => {},
  };
};

/** Sets the stage; `clear` ends and removes everything of it. */
export const setStage = async (options: StageOptions, seed: number): Promise<Stage> => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-fault-'));
  const undo: Undo[] = [];
  const clear = async (keepFiles: boolean): Promise<void> => {
    for (const each of undo.toReversed()) await each();
    if (!keepFiles) await rm(directory, { recursive: true, force: true });
  };
  try {
    return { ...(await build(options, seed, directory, undo)), clear };
  } catch (error) {
    await clear(false);
    throw error;
  }
};
