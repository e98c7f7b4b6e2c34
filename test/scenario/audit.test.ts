/** The daemon's own audit in bad times: it must not take for missing what nobody owes. */
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { createCursors } from '../../src/poll/cursor.ts';
import { ownRedis } from '../support/redis-server.ts';
import { until } from '../support/until.ts';
import { startWorld } from './world.ts';

const MINUTE = 60_000;
const CONFIG = { audit: { every: '200ms' }, poll: { lookback: '1s', overlap: '200ms', sweepEvery: '200ms' } };

/** The copy of the cursors follows what was delivered with the next sweep. */
const sweptOnceMore = async (redisUrl: string, prefix: string): Promise<void> => {
  const redis = new Redis(redisUrl);
  const cursors = createCursors(redis, prefix);
  const begun = Date.now();
  await until('a sweep has begun and ended since', async () => {
    const [cursor] = await cursors.get([{ service: 'sandbox', source: 'inspections', protocol: 'Vault' }]);
    return (cursor?.sweptAt ?? 0) > begun && (cursor?.sweptTo ?? 0) > begun - MINUTE;
  });
  await redis.quit();
};

test('after Redis forgot everything, what was delivered before is not sent again for want of a record', async () => {
  const redis = await ownRedis();
  onTestFinished(() => redis.remove());
  const redisUrl = `redis://127.0.0.1:${redis.port}`;
  const world = await startWorld({ names: ['Vault'], kinds: ['webhook'], redisUrl, config: CONFIG });
  const { service } = world.sandbox;
  for (const minutes of [30, 20, 10]) {
    service.insertInspection({
      protocol: 'Vault',
      assessment: 'critical',
      createdAt: service.now() - minutes * MINUTE,
    });
  }
  const [recent] = world.critical('Vault');
  const first = await world.start();
  await world.delivered();
  await first.idle();
  await until('it was balanced', () => first.metric('tocsin_audits_total', { outcome: 'balanced' }));
  await sweptOnceMore(redisUrl, world.prefix);
  await first.stop();
  await redis.kill('SIGKILL');
  await redis.start();

  const second = await world.start();
  world.critical('Vault', 2);
  await world.delivered();
  await until('it was balanced again', async () => {
    return (await second.metric('tocsin_audits_total', { outcome: 'balanced' })) > 3;
  });
  expect(await second.metric('tocsin_audit_differences_total')).toBe(0);
  // What was written within the lookback is read again, and nothing before it.
  const { doubled, unexpected } = world.reconciler.balance();
  expect(doubled.filter((line) => !line.endsWith(recent?.txHash ?? ''))).toEqual([]);
  expect(unexpected).toEqual([]);
});

test('in a backlog and beside two daemons nothing is taken for missing or lost', async () => {
  const world = await startWorld({
    names: ['Vault', 'Bridge'],
    kinds: ['webhook', 'slack'],
    config: { ...CONFIG, audit: { every: '200ms', lostAfter: '100ms' } },
  });
  const daemons = [await world.start(), await world.start()];
  const repair = world.sandbox.receivers.webhook.script.always({ kind: 'answer', status: 503 });
  for (let round = 0; round < 10; round += 1) {
    world.critical('Vault', 20);
    world.critical('Bridge', 20);
    await until('an audit ran', async () => {
      const runs = await Promise.all(daemons.map((daemon) => daemon.metric('tocsin_audits_total')));
      return runs.reduce((sum, count) => sum + count, 0) > 2 * round;
    });
  }
  repair();
  await world.balanced(40_000);
  for (const daemon of daemons) expect(await daemon.metric('tocsin_audit_differences_total')).toBe(0);
});
