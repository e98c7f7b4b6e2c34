/**
 * One daemon, one Redis and a steady stream of alerts for a long time: do memory, Redis and latency stay as they are?
 *
 *   node test/fault/soak.ts [--minutes 30] [--every 60] [--rate 20]
 *
 * Prints a line every `--every` seconds: the daemon's resident memory, the heap that was in use after a collection, its
 * CPU (of one core), what is in Redis, and how long alerts took in that time, from the service's writing them to their
 * arrival (the median and p99, of webhooks and of people). Exits with 2 where something was lost or came twice.
 */
import { readFile } from 'node:fs/promises';
import { setInterval, setTimeout as sleep } from 'node:timers/promises';
import { interruption, numbersOf, percentile, print, printTable, run } from '../../bench/run.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import type { DaemonProcess } from './daemon-process.ts';
import { type Stage, setStage } from './stage.ts';

const { minutes, every, rate } = numbersOf({ minutes: 30, every: 60, rate: 20 });
const LAST_MS = 60_000;
const LOOK_EVERY_MS = 5000;

const MB = 1024 * 1024;
const megabytes = (bytes: number): string => (bytes / MB).toFixed(1);

/** Resident, in bytes. */
const memoryOf = async (pid: number | undefined): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? Number.NaN) * 1024;
};

/** At this rate people get digests, with a pause after each; programs get each alert at once. */
type Latencies = Record<'people' | 'webhooks', number[]>;

/** Gives what arrived since it was last asked, as milliseconds since it was written. */
const watchLatency = (sandbox: Sandbox): (() => Latencies) => {
  const writtenAt = new Map<string, number>();
  let latencies: Latencies = { people: [], webhooks: [] };
  sandbox.onEvent((event) => {
    if (event.type === 'produced') {
      if (event.source === 'inspections') writtenAt.set(event.txHash ?? '', event.at);
      return;
    }
    for (const hash of event.txHashes) {
      const at = writtenAt.get(hash);
      if (at !== undefined) latencies[event.kind === 'webhook' ? 'webhooks' : 'people'].push(event.at - at);
    }
  });
  return () => {
    const seen = latencies;
    latencies = { people: [], webhooks: [] };
    return seen;
  };
};

interface Process {
  /** The least heap in use in that time: what is left after a collection. */
  heap: number;
  cpuSeconds: number;
}

/** Looks at the daemon's own metrics every few seconds; gives what they said since it was last asked. */
const watchProcess = (daemon: DaemonProcess, signal: AbortSignal): (() => Process) => {
  let [heap, cpu, cpuBefore] = [Number.POSITIVE_INFINITY, 0, 0];
  const look = async (): Promise<void> => {
    const text = await (await fetch(new URL('/metrics', daemon.url()))).text();
    const metric = (name: string): number => Number(new RegExp(`^tocsin_${name} (\\S+)`, 'm').exec(text)?.[1]);
    heap = Math.min(heap, metric('nodejs_heap_size_used_bytes'));
    cpu = metric('process_cpu_seconds_total');
  };
  void (async () => {
    for await (const _ of setInterval(LOOK_EVERY_MS, undefined, { signal })) await look().catch(() => {});
  })().catch(() => {});
  return () => {
    const seen = { heap, cpuSeconds: cpu - cpuBefore };
    [heap, cpuBefore] = [Number.POSITIVE_INFINITY, cpu];
    return seen;
  };
};

const measure = async (
  { redis, daemons: [daemon] }: Stage,
  { people, webhooks }: Latencies,
  { heap, cpuSeconds }: Process,
): Promise<string[]> => {
  const info = String(await redis.command(redis.master, 'INFO', 'memory'));
  const used = Number(/^used_memory:(\d+)/m.exec(info)?.[1]);
  return [
    megabytes(await memoryOf(daemon.pid())),
    megabytes(heap),
    ((cpuSeconds / every) * 100).toFixed(1),
    String(await redis.command(redis.master, 'DBSIZE')),
    megabytes(used),
    String(people.length + webhooks.length),
    ...[webhooks, people].flatMap((each) => [percentile(each, 0.5).toFixed(0), percentile(each, 0.99).toFixed(0)]),
  ];
};

const HEAD = [
  'minute',
  'daemon MB',
  'heap MB',
  'CPU %',
  'Redis keys',
  'Redis MB',
  'arrived',
  'webhooks',
  'p99 ms',
  'people',
  'p99 ms',
];
const WIDTH = 11;
const line = (cells: readonly string[]): void => print(cells.map((cell) => cell.padStart(WIDTH)).join(''));

const soak = async (stage: Stage): Promise<boolean> => {
  const { stream, books, sandbox } = stage;
  const taken = watchLatency(sandbox);
  const ended = new AbortController();
  const process = watchProcess(stage.daemons[0], ended.signal);
  line(HEAD);
  stream.start();
  const begunAt = Date.now();
  for (let turn = 1; turn * every <= minutes * 60; turn += 1) {
    await sleep(Math.max(0, begunAt + turn * every * 1000 - Date.now()));
    line([((turn * every) / 60).toFixed(1), ...(await measure(stage, taken(), process()))]);
  }
  stream.stop();
  ended.abort();
  for (const deadline = Date.now() + LAST_MS; books.lost().length > 0 && Date.now() < deadline; ) await sleep(500);
  const { expected, lost, doubled } = books.close(0, 0);
  print('');
  printTable([['deliveries', 'lost', 'doubled'], [expected, lost.length, doubled.length].map(String)]);
  return lost.length === 0 && doubled.length === 0;
};

await run(async () => {
  const interrupted = interruption();
  // The daemon's own pace, but for the poll: what takes long in a soak is not to be waiting for the next one.
  const poll = { interval: '1s', sweepEvery: '1m', catalogEvery: '5m' };
  const stage = await setStage({ perSecond: rate, config: { poll, audit: { every: '5m', lostAfter: '10m' } } }, 1);
  try {
    return await Promise.race([soak(stage), interrupted]);
  } finally {
    await stage.clear(false);
  }
});
