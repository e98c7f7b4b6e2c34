/**
 * Polls that find nothing new: what one costs beside a bare request of the same page, and whether 10,000 protocols are
 * polled on time.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, BenchOptions, Row } from '../row.ts';
import { type Polling, poll, type Scale } from '../stage/polling.ts';
import { type Stage, withStage } from '../stage/stage.ts';
import { startYardstick } from '../yardsticks/yardstick.ts';

const BARE = { count: 20_000, concurrency: 20 };

/** Of CPU, microseconds for a bare request of an empty page. */
const pollBare = async ({ world }: Stage): Promise<number> => {
  const yardstick = await startYardstick();
  try {
    const url = `${world.url}/service-0/Protocol%200/inspections?startDate=${new Date().toISOString()}`;
    await yardstick.run({ kind: 'get', url, count: 2000, concurrency: BARE.concurrency });
    const { cpuSeconds } = await yardstick.run({ kind: 'get', url, ...BARE });
    return (cpuSeconds * 1e6) / BARE.count;
  } finally {
    await yardstick.stop();
    await world.report();
  }
};

const settingsFor = ({ program }: BenchOptions, { protocols, interval }: Scale) =>
  ({
    program,
    protocols,
    hanging: 0,
    kinds: ['webhook'],
    each: 'one',
    poll: { interval: `${interval}s` },
  }) as const;

/** MB of daemon and Redis with hardly any protocol. */
const emptyMemory = (options: BenchOptions): Promise<number> =>
  withStage(settingsFor(options, { protocols: 10, interval: 5, windows: 0, windowSeconds: 0 }), async (stage) => {
    const daemon = await stage.startDaemon();
    await sleep(10_000);
    return daemon.memory() + (await stage.redis.usedBytes()) / 1e6;
  });

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

const quietRow = ({ us, requestsAPoll }: Polling, bareUs: number, { protocols, interval }: Scale): Row => ({
  key: 'poll-cpu',
  work: 'CPU a quiet poll',
  unit: 'us',
  measured: us,
  yardstick: { name: 'bare GET', measured: bareUs },
  note: `${protocols} protocols every ${interval} s; ${requestsAPoll.toFixed(2)} requests a poll`,
  wanted: { of: 'ratio', most: 3.5 },
});

const scaleRows = (polling: Polling, bareUs: number, empty: number, { protocols, interval }: Scale): Row[] => {
  const work = `${protocols.toLocaleString('en')} protocols at ${interval} s`;
  const kB = (memory: number): number => (memory * 1000) / protocols;
  return [
    {
      key: 'scale-on-time',
      work: `${work}: polled on time`,
      unit: '%',
      measured: 100 * polling.onTime,
      note: 'within 1.2 intervals after the poll before',
      wanted: { of: 'value', least: 99 },
    },
    {
      key: 'scale-cpu',
      work: `${work}: CPU`,
      unit: '% of a core',
      measured: 100 * (polling.daemon + polling.redis),
      yardstick: { name: 'bare GETs', measured: (100 * protocols * bareUs) / interval / 1e6 },
      note: `daemon ${percent(polling.daemon)}, Redis ${percent(polling.redis)}`,
      wanted: { of: 'value', most: 30 },
      watched: 'ratio',
    },
    {
      key: 'scale-memory',
      work: `${work}: memory a protocol`,
      unit: 'kB',
      measured: kB(polling.memory + polling.redisMemory - empty),
      note: `daemon ${polling.memory.toFixed(0)} MB, Redis ${polling.redisMemory.toFixed(0)} MB, with 10 protocols ${empty.toFixed(0)} MB`,
      wanted: { of: 'value', most: 30 },
    },
  ];
};

export const measure: Bench = async (options) => {
  const { quick } = options;
  const few: Scale = { protocols: 1000, interval: 5, windows: 5, windowSeconds: quick ? 2 : 4 };
  const many: Scale = quick
    ? { protocols: 2000, interval: 3, windows: 5, windowSeconds: 2 }
    : { protocols: 10_000, interval: 15, windows: 5, windowSeconds: 15 };
  const { bareUs, quiet } = await withStage(settingsFor(options, few), async (stage) => ({
    bareUs: await pollBare(stage),
    quiet: await poll(stage, few),
  }));
  options.say('polls: quiet');
  const empty = await emptyMemory(options);
  const polling = await withStage(settingsFor(options, many), (stage) => poll(stage, many));
  return [quietRow(quiet, bareUs, few), ...scaleRows(polling, bareUs, empty, many)];
};
