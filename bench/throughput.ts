/**
 * Alerts that are all at the service already, for one webhook: how many a second end to end, and at what cost?
 *
 *   node bench/throughput.ts [--alerts 10000]
 *
 * From the service's first answer with one of them until the last has begun to arrive. The yardstick posts as many bodies
 * of the same size, 50 at once like the daemon, and does nothing else.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { postAll } from './direct.ts';
import { numbersOf, print, printTable, run } from './run.ts';
import { type Stage, withStage } from './stage.ts';
import { inspectionOf } from './world/inspection.ts';

const { alerts } = numbersOf({ alerts: 10_000 });
const CONCURRENCY = 50;
/** Without any arrival for so long, what is missing will not come. */
const SILENCE_MS = 30_000;

interface Result {
  perSecond: number;
  /** Of CPU, an alert. */
  daemonUs: number;
  redisUs?: number;
}

const measureDirect = async (url: string): Promise<Result> => {
  const bodies = Array.from({ length: alerts }, (_, n) =>
    JSON.stringify({ type: 'inspection.critical', data: { inspection: inspectionOf(n, 'Protocol 0', Date.now()) } }),
  );
  const cpu = process.cpuUsage();
  const begunAt = performance.now();
  await postAll(url, bodies, CONCURRENCY);
  const seconds = (performance.now() - begunAt) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return { perSecond: alerts / seconds, daemonUs: (user + system) / alerts };
};

const measure = async ({ world, used }: Stage): Promise<Result> => {
  const before = await used();
  const arrived = new Set<string>();
  let [firstAt, lastAt] = [Number.POSITIVE_INFINITY, 0];
  for (let heardAt = performance.now(); arrived.size < alerts; ) {
    const { arrivals } = await world.report();
    for (const { id, beganAt, latencyMs } of arrivals) {
      arrived.add(id);
      firstAt = Math.min(firstAt, beganAt - latencyMs);
      lastAt = Math.max(lastAt, beganAt);
    }
    if (arrivals.length > 0) heardAt = performance.now();
    if (performance.now() - heardAt > SILENCE_MS) throw new Error(`${alerts - arrived.size} alerts did not arrive`);
    await sleep(50);
  }
  const after = await used();
  return {
    perSecond: (alerts * 1000) / (lastAt - firstAt),
    daemonUs: ((after.daemon - before.daemon) * 1e6) / alerts,
    redisUs: ((after.redis - before.redis) * 1e6) / alerts,
  };
};

await run(async () => {
  const settings = { protocols: 1, hanging: 0, stored: alerts, kinds: ['webhook'] as const };
  const { tocsin, direct } = await withStage(settings, { interval: '1s' }, async (stage) => ({
    tocsin: await measure(stage),
    direct: await measureDirect(stage.world.url),
  }));
  const row = (name: string, { perSecond, daemonUs, redisUs }: Result): string[] => [
    name,
    perSecond.toFixed(0),
    daemonUs.toFixed(0),
    redisUs?.toFixed(0) ?? '-',
  ];
  print(`${alerts} alerts, one webhook`);
  printTable([['', 'alerts/s', 'CPU us, node', 'CPU us, Redis'], row('tocsin', tocsin), row('bare POST', direct)]);
  const ratio = (a: number, b: number): string => (a / b).toFixed(2);
  print(
    `tocsin / bare: ${ratio(tocsin.perSecond, direct.perSecond)} of the rate, ` +
      `${ratio(tocsin.daemonUs, direct.daemonUs)} times the CPU in node`,
  );
  return true;
});
