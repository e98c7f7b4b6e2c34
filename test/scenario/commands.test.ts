/**
 * How many Redis commands an alert costs, from the poll until its end is in the ledger, and a daemon that has nothing to do:
 * figures that no noise touches.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { CHANNEL_KINDS } from '../../src/alert.ts';
import { LIMITS } from '../../src/app/context.ts';
import { ownRedis } from '../support/redis-server.ts';
import { until } from '../support/until.ts';
import { startWorld } from './world.ts';

/** So many at once, in parcels of 25. */
const ALERTS = 800;

/** An alert to one webhook; those that scripts call count as well. On a busy machine fewer go into one script. */
const MOST_COMMANDS = 4.5;

/** Alerts that come one by one: one to a webhook, and one to a channel of each kind. */
const SINGLES = 10;
const MOST_OF_A_SINGLE = { webhook: 68, each: 216 };

/** What a daemon asks once, at its start. */
const MOST_AT_START = 300;

/** Its statistics and its job's end are written by then. */
const SETTLED_MS = 300;

/** How long the daemon is left alone, to see what it asks of Redis whether there are alerts or not. */
const IDLE_MS = 3000;

/** A second, with four protocols and all kinds of channels at the pace of the default config. */
const MOST_WHILE_IDLE = 30;

/** Calls so far, by command. */
const callsOf = async (redis: Redis): Promise<Map<string, number>> => {
  const lines = (await redis.info('commandstats')).matchAll(/^cmdstat_(\S+?):calls=(\d+)/gm);
  return new Map(Array.from(lines, ([, name = '', calls]) => [name, Number(calls)]));
};

interface Calls {
  at: number;
  byCommand: Map<string, number>;
}

const snapshot = async (redis: Redis): Promise<Calls> => ({ at: Date.now(), byCommand: await callsOf(redis) });

/** Calls of each command from one snapshot to the next. */
const between = (before: Calls, after: Calls): [string, number][] =>
  [...after.byCommand].map(([name, count]) => [name, count - (before.byCommand.get(name) ?? 0)]);

const sum = (calls: readonly (readonly [string, number])[]): number => calls.reduce((all, [, count]) => all + count, 0);

test('an alert to a webhook costs few Redis commands', async () => {
  const server = await ownRedis();
  onTestFinished(() => server.remove());
  const redisUrl = `redis://127.0.0.1:${server.port}`;
  const config = { poll: { interval: '1s', sweepEvery: '1h', startFrom: '1h' }, alerts: { secondLook: [] } };
  const world = await startWorld({ names: ['Vault'], kinds: ['webhook'], redisUrl, config });
  const redis = new Redis(redisUrl);
  onTestFinished(() => redis.disconnect());
  const before = await snapshot(redis);
  world.critical('Vault', ALERTS);
  await world.start();
  await world.delivered();
  const open = `${world.prefix}:waiting`;
  await until('every end is written', async () => (await redis.hvals(open)).every((count) => count === '0'));
  const after = await snapshot(redis);
  await delay(IDLE_MS);
  const idle = await snapshot(redis);

  // A busy machine takes longer, and the daemon does its regular work meanwhile: that is not the alerts'.
  const idlePerMs = sum(between(after, idle)) / (idle.at - after.at);
  const calls = between(before, after);
  const table = calls.toSorted(([, a], [, b]) => b - a).map(([name, count]) => `${name} ${count / ALERTS}`);
  const ofAlerts = sum(calls) - idlePerMs * (after.at - before.at);
  expect(ofAlerts, table.slice(0, 20).join(', ')).toBeLessThanOrEqual(MOST_COMMANDS * ALERTS + MOST_AT_START);
});

test.each([
  ['a webhook', ['webhook'], MOST_OF_A_SINGLE.webhook],
  ['a channel of each kind', CHANNEL_KINDS, MOST_OF_A_SINGLE.each],
] as const)('an alert that comes alone, to %s, costs few Redis commands', async (_, kinds, most) => {
  const server = await ownRedis();
  onTestFinished(() => server.remove());
  const redisUrl = `redis://127.0.0.1:${server.port}`;
  const email = kinds.length > 1 ? { channels: { email: { groupWait: '0s', rateLimit: {} } } } : {};
  const poll = { interval: '1s', sweepEvery: '1h', catalogEvery: null };
  const config = { poll, alerts: { secondLook: [] }, ...email };
  const world = await startWorld({ names: ['Vault'], kinds, redisUrl, config });
  const redis = new Redis(redisUrl);
  onTestFinished(() => redis.disconnect());
  const daemon = await world.start({ limits: { maintenanceEveryMs: 3_600_000 } });
  await daemon.watching();
  const deliverOne = async (): Promise<void> => {
    world.critical('Vault');
    await world.delivered();
    await delay(SETTLED_MS);
  };
  await deliverOne();
  const before = await snapshot(redis);
  for (let n = 0; n < SINGLES; n += 1) await deliverOne();
  const after = await snapshot(redis);
  await delay(IDLE_MS);
  const idle = await snapshot(redis);

  const idlePerMs = sum(between(after, idle)) / (idle.at - after.at);
  const calls = between(before, after).toSorted(([, a], [, b]) => b - a);
  const table = calls.map(([name, count]) => `${name} ${count / SINGLES}`);
  const ofAlerts = sum(calls) - idlePerMs * (after.at - before.at);
  expect(ofAlerts / SINGLES, table.slice(0, 30).join(', ')).toBeLessThanOrEqual(most);
});

test('a daemon that has nothing to do asks Redis for little', async () => {
  const server = await ownRedis();
  onTestFinished(() => server.remove());
  const redisUrl = `redis://127.0.0.1:${server.port}`;
  const poll = { interval: null, sweepEvery: null, catalogEvery: null };
  const world = await startWorld({ names: ['A', 'B', 'C', 'D'], redisUrl, config: { poll } });
  const redis = new Redis(redisUrl);
  onTestFinished(() => redis.disconnect());
  const daemon = await world.start({ limits: LIMITS });
  await daemon.watching();
  await delay(IDLE_MS);
  const before = await snapshot(redis);
  // One round of maintenance, in which every queue has its canary.
  await delay(LIMITS.maintenanceEveryMs);
  const after = await snapshot(redis);

  const seconds = (after.at - before.at) / 1000;
  const calls = between(before, after).toSorted(([, a], [, b]) => b - a);
  const table = calls.map(([name, count]) => `${name} ${(count / seconds).toFixed(1)}`);
  expect(sum(calls) / seconds, table.slice(0, 20).join(', ')).toBeLessThanOrEqual(MOST_WHILE_IDLE);
});
