/** Alerts that come singly, four a second: Redis commands of one beside those of a BullMQ job that does nothing else. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CHANNEL_KINDS, type ChannelKind } from '../../src/alert.ts';
import type { Bench, BenchOptions, Row } from '../row.ts';
import { type Stage, withStage } from '../stage/stage.ts';
import { arrived } from '../world/arrived.ts';
import { startYardstick } from '../yardsticks/yardstick.ts';

const RATE = 4;
/** So many that no destination is near its rate limit. */
const PROTOCOLS = 20;
const SETTLE_MS = 5000;

interface Single {
  commands: number;
  bytes: number;
  /** Milliseconds of CPU. */
  daemonMs: number;
  redisMs: number;
}

/** Of one alert; what the daemon takes in the same time without any is subtracted. */
const watchSingle = async ({ world, redis, startDaemon }: Stage, kinds: number, seconds: number): Promise<Single> => {
  const daemon = await startDaemon();
  const count = RATE * seconds;
  const spentIn = async (act: () => Promise<unknown>): Promise<Single> => {
    await redis.resetCommands();
    const before = { daemon: daemon.cpu(), redis: redis.cpu() };
    await act();
    return {
      commands: await redis.commandsGiven(),
      bytes: await redis.writtenBytes(),
      daemonMs: (daemon.cpu() - before.daemon) * 1000,
      redisMs: (redis.cpu() - before.redis) * 1000,
    };
  };
  const forward = async (some: number): Promise<void> => {
    world.reset();
    world.write({ perSecond: RATE, count: some });
    await Promise.all([arrived(world, some * kinds), sleep((some * 1000) / RATE)]);
    await sleep(SETTLE_MS);
  };
  await forward(PROTOCOLS);
  const idle = await spentIn(() => sleep(seconds * 1000 + SETTLE_MS));
  const all = await spentIn(() => forward(count));
  const each = (pick: (single: Single) => number): number => (pick(all) - pick(idle)) / count;
  return {
    commands: each(({ commands }) => commands),
    bytes: each(({ bytes }) => bytes),
    daemonMs: each(({ daemonMs }) => daemonMs),
    redisMs: each(({ redisMs }) => redisMs),
  };
};

/** Commands of one job that is added, run and removed. */
const bareJob = async ({ redis }: Stage, seconds: number): Promise<number> => {
  const yardstick = await startYardstick();
  try {
    await redis.resetCommands();
    await yardstick.run({ kind: 'jobs', redisUrl: redis.url, perSecond: RATE, seconds });
    return (await redis.commandsGiven()) / (RATE * seconds);
  } finally {
    await yardstick.stop();
    await redis.client.flushall();
  }
};

const measureKinds = async ({ program, quick }: BenchOptions, kinds: readonly ChannelKind[]): Promise<Row> => {
  const seconds = quick ? 15 : 30;
  const settings = {
    program,
    protocols: PROTOCOLS,
    hanging: 0,
    kinds,
    each: 'all',
    poll: { interval: '1s' },
  } as const;
  const isAll = kinds.length > 1;
  return withStage(settings, async (stage) => {
    const bare = (await bareJob(stage, seconds)) * kinds.length;
    const { commands, bytes, daemonMs, redisMs } = await watchSingle(stage, kinds.length, seconds);
    return {
      key: isAll ? 'single-commands-kinds' : 'single-commands',
      work: `a single alert to ${isAll ? 'all four kinds' : 'a webhook'}: Redis commands`,
      unit: '',
      measured: commands,
      yardstick: { name: isAll ? `${kinds.length} bare jobs` : 'a bare job', measured: bare },
      note: `${bytes.toFixed(0)} bytes written to Redis; daemon ${daemonMs.toFixed(1)} ms, Redis ${redisMs.toFixed(1)} ms; idle is subtracted`,
      wanted: { of: 'ratio', most: 1.25 },
    };
  });
};

export const measure: Bench = async (options) => [
  await measureKinds(options, ['webhook']),
  await measureKinds(options, CHANNEL_KINDS),
];
