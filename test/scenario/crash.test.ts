/** Sudden ends: a daemon that is killed with SIGKILL, and a Redis that forgets everything. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, type onTestFinished, test } from 'vitest';
import { aWhileLater } from '../support/later.ts';
import { startDaemonProgram } from '../support/program.ts';
import { ownRedis } from '../support/redis-server.ts';
import { until } from '../support/until.ts';
import { startWorld } from './world.ts';

type OnFinished = typeof onTestFinished;

const BACKLOG = 1000;
/** Webhooks in flight at once. */
const CONCURRENCY = 20;
const NAMES = ['Vault', 'Bridge', 'Harbour', 'Market'];

const startWithBacklog = async (onFinished: OnFinished) => {
  const world = await startWorld({
    onFinished,
    names: NAMES,
    kinds: ['webhook'],
    config: { channels: { webhook: { concurrency: CONCURRENCY } } },
  });
  const file = join(world.dataDir, 'tocsin.yaml');
  await writeFile(file, world.configText);
  for (const name of NAMES) world.critical(name, BACKLOG / NAMES.length);
  return { world, startProcess: () => startDaemonProgram(file, world.environment, onFinished) };
};

test.concurrent('kill -9 in a backlog: nothing is lost, and doubles are few and of one identity', async ({
  onTestFinished: onFinished,
}) => {
  const { world, startProcess } = await startWithBacklog(onFinished);
  const { webhook } = world.sandbox.receivers;
  const endSlowness = webhook.script.always({ kind: 'slow', durationMs: 20 });
  const first = await startProcess();
  await until('a quarter has arrived', () => webhook.received().length >= BACKLOG / 4);
  first.signal('SIGKILL');
  await first.ended;
  expect(webhook.received().length).toBeLessThan(BACKLOG);

  endSlowness();
  await startProcess();
  await world.delivered(60_000);
  for (const name of NAMES) world.critical(name);
  await world.delivered();

  const { missing, doubled, unexpected } = world.reconciler.balance();
  expect({ missing, unexpected }).toEqual({ missing: [], unexpected: [] });
  expect(doubled.length).toBeLessThanOrEqual(CONCURRENCY);
  const doubles = [...webhook.occurrences().values()].filter((times) => times > 1);
  expect(doubles.length).toBe(doubled.length);
  expect(webhook.received().length).toBe(BACKLOG + NAMES.length + doubled.length);
}, 120_000);

/** A Redis that keeps nothing over a restart, and a world that reads from now on: only the state file knows more. */
const startForgetful = async (onFinished: OnFinished) => {
  const redis = await ownRedis();
  onFinished(() => redis.remove());
  const redisUrl = `redis://127.0.0.1:${redis.port}`;
  const world = await startWorld({ onFinished, redisUrl, config: { poll: { startFrom: 'now' } } });
  const forget = async (): Promise<void> => {
    await redis.kill('SIGKILL');
    await redis.start();
  };
  return { world, forget };
};

test.concurrent('Redis forgets everything while the daemon is down', async ({ onTestFinished: onFinished }) => {
  const { world, forget } = await startForgetful(onFinished);
  const first = await world.start();
  await first.watching();
  world.critical('Vault', 3);
  await world.delivered();
  await first.stop();
  world.critical('Vault', 3);
  world.critical('Bridge', 3);
  await forget();
  await aWhileLater();
  await world.start();
  await world.delivered();
  expect(world.reconciler.balance().unexpected).toEqual([]);
});

test.concurrent('Redis forgets everything under a running daemon', async ({ onTestFinished: onFinished }) => {
  const { world, forget } = await startForgetful(onFinished);
  const daemon = await world.start();
  await daemon.watching();
  world.critical('Vault', 3);
  await world.delivered();
  await daemon.idle();
  await forget();
  world.critical('Vault', 3);
  world.critical('Bridge', 3);
  await world.delivered(50_000);
  expect(world.reconciler.balance().unexpected).toEqual([]);
});
