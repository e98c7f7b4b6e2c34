/** The same alerts for one webhook through each yardstick: what it costs, after a warm-up. */

import type { Stage } from '../stage/stage.ts';
import { arrived } from '../world/arrived.ts';
import { startAlertmanager } from './alertmanager.ts';
import type { Yardstick } from './yardstick.ts';

export interface Cost {
  /** Of CPU, microseconds an alert. */
  us: number;
  /** From the first that was given until the last began to arrive. */
  perSecond: number;
}

/** Before it is measured, code is compiled and connections are opened. */
export const WARM_UP = 2000;

export const costOf = (count: number, cpuSeconds: number, ms: number): Cost => ({
  us: (cpuSeconds * 1e6) / count,
  perSecond: (count * 1000) / ms,
});

/** Uses the stage's Redis, and leaves it empty. */
export const playFloor = async ({ world, redis }: Stage, yardstick: Yardstick, count: number): Promise<Cost> => {
  const order = { kind: 'floor', redisUrl: redis.url, url: world.url } as const;
  await yardstick.run({ ...order, from: 0, count: WARM_UP });
  world.reset();
  const before = redis.cpu();
  const { begunAt, cpuSeconds } = await yardstick.run({ ...order, from: WARM_UP, count });
  const redisSeconds = redis.cpu() - before;
  const { lastAt } = await arrived(world, count);
  await redis.client.flushall();
  return costOf(count, cpuSeconds + redisSeconds, lastAt - begunAt);
};

export const playAlertmanager = async ({ world }: Stage, program: string, count: number): Promise<Cost> => {
  const alertmanager = await startAlertmanager(program, world.url);
  try {
    world.reset();
    await alertmanager.post(0, WARM_UP);
    await arrived(world, WARM_UP);
    world.reset();
    const before = alertmanager.cpu();
    const begunAt = await alertmanager.post(WARM_UP, count);
    const { lastAt } = await arrived(world, count);
    return costOf(count, alertmanager.cpu() - before, lastAt - begunAt);
  } finally {
    await alertmanager.stop();
  }
};
