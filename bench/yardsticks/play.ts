/** The same alerts for one webhook through each yardstick: what it costs, after a warm-up. */

import type { Stage } from '../stage/stage.ts';
import { arrived } from '../world/arrived.ts';
import { startAlertmanager } from './alertmanager.ts';
import type { FloorOrder } from './floor.ts';
import type { Yardstick } from './yardstick.ts';

export interface Cost {
  /** Of CPU, microseconds an alert. */
  us: number;
  /** From the first that was given until the last began to arrive. */
  perSecond: number;
}

/** Before it is measured, code is compiled and connections are opened. */
export const warmUpFor = (count: number): number => Math.min(2000, count);

export const costOf = (count: number, cpuSeconds: number, ms: number): Cost => ({
  us: (cpuSeconds * 1e6) / count,
  perSecond: (count * 1000) / ms,
});

/** Uses the stage's Redis, and leaves it empty. */
export const playFloor = async (
  { world, redis }: Stage,
  yardstick: Yardstick,
  { count, bytes }: Pick<FloorOrder, 'count' | 'bytes'>,
): Promise<Cost> => {
  const warmUp = warmUpFor(count);
  const order = { kind: 'floor', redisUrl: redis.url, url: world.url, bytes } as const;
  await yardstick.run({ ...order, from: 0, count: warmUp });
  world.reset();
  const before = redis.cpu();
  const { begunAt, cpuSeconds } = await yardstick.run({ ...order, from: warmUp, count });
  const redisSeconds = redis.cpu() - before;
  const { lastAt } = await arrived(world, count);
  await redis.client.flushall();
  return costOf(count, cpuSeconds + redisSeconds, lastAt - begunAt);
};

export const playAlertmanager = async ({ world }: Stage, program: string, count: number): Promise<Cost> => {
  const warmUp = warmUpFor(count);
  const alertmanager = await startAlertmanager(program, world.url);
  try {
    world.reset();
    await alertmanager.post(0, warmUp);
    await arrived(world, warmUp);
    world.reset();
    const before = alertmanager.cpu();
    const begunAt = await alertmanager.post(warmUp, count);
    const { lastAt } = await arrived(world, count);
    return costOf(count, alertmanager.cpu() - before, lastAt - begunAt);
  } finally {
    await alertmanager.stop();
  }
};
