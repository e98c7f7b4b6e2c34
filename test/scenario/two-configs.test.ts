/** Daemons with different configs on one Redis: one config counts, nothing is lost between them, and it is said. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { Config } from '../../src/config/schema.ts';
import { createConfigSource } from '../../src/config/source.ts';
import { until } from '../support/until.ts';
import { merge } from './config.ts';
import type { RunningDaemon } from './daemons.ts';
import { startWorld } from './world.ts';

const TAKES_OVER = 'nobody works by the config in force any more; this daemon takes over with its own';
const STANDS_BY = 'another config is in force: this daemon stands by, and neither reads nor sends';

const NAMES = ['Vault', 'Bridge'];
const OPS = 'ops@example.com';

const ASSESSMENTS: Config['alerts']['assessments'] = ['critical', 'suspecious'];

const withoutSlack = ({ channels: { slack: _, ...channels }, ...config }: Config): Config => ({ ...config, channels });

const withSuspicious = ({ alerts, ...config }: Config): Config => ({
  ...config,
  alerts: { ...alerts, assessments: ASSESSMENTS },
});

const standsBy = (daemon: RunningDaemon) =>
  until('it stands by', async () => {
    const { status, text } = await daemon.ask('/readyz');
    return status === 503 && text.includes('stands by');
  });

const isReady = (daemon: RunningDaemon) =>
  until('it is ready', async () => (await daemon.ask('/readyz')).status === 200);

const differenceAt = async (daemon: RunningDaemon) =>
  (await daemon.status()).troubles.find(({ name }) => name === 'config-differs');

test.concurrent('a daemon whose config lacks a channel takes nothing from one that has it, and it is said', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({
    onFinished,
    names: NAMES,
    kinds: ['email', 'slack'],
    config: { watchdog: { after: '1s', channels: [{ name: 'email', contacts: [OPS] }] } },
  });
  const limits = { configDiffersMs: 0 };
  const mails = (words: string) =>
    world.sandbox.receivers.smtp
      .received()
      .filter(
        ({ destination, text }) => destination === OPS && text.includes(words) && text.includes('channels.slack'),
      );
  const older = await world.start({ config: withoutSlack(world.config), limits });
  const newer = await world.start({ limits });
  await newer.watching();
  for (let round = 0; round < 3; round += 1) {
    world.critical('Vault', 2);
    world.critical('Bridge', 2);
    await world.delivered();
  }
  await standsBy(older);
  expect(older.log(STANDS_BY)).toMatchObject([{ level: 'error', differs: ['channels.slack'] }]);
  await isReady(newer);
  const told = await until('it is told', () => differenceAt(newer));
  expect(told).toMatchObject({ name: 'config-differs', severity: 'needs somebody' });
  expect(`${told.what}: ${told.why}`).toContain('channels.slack');
  expect(`${told.what}: ${told.why}`).not.toContain('alerts');
  expect((await newer.status()).needsSomebody).toContainEqual(expect.stringContaining('channels.slack'));
  await until('it is announced', () => mails('To do: ').length > 0);
  await world.balanced();
  await older.stop();
  await until('its end is announced', () => mails('Over: ').length > 0);
  expect(await differenceAt(newer)).toBeUndefined();
  expect([mails('To do: '), mails('Over: ')].map(({ length }) => length)).toEqual([1, 1]);
}, 180_000);

test.concurrent('a rollout: what is in force is read and sent by it, the older one stands by until it ends', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished, names: NAMES, kinds: ['slack', 'webhook'] });
  const { slack, webhook } = world.sandbox.receivers;
  for (const { script } of [slack, webhook]) script.always({ kind: 'slow', durationMs: 50 });
  const older = await world.start();
  await older.watching();
  for (const name of ['Vault', 'Bridge']) world.critical(name, 4);
  const newer = await world.start({ config: withSuspicious(world.config) });
  for (const name of ['Vault', 'Bridge']) world.critical(name, 4);
  await standsBy(older);
  for (const name of ['Vault', 'Bridge']) world.critical(name, 4);
  const during = await until('the rollout is told', async () => {
    const report = await newer.status();
    return report.problems.some((one) => one.includes('a rollout is under way')) ? report : undefined;
  });
  expect(during.problems).toEqual([
    expect.stringMatching(/^at .+: a rollout .+ differs in alerts\.assessments since /),
  ]);
  expect(during.needsSomebody).toEqual([]);
  const { txHash } = world.sandbox.service.insertInspection({ protocol: 'Vault', assessment: 'suspecious' });
  await until('the new assessments count', () => world.reconciler.arrivalsOf(txHash).length === 2);
  await world.delivered();
  await isReady(newer);
  expect(await differenceAt(newer)).toBeUndefined();
  await older.stop();
  await until('the rollout is over', async () => (await newer.status()).problems.length === 0);
  for (const name of ['Vault', 'Bridge']) world.critical(name, 4);
  await world.delivered();
  expect(world.reconciler.balance()).toMatchObject({ missing: [], doubled: [] });
  expect(newer.log(STANDS_BY)).toEqual([]);
}, 180_000);

test.concurrent('when the newer one is gone, the older goes on after a while; once they are alike, both work', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished, names: NAMES, kinds: ['slack', 'webhook'] });
  const file = join(world.dataDir, 'tocsin.yaml');
  await writeFile(file, world.configText);
  const source = createConfigSource(file, world.environment);
  const limits = { configVacantMs: 500 };
  const older = await world.start({ config: await source.read(), source, limits });
  await older.watching();
  const newer = await world.start({ config: withoutSlack(world.config), limits });
  await standsBy(older);
  await newer.stop();
  await until('the older one takes over', () => older.log(TAKES_OVER).length > 0);
  world.critical('Vault', 3);
  await world.delivered();
  await isReady(older);

  const another = await world.start({ config: withSuspicious(world.config), limits });
  await standsBy(older);
  await writeFile(file, stringify(merge(parse(world.configText), { alerts: { assessments: ASSESSMENTS } })));
  await older.reload('a test');
  await isReady(older);
  await isReady(another);
  expect(another.log(STANDS_BY)).toEqual([]);
  world.critical('Bridge', 3);
  await world.delivered();
  expect(world.reconciler.balance().doubled).toEqual([]);
}, 180_000);
