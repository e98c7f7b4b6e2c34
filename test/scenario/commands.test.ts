/** How many Redis commands an alert costs, from the poll until its end is in the ledger: a figure that no noise touches. */
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { ownRedis } from '../support/redis-server.ts';
import { until } from '../support/until.ts';
import { startWorld } from './world.ts';

/** So many at once, in parcels of twenty. */
const ALERTS = 800;

/** An alert to one webhook; those that scripts call count as well. */
const MOST_COMMANDS = 8;

/** What a daemon asks whether there are alerts or not: at its start, and for the few polls and beats of this test. */
const MOST_WITHOUT_ALERTS = 1000;

/** Calls so far, by command. */
const callsOf = async (redis: Redis): Promise<Map<string, number>> => {
  const lines = (await redis.info('commandstats')).matchAll(/^cmdstat_(\S+?):calls=(\d+)/gm);
  return new Map(Array.from(lines, ([, name = '', calls]) => [name, Number(calls)]));
};

test('an alert to a webhook costs few Redis commands', async () => {
  const server = await ownRedis();
  onTestFinished(() => server.remove());
  const redisUrl = `redis://127.0.0.1:${server.port}`;
  const config = { poll: { interval: '1s', sweepEvery: '1h', startFrom: '1h' }, alerts: { secondLook: [] } };
  const world = await startWorld({ names: ['Vault'], kinds: ['webhook'], redisUrl, config });
  const redis = new Redis(redisUrl);
  onTestFinished(() => redis.disconnect());
  const before = await callsOf(redis);
  world.critical('Vault', ALERTS);
  await world.start();
  await world.delivered();
  const open = `${world.prefix}:waiting`;
  await until('every end is written', async () => (await redis.hvals(open)).every((count) => count === '0'));

  const calls = [...(await callsOf(redis))].map(([name, count]) => [name, count - (before.get(name) ?? 0)] as const);
  const total = calls.reduce((sum, [, count]) => sum + count, 0);
  const table = calls.toSorted(([, a], [, b]) => b - a).map(([name, count]) => `${name} ${count / ALERTS}`);
  expect(total, table.slice(0, 20).join(', ')).toBeLessThanOrEqual(MOST_COMMANDS * ALERTS + MOST_WITHOUT_ALERTS);
});
