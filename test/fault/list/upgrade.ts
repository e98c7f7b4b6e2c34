/**
 * Three daemons are replaced one by one by those of another version; all work on the same Redis meanwhile. And one is replaced
 * by another release and by the one before, as systemd runs them: by a link.
 */
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, rename, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { copyCheckout, packCheckout } from '../../support/checkout.ts';
import { until } from '../../support/until.ts';
import { type DaemonProcess, ROOT } from '../daemon-process.ts';
import type { Fault } from '../fault.ts';
import { newerTree } from '../newer.ts';
import type { Stage } from '../stage.ts';
import { waitingAt } from './backlog.ts';

const TOGETHER_MS = 4000;

const replaceAll = async ({ daemons }: Stage, root: string): Promise<void> => {
  for (const daemon of daemons) {
    await daemon.terminate();
    await daemon.start(root);
    await sleep(TOGETHER_MS);
  }
};

/** Slack takes one message in two seconds, so that there are batches. */
const BATCHES = { channels: { slack: { rateLimit: { perSecond: 0.5, burst: 1 } } } };

const RELEASES = ['1.0.0', '1.0.1'] as const;
/** Deliveries that wait as the link is set. */
const WAITING = 1000;
const QUEUED_WITHIN_MS = 300_000;

const unpackReleases = async (): Promise<string> => {
  const opt = await mkdtemp(join(tmpdir(), 'tocsin-releases-'));
  process.once('exit', () => rmSync(opt, { recursive: true, force: true }));
  await mkdir(join(opt, 'releases'));
  for (const version of RELEASES) {
    const checkout = join(opt, version);
    await copyCheckout(checkout, version);
    await promisify(execFile)('tar', ['-xzf', await packCheckout(checkout), '-C', join(opt, 'releases')]);
  }
  await setLink(opt, RELEASES[0]);
  return join(opt, 'current');
};

/** What `ln -sfn` does. */
const setLink = async (opt: string, version: string): Promise<void> => {
  await symlink(`releases/tocsin-${version}`, join(opt, 'next'));
  await rename(join(opt, 'next'), join(opt, 'current'));
};

let link: Promise<string> | undefined;

/** Made once for all: two releases, and a link to the first. */
const releaseLink = (): Promise<string> => {
  link ??= unpackReleases();
  return link;
};

/** As people and Prometheus see it. */
const sees = async (daemon: DaemonProcess, version: string): Promise<void> => {
  const page = await (await fetch(daemon.url())).text();
  const metrics = await (await fetch(`${daemon.url()}/metrics`)).text();
  const build = new RegExp(`^tocsin_build_info\\{version="${version}",revision="[0-9a-f]{12}",`, 'm');
  if (!build.test(metrics) || !page.includes(`Version ${version} (`))
    throw new Error(`it is not seen to be ${version}`);
};

/** The other release takes over while very many deliveries wait for a receiver that refuses them. */
const changeLink = async (stage: Stage, version: string): Promise<void> => {
  const { sandbox, daemons, names, note } = stage;
  const [daemon] = daemons;
  const endRefusing = sandbox.receivers.webhook.script.always({ kind: 'answer', status: 503 });
  for (let n = 0; n < WAITING; n += 1) {
    sandbox.service.insertInspection({ protocol: names[n % names.length] ?? '', assessment: 'critical' });
  }
  const areQueued = async (): Promise<boolean> => (await waitingAt(daemon)) >= WAITING;
  await until('all of them wait', areQueued, QUEUED_WITHIN_MS);
  await setLink(join(await releaseLink(), '..'), version);
  const code = await daemon.terminate();
  if (code !== 0) throw new Error(`SIGTERM: exit code ${code}`);
  await daemon.start();
  await sees(daemon, version);
  note(`${version} runs, and ${await waitingAt(daemon)} deliveries wait`);
  await until('all of them wait still', areQueued, QUEUED_WITHIN_MS);
  endRefusing();
  await until('nothing waits', async () => (await waitingAt(daemon)) < WAITING / 10, QUEUED_WITHIN_MS);
};

export const UPGRADE_FAULTS: readonly Fault[] = [
  {
    name: 'upgrade',
    what: 'three daemons, replaced one by one by those whose jobs have a newer version',
    stage: { daemons: 3, config: BATCHES },
    doubles: 'none',
    strike: async (stage) => replaceAll(stage, await newerTree()),
  },
  {
    name: 'rollback',
    what: 'three daemons of the newer version are replaced and come back: what the older ones cannot read waits for them',
    stage: { daemons: 3, root: newerTree, config: BATCHES },
    doubles: 'none',
    strike: async (stage) => {
      await replaceAll(stage, ROOT);
      await replaceAll(stage, await newerTree());
    },
  },
  {
    name: 'release',
    what: `another release runs by the link, then the one before, each time while ${WAITING} deliveries wait for a webhook`,
    stage: { kinds: ['webhook'], perSecond: 1, root: releaseLink },
    doubles: 'none',
    strike: async (stage) => {
      const [before, after] = RELEASES;
      await sees(stage.daemons[0], before);
      await changeLink(stage, after);
      await changeLink(stage, before);
    },
  },
];
