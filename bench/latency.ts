/**
 * How long from the answer that told of an inspection until the alert is on the wire, to destinations that are free?
 *
 *   node bench/latency.ts [--rate 50] [--seconds 30] [--protocols 52] [--interval 200] [--bar 100]
 *
 * Alerts a second in all, measured for so long, spread over so many protocols, each with a destination of its own and
 * polled so often (milliseconds); exits with 2 where 99 of 100 take longer than the bar (milliseconds) to any kind.
 */
import { loadavg } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { CHANNEL_KINDS } from '../src/alert.ts';
import { readAndPost } from './direct.ts';
import { numbersOf, percentile, print, printTable, run } from './run.ts';
import { type Stage, withStage } from './stage.ts';
import { type Arrival, startWorld } from './world/world.ts';

const { rate, seconds, protocols, interval, bar } = numbersOf({
  rate: 50,
  seconds: 30,
  protocols: 52,
  interval: 200,
  bar: 100,
});
/** Not counted: connections are opened and code is compiled. */
const WARM_SECONDS = 5;
const DIRECT_SECONDS = 5;
/** What has not arrived by then is missing. */
const LAST_MS = 5000;

const latencies = (arrivals: readonly Arrival[]): number[] => arrivals.map(({ latencyMs }) => latencyMs);

const measureDirect = async (): Promise<number[]> => {
  const world = await startWorld({ protocols, hanging: 0, stored: 0, kinds: ['webhook'] });
  try {
    world.write({ perSecond: rate, count: rate * DIRECT_SECONDS });
    await readAndPost(world.url, { protocols, intervalMs: interval, seconds: DIRECT_SECONDS + 1 });
    return latencies((await world.report()).arrivals);
  } finally {
    await world.stop();
  }
};

const measure = async ({ world, used }: Stage) => {
  const warmUp = rate * WARM_SECONDS;
  const count = warmUp + rate * seconds;
  // Every protocol has been read once when its first inspection is written.
  await sleep(2000 + 2 * interval);
  world.write({ perSecond: rate, count });
  await sleep(WARM_SECONDS * 1000);
  const late = monitorEventLoopDelay({ resolution: 1 });
  late.enable();
  const before = await used();
  await sleep(seconds * 1000);
  const after = await used();
  late.disable();

  const isCounted = ({ id }: Arrival): boolean => Number(id.replace('finding-', '')) >= warmUp;
  const arrivals: Arrival[] = [];
  for (const end = performance.now() + LAST_MS; arrivals.length < rate * seconds && performance.now() < end; ) {
    arrivals.push(...(await world.report()).arrivals.filter(isCounted));
    await sleep(100);
  }
  return {
    arrivals,
    missing: rate * seconds - new Set(arrivals.map(({ id }) => id)).size,
    daemonShare: (after.daemon - before.daemon) / seconds,
    redisShare: (after.redis - before.redis) / seconds,
    loopLateMs: late.percentile(99) / 1e6,
  };
};

const ms = (value: number): string => value.toFixed(1);
const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;

await run(async () => {
  const direct = await measureDirect();
  const settings = { protocols, hanging: 0, stored: 0, kinds: CHANNEL_KINDS };
  const result = await withStage(settings, { interval: `${interval}ms` }, measure);
  const directMs = percentile(direct, 0.5);
  const row = (name: string, values: readonly number[]): string[] => [
    name,
    String(values.length),
    ...[percentile(values, 0.5), percentile(values, 0.99), percentile(values, 1)].map(ms),
    (percentile(values, 0.5) / directMs).toFixed(1),
  ];
  const byKind = CHANNEL_KINDS.map((kind) => ({
    kind,
    values: latencies(result.arrivals.filter((arrival) => arrival.kind === kind)),
  }));
  printTable([
    ['', 'alerts', 'p50 ms', 'p99 ms', 'max ms', 'p50 / direct'],
    ...byKind.map(({ kind, values }) => row(kind, values)),
    row('all', latencies(result.arrivals)),
    row('direct', direct),
  ]);
  const [load = 0] = loadavg();
  print(
    `daemon ${percent(result.daemonShare)} of a core, event loop up to ${ms(result.loopLateMs)} ms late (p99); ` +
      `Redis ${percent(result.redisShare)}; load average ${load.toFixed(1)}`,
  );
  const isGood = result.missing === 0 && byKind.every(({ values }) => percentile(values, 0.99) <= bar);
  const missing = result.missing === 0 ? '' : `; ${result.missing} alerts did not arrive`;
  print(`${isGood ? 'PASS' : 'FAIL'}: 99 of 100 alerts of each kind within ${bar} ms${missing}`);
  return isGood;
});
