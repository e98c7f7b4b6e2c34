/**
 * What Redis keeps of an alert that was delivered to four destinations, for weeks. What polls remember of it is for half an
 * hour, and a queue's events are bounded: both are told beside it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { CHANNEL_KINDS } from '../../src/alert.ts';
import type { Bench } from '../row.ts';
import type { DaemonProcess } from '../stage/daemon.ts';
import type { BenchRedis } from '../stage/redis.ts';
import { withStage } from '../stage/stage.ts';
import { CLOSE, RECENT } from '../world/dates.ts';

const SILENCE_MS = 120_000;
/** What is written late, or kept only for a moment, has come and gone after this. */
const SETTLE_MS = 3000;
const WARM_UP = 400;
const PROTOCOLS = 4;

const deliveredBy = async ({ ops }: DaemonProcess): Promise<number> => {
  const metrics = await (await fetch(new URL('/metrics', ops))).text();
  const counts = metrics.matchAll(/^tocsin_deliveries_total\{.*outcome="delivered".*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
};

const waitForDeliveries = async (daemon: DaemonProcess, count: number): Promise<void> => {
  let last = -1;
  for (let heardAt = performance.now(); ; await sleep(250)) {
    const delivered = await deliveredBy(daemon);
    if (delivered >= count) break;
    if (delivered > last) heardAt = performance.now();
    last = delivered;
    if (performance.now() - heardAt > SILENCE_MS) throw new Error(`${count - delivered} deliveries are missing`);
  }
  await sleep(SETTLE_MS);
};

/** As little as a delivery's end can be: a hash of an alert, a field a destination with the outcome and the time. */
const bareBytes = async ({ client }: BenchRedis): Promise<number> => {
  const key = `bench:{${'0123456789abcdef'.repeat(2)}}`;
  const fields = CHANNEL_KINDS.map((kind) => [`${kind}:0123456789abcdef`, `delivered ${Date.now()}`]);
  await client.hset(key, Object.fromEntries(fields));
  const bytes = Number(await client.memory('USAGE', key));
  await client.del(key);
  return bytes;
};

/** By key: identities of what was read lately, and BullMQ's events. */
const PASSING = ['seen:*', 'read:*', '*:events'];

const bytesOf = async ({ client }: BenchRedis, patterns: readonly string[]): Promise<number> => {
  const keys = (await Promise.all(patterns.map((pattern) => client.keys(`{*}:${pattern}`)))).flat();
  const sizes = await Promise.all(keys.map((key) => client.memory('USAGE', key, 'SAMPLES', 0)));
  return sizes.reduce((sum: number, size) => sum + Number(size), 0);
};

export const measure: Bench = async ({ program, quick }) => {
  const count = quick ? 1000 : 4000;
  const settings = {
    program,
    protocols: 2 * PROTOCOLS,
    hanging: 0,
    kinds: CHANNEL_KINDS,
    each: 'all',
    poll: { interval: '1s' },
  } as const;
  return withStage(settings, async ({ world, redis, startDaemon }) => {
    const bare = await bareBytes(redis);
    const daemon = await startDaemon();
    world.store({ count: WARM_UP, from: 0, to: PROTOCOLS, dates: RECENT });
    await waitForDeliveries(daemon, WARM_UP * CHANNEL_KINDS.length);
    const before = { all: await redis.usedBytes(), passing: await bytesOf(redis, PASSING) };
    world.store({ count, from: PROTOCOLS, to: 2 * PROTOCOLS, dates: CLOSE });
    await waitForDeliveries(daemon, (WARM_UP + count) * CHANNEL_KINDS.length);
    const all = ((await redis.usedBytes()) - before.all) / count;
    const passing = ((await bytesOf(redis, PASSING)) - before.passing) / count;
    return [
      {
        key: 'ledger-bytes',
        work: 'Redis, an alert kept, four destinations',
        unit: 'bytes',
        measured: all - passing,
        yardstick: { name: 'a bare hash', measured: bare },
        note: `of ${count} alerts; ${all.toFixed(0)} with what is kept for half an hour`,
        wanted: { of: 'value', most: 1400 },
      },
    ];
  });
};
