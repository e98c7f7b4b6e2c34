/** A Redis that comes back without what it had acknowledged last: the daemon looks for that at once. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { createLedger } from '../../src/ledger/ledger.ts';
import { startDaemonProgram } from '../support/program.ts';
import { ownRedis } from '../support/redis-server.ts';
import { until } from '../support/until.ts';
import { askedAt } from './daemons.ts';
import { startWorld } from './world.ts';

/** What the audits would take: only the look after the restart can be in time. */
const CONFIG = { audit: { every: '1h' }, poll: { lookback: '1s', overlap: '200ms', sweepEvery: '200ms' } };

/** Makes this state the one that a killed server comes back with. */
const forget = async (redisUrl: string, keys: readonly string[]): Promise<void> => {
  const redis = new Redis(redisUrl);
  const found = (await Promise.all(keys.map((pattern) => redis.keys(pattern)))).flat();
  expect(found.length).toBeGreaterThanOrEqual(keys.length);
  await redis.del(...found);
  await redis.save();
  await redis.quit();
};

test('a lost job and a lost item are queued again soon after a restart, without waiting for an audit', async () => {
  const server = await ownRedis();
  onTestFinished(() => server.remove());
  const redisUrl = `redis://127.0.0.1:${server.port}`;
  const world = await startWorld({ names: ['Vault', 'Bridge'], kinds: ['webhook'], redisUrl, config: CONFIG });
  const daemon = await world.start();
  world.critical('Vault');
  world.critical('Bridge');
  await world.delivered();
  await daemon.idle();

  // They wait for a retry when the server is killed.
  const repair = world.sandbox.receivers.webhook.script.always({ kind: 'answer', status: 503 });
  world.critical('Vault');
  const [gone] = world.critical('Bridge');
  await until('both are tried', async () => (await daemon.status()).queues.some(({ delayed }) => delayed === 2));
  const queue = [`${world.prefix}:deliver-webhook:*`];
  const redis = new Redis(redisUrl);
  const [record = ''] = await createLedger(redis, world.prefix, Date.now).byTransaction(gone?.txHash ?? '');
  await redis.quit();
  expect(record).not.toBe('');
  await forget(redisUrl, [...queue, `${world.prefix}:alert:${record}`]);
  await server.kill('SIGKILL');
  repair();
  await server.start();

  await world.delivered();
  expect(await daemon.metric('tocsin_audit_differences_total', { kind: 'lost' })).toBe(1);
  expect(await daemon.metric('tocsin_audit_differences_total', { kind: 'missing' })).toBe(1);
  expect(world.reconciler.balance().unexpected).toEqual([]);
});

test('a daemon that is killed in that audit leaves it to another one', async () => {
  const world = await startWorld({ names: ['Vault'], kinds: ['webhook'], config: CONFIG });
  const file = join(world.dataDir, 'tocsin.yaml');
  await writeFile(file, world.configText);
  const daemons = [
    await startDaemonProgram(file, world.environment),
    await startDaemonProgram(file, world.environment),
  ];
  const redis = new Redis(world.redisUrl);
  onTestFinished(async () => void (await redis.quit()));
  const [service] = world.config.services;
  const key = `${world.prefix}:server:${service?.name}`;
  const present = await until('the server is known', () => redis.get(key));
  await redis.set(key, 'the one before');

  const NOTICED = 'Redis was restarted or failed over; an audit looks for what it may have lost';
  const first = await until('one of them begins', () => daemons.find((one) => one.log(NOTICED).length > 0));
  first.signal('SIGKILL');
  await first.ended;
  expect(await redis.get(key)).toBe('the one before');
  const other = daemons.find((one) => one !== first);
  const audits = () => askedAt(() => other?.url ?? '').metric('tocsin_audits_total');
  const before = await audits();
  await until('the other has audited', async () => (await redis.get(key)) === present);
  expect(other?.log(NOTICED)).toHaveLength(1);
  expect(await audits()).toBeGreaterThan(before);
});
