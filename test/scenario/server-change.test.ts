/** A Redis that comes back without what it had acknowledged last: the daemon looks for that at once. */
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { createLedger } from '../../src/ledger/ledger.ts';
import { ownRedis } from '../support/redis-server.ts';
import { until } from '../support/until.ts';
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
}, 60_000);
