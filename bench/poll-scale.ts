/**
 * Many protocols, a few of which never answer: are the others polled on time, and what does a poll cost?
 *
 *   node bench/poll-scale.ts [--protocols 2000] [--interval 5] [--hanging 3] [--seconds 20]
 *
 * Protocols in all and those of them that never answer, seconds between two polls of one, seconds of measuring.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { numbersOf, printTable, run } from './run.ts';
import { type Stage, type Used, withStage } from './stage.ts';
import type { Report, World } from './world/world.ts';

const { protocols, interval, hanging, seconds } = numbersOf({ protocols: 2000, interval: 5, hanging: 3, seconds: 20 });
const intervalMs = interval * 1000;
/** A poll is on time where it comes no later than this after the one before. */
const LATE_MS = intervalMs * 1.2;
/** No protocol for so long that was not asked for before: the rest will not come. */
const SILENCE_MS = 60_000;

/** Waits until every protocol was asked for at least once. */
const waitForAll = async (world: World): Promise<void> => {
  const seen = new Set<number>();
  for (let heardAt = performance.now(); seen.size < protocols; ) {
    await sleep(250);
    const before = seen.size;
    const { polls } = await world.report();
    for (const [n, times] of polls.entries()) if (times.length > 0) seen.add(n);
    if (seen.size > before) heardAt = performance.now();
    if (performance.now() - heardAt > SILENCE_MS)
      throw new Error(`${protocols - seen.size} protocols were never polled`);
  }
};

const measure = async ({ world, used }: Stage) => {
  const startedAt = performance.now();
  await waitForAll(world);
  const warmSeconds = (performance.now() - startedAt) / 1000;
  // Past the first read of each, which asks for more than an ordinary poll.
  await sleep(2 * intervalMs);
  await world.report();
  const before = await used();
  await sleep(seconds * 1000);
  const after = await used();
  const cost = { daemon: after.daemon - before.daemon, redis: after.redis - before.redis };
  return { warmSeconds, cost, report: await world.report() };
};

const percent = (part: number, whole: number): string => (whole > 0 ? `${((100 * part) / whole).toFixed(1)} %` : '-');

const rowsOf = (warmSeconds: number, cost: Used, { requests, polls }: Report): string[][] => {
  const answering = polls.slice(hanging);
  const count = answering.reduce((sum, times) => sum + times.length, 0);
  const gaps = answering.flatMap((times) => times.slice(1).map((at, index) => at - (times[index] ?? at)));
  const onTime = gaps.filter((gap) => gap <= LATE_MS).length;
  const longest = gaps.reduce((a, b) => Math.max(a, b), 0);
  const costOf = (cpuSeconds: number): string =>
    `${count > 0 ? ((cpuSeconds * 1e6) / count).toFixed(0) : '-'} us, ${percent(cpuSeconds, seconds)} of a core`;
  return [
    ['protocols', `${protocols}, ${hanging} of them hanging`],
    ['every', `${interval} s`],
    ['until all were polled once', `${warmSeconds.toFixed(1)} s`],
    ['polls a second', (count / seconds).toFixed(0)],
    ['of those that were due', percent(count, (answering.length * seconds) / interval)],
    ['no later than 1.2 intervals', percent(onTime, gaps.length)],
    ['longest gap', `${(longest / 1000).toFixed(1)} s`],
    ['requests a poll', count > 0 ? (requests / count).toFixed(2) : '-'],
    ['CPU a poll, daemon', costOf(cost.daemon)],
    ['CPU a poll, Redis', costOf(cost.redis)],
    ['memory, daemon', `${(process.memoryUsage().rss / 1e6).toFixed(0)} MB`],
  ];
};

await run(async () => {
  const settings = { protocols, hanging, stored: 0, kinds: ['webhook'] as const };
  const { warmSeconds, cost, report } = await withStage(settings, { interval: `${interval}s` }, measure);
  printTable(rowsOf(warmSeconds, cost, report));
  return true;
});
