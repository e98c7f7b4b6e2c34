/** How long alerts took, as the status page plots it: over all daemons, by ten minutes, and gone after a day. */
import { expect, test } from 'vitest';
import { createDestinationStats, createLatencies } from '../../src/ledger/destination-stats.ts';
import { execute } from '../../src/redis/pipeline.ts';
import { destinationOf } from '../support/alerts.ts';
import { openTestRedis } from '../support/redis.ts';

const T0 = Date.parse('2026-11-20T12:00:00Z');
const MINUTE = 60_000;
const SLACK = destinationOf('slack', 'C1');

const within = (ms: number): readonly [number, number] => [ms, ms * Math.SQRT2];

test('are summed over daemons, in steps of ten minutes', async () => {
  const { redis, prefix } = openTestRedis();
  const [one, other] = [createLatencies(redis, prefix), createLatencies(redis, prefix)];
  one.gather(T0 + MINUTE, [...Array<number>(90).fill(2000), ...Array<number>(4).fill(9000)]);
  other.gather(T0 + 2 * MINUTE, Array<number>(6).fill(60_000));
  other.gather(T0 + 70 * MINUTE, [0]);
  for (const each of [one, other]) {
    const batch = redis.pipeline();
    each.write(batch);
    await execute(batch);
  }
  const [first, second, ...more] = await one.between(T0, T0 + 80 * MINUTE);
  expect(more).toEqual([]);
  expect(first).toMatchObject({ at: T0, delivered: 100 });
  const [least, most] = within(2000);
  expect(first?.medianMs).toBeGreaterThanOrEqual(least);
  expect(first?.medianMs).toBeLessThanOrEqual(most);
  expect(first?.mostMs).toBeGreaterThanOrEqual(60_000);
  expect(second).toMatchObject({ at: T0 + 70 * MINUTE, delivered: 1 });
  expect(await one.between(T0 + 10 * MINUTE, T0 + 60 * MINUTE)).toEqual([]);
  expect(await redis.ttl(`${prefix}:latency:2026-11-20T12`)).toBeGreaterThan(0);
});

test('are written with the statistics of destinations, which stay known after Redis lost them', async () => {
  const { redis, prefix } = openTestRedis();
  const stats = createDestinationStats(redis, prefix);
  await stats.succeeded(SLACK, 2, new Date(T0).toISOString(), [500, 700]);
  expect(await stats.latencies(T0, T0)).toMatchObject([{ at: T0, delivered: 2 }]);
  await redis.del(`${prefix}:destinations`, `${prefix}:destination:${SLACK.id}`);
  await stats.succeeded(SLACK, 1, new Date(T0).toISOString());
  expect(await stats.list()).toMatchObject([{ id: SLACK.id, delivered: 1 }]);
});
