/** Polls that find nothing new: what they cost, and whether they come on time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { medianOf } from '../run.ts';
import type { World } from '../world/world.ts';
import type { Stage } from './stage.ts';

export interface Scale {
  protocols: number;
  /** Seconds between two polls of one. */
  interval: number;
  windows: number;
  windowSeconds: number;
}

export interface Polling {
  /** Of CPU, a poll. */
  us: number;
  /** Shares of a core. */
  daemon: number;
  redis: number;
  requestsAPoll: number;
  /** Share of the polls that came within 1.2 intervals after the one before. */
  onTime: number;
  /** MB. */
  memory: number;
  redisMemory: number;
}

const LATE = 1.2;
/** No protocol for so long that was not asked for before: the rest will not come. */
const SILENCE_MS = 60_000;

/** Waits until every protocol was asked for at least once. */
const waitForAll = async (world: World, protocols: number): Promise<void> => {
  const seen = new Set<number>();
  for (let heardAt = performance.now(); seen.size < protocols; await sleep(250)) {
    const before = seen.size;
    const { polls } = await world.report();
    for (const [n, times] of polls.entries()) if (times.length > 0) seen.add(n);
    if (seen.size > before) heardAt = performance.now();
    if (performance.now() - heardAt > SILENCE_MS)
      throw new Error(`${protocols - seen.size} protocols were never polled`);
  }
};

/** Adds the polls of a window to those before, and tells whether each gap was short enough. */
const createGaps = (intervalMs: number) => {
  const lastAt = new Map<number, number>();
  const gaps: number[] = [];
  return {
    add: (polls: readonly (readonly number[])[]): void => {
      for (const [n, times] of polls.entries())
        for (const at of times) {
          const before = lastAt.get(n);
          if (before !== undefined) gaps.push(at - before);
          lastAt.set(n, at);
        }
    },
    /** What was not polled again until then is late as well. */
    onTime: (now: number): number => {
      const open = [...lastAt.values()].map((at) => now - at);
      const all = [...gaps, ...open.filter((gap) => gap > intervalMs * LATE)];
      return all.filter((gap) => gap <= intervalMs * LATE).length / all.length;
    },
  };
};

export const poll = async ({ world, redis, startDaemon }: Stage, scale: Scale): Promise<Polling> => {
  const { protocols, interval, windows, windowSeconds } = scale;
  const daemon = await startDaemon();
  await waitForAll(world, protocols);
  // Past the first read of each, which asks for more than an ordinary poll.
  await sleep(Math.min(2 * interval, 20) * 1000);
  await world.report();
  const gaps = createGaps(interval * 1000);
  const seen: Pick<Polling, 'us' | 'daemon' | 'redis' | 'requestsAPoll'>[] = [];
  while (seen.length < windows) {
    const before = { daemon: daemon.cpu(), redis: redis.cpu(), at: performance.now() };
    await sleep(windowSeconds * 1000);
    const spent = { daemon: daemon.cpu() - before.daemon, redis: redis.cpu() - before.redis };
    const seconds = (performance.now() - before.at) / 1000;
    const { polls, requests } = await world.report();
    gaps.add(polls);
    const count = polls.reduce((sum, times) => sum + times.length, 0);
    seen.push({
      us: ((spent.daemon + spent.redis) * 1e6) / count,
      daemon: spent.daemon / seconds,
      redis: spent.redis / seconds,
      requestsAPoll: requests / count,
    });
  }
  const middle = (pick: (one: (typeof seen)[number]) => number): number => medianOf(seen.map(pick));
  return {
    us: middle(({ us }) => us),
    daemon: middle((one) => one.daemon),
    redis: middle((one) => one.redis),
    requestsAPoll: middle(({ requestsAPoll }) => requestsAPoll),
    onTime: gaps.onTime(performance.timeOrigin + performance.now()),
    memory: daemon.memory(),
    redisMemory: (await redis.usedBytes()) / 1e6,
  };
};
