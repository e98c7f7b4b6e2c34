/** How long from the answer that told of an inspection until the alert is on the wire, to destinations that are free? */
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { CHANNEL_KINDS } from '../../src/alert.ts';
import type { Bench, Row } from '../row.ts';
import { medianOf, percentile } from '../run.ts';
import { type Stage, withStage } from '../stage/stage.ts';
import { type Arrival, startWorld } from '../world/world.ts';
import { readAndPost } from '../yardsticks/read-and-post.ts';

/** Alerts a second, over so many protocols, each with a destination of its own and polled so often. */
const RATE = 50;
const PROTOCOLS = 52;
const INTERVAL_MS = 200;
/** Not counted: connections are opened and code is compiled. */
const WARM_SECONDS = 5;
const DIRECT_SECONDS = 6;
/** What has not arrived by then is missing. */
const LAST_MS = 5000;
/** Parts that are looked at by themselves; the median of them counts. */
const WINDOWS = 5;

const shape = { protocols: PROTOCOLS, hanging: 0, each: 'one' } as const;
const latencies = (arrivals: readonly Arrival[]): number[] => arrivals.map(({ latencyMs }) => latencyMs);

const measureDirect = async (): Promise<number[]> => {
  const world = await startWorld({ ...shape, kinds: ['webhook'] });
  try {
    world.write({ perSecond: RATE, count: RATE * DIRECT_SECONDS });
    await readAndPost(world.url, { protocols: PROTOCOLS, intervalMs: INTERVAL_MS, seconds: DIRECT_SECONDS + 1 });
    return latencies((await world.report()).arrivals);
  } finally {
    await world.stop();
  }
};

const play = async ({ world, startDaemon }: Stage, seconds: number): Promise<Arrival[]> => {
  await startDaemon();
  const warmUp = RATE * WARM_SECONDS;
  const count = RATE * seconds;
  // Every protocol has been read once when its first inspection is written.
  await sleep(2000 + 2 * INTERVAL_MS);
  world.write({ perSecond: RATE, count: warmUp + count });
  await sleep((WARM_SECONDS + seconds) * 1000);
  const isCounted = ({ id }: Arrival): boolean => Number(id.replace('finding-', '')) >= warmUp;
  const arrivals: Arrival[] = [];
  for (const end = performance.now() + LAST_MS; arrivals.length < count && performance.now() < end; ) {
    arrivals.push(...(await world.report()).arrivals.filter(isCounted));
    await sleep(100);
  }
  const missing = count - new Set(arrivals.map(({ id }) => id)).size;
  if (missing > 0) throw new Error(`${missing} alerts did not arrive`);
  return arrivals.toSorted((a, b) => a.beganAt - b.beganAt);
};

const ms = (value: number): string => value.toFixed(1);

const rowOf = (direct: readonly number[], arrivals: readonly Arrival[]): Row => {
  const size = Math.ceil(arrivals.length / WINDOWS);
  const windows = Array.from({ length: WINDOWS }, (_, n) => latencies(arrivals.slice(n * size, (n + 1) * size)));
  const kinds = CHANNEL_KINDS.map((kind) => {
    const values = latencies(arrivals.filter((arrival) => arrival.kind === kind));
    return `${kind} ${ms(percentile(values, 0.5))}/${ms(percentile(values, 0.99))}`;
  });
  return {
    key: 'latency',
    work: 'p99 from poll to wire at 50/s, all kinds',
    unit: 'ms',
    measured: medianOf(windows.map((values) => percentile(values, 0.99))),
    yardstick: { name: 'p99 of read and post', measured: percentile(direct, 0.99) },
    note: `p50/p99 ${kinds.join(', ')}; load average ${ms(loadavg()[0] ?? 0)}`,
    wanted: { of: 'value', most: 25 },
    watched: 'ratio',
  };
};

export const measure: Bench = async ({ program, quick }) => {
  const direct = await measureDirect();
  const settings = { ...shape, program, kinds: CHANNEL_KINDS, poll: { interval: `${INTERVAL_MS}ms` } };
  return [rowOf(direct, await withStage(settings, (stage) => play(stage, quick ? 10 : 30)))];
};
