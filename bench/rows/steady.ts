/**
 * Twenty alerts a second to all four kinds, for some minutes: CPU, and whether memory stays. People get most of them as
 * digests, as nobody's rate limit allows so many messages.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { CHANNEL_KINDS } from '../../src/alert.ts';
import type { Bench, Row } from '../row.ts';
import { medianOf } from '../run.ts';
import { type Stage, withStage } from '../stage/stage.ts';
import { startYardstick } from '../yardsticks/yardstick.ts';

const RATE = 20;
const PROTOCOLS = 3;
/** Parts of the time that are measured by themselves; the median of them counts. */
const WINDOWS = 5;
const WARM_SECONDS = 10;
const YARDSTICK_SECONDS = 10;

interface Window {
  /** Shares of a core. */
  daemon: number;
  redis: number;
  memory: number;
}

const watch = async ({ world, redis, startDaemon }: Stage, seconds: number): Promise<[first: Window, ...Window[]]> => {
  const daemon = await startDaemon();
  const count = RATE * (WARM_SECONDS + seconds);
  world.write({ perSecond: RATE, count });
  let windowSeconds = WARM_SECONDS;
  const next = async (): Promise<Window> => {
    const before = { daemon: daemon.cpu(), redis: redis.cpu() };
    await sleep(windowSeconds * 1000);
    return {
      daemon: (daemon.cpu() - before.daemon) / windowSeconds,
      redis: (redis.cpu() - before.redis) / windowSeconds,
      memory: daemon.memory(),
    };
  };
  const first = await next();
  windowSeconds = seconds / WINDOWS;
  const windows: Window[] = [];
  while (windows.length < WINDOWS) windows.push(await next());
  return [first, ...windows];
};

/** The share of a core that as many bare, signed POSTs take. */
const watchBare = async ({ world }: Stage): Promise<number> => {
  const yardstick = await startYardstick();
  try {
    const perSecond = RATE * CHANNEL_KINDS.length;
    const { cpuSeconds, seconds } = await yardstick.run({
      kind: 'post',
      url: world.url,
      perSecond,
      seconds: YARDSTICK_SECONDS,
    });
    return cpuSeconds / seconds;
  } finally {
    await yardstick.stop();
  }
};

const rowsOf = (bare: number, [first, ...windows]: readonly [Window, ...Window[]], minutes: number): Row[] => {
  const middle = (pick: (window: Window) => number): number => medianOf(windows.map(pick));
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
  return [
    {
      key: 'steady-cpu',
      work: '20 alerts/s to all four kinds',
      unit: '% of a core',
      measured: 100 * middle(({ daemon, redis }) => daemon + redis),
      yardstick: { name: '80 bare POSTs/s', measured: 100 * bare },
      note: `daemon ${percent(middle(({ daemon }) => daemon))}, Redis ${percent(middle(({ redis }) => redis))}`,
      wanted: { of: 'value', most: 7 },
      watched: 'ratio',
    },
    {
      key: 'steady-memory',
      work: `memory after ${minutes.toFixed(1)} min of that`,
      unit: 'MB',
      measured: windows.at(-1)?.memory ?? Number.NaN,
      yardstick: { name: `after ${WARM_SECONDS} s`, measured: first.memory },
      wanted: { of: 'value', most: 220 },
    },
  ];
};

export const measure: Bench = async ({ program, quick, minutes }) => {
  const length = quick ? 0.5 : minutes;
  const settings = {
    program,
    protocols: PROTOCOLS,
    hanging: 0,
    kinds: CHANNEL_KINDS,
    each: 'all',
    poll: { interval: '1s' },
  } as const;
  return withStage(settings, async (stage) => {
    const bare = await watchBare(stage);
    return rowsOf(bare, await watch(stage, length * 60), length);
  });
};
