/**
 * What an alert and a quiet poll cost, from 1,000 to 100,000 of them: is it the same?
 *
 *   node bench/growth.ts [--most 100000] [--only alerts,protocols] [--program FILE] [--json FILE] [--plot FILE.svg]
 *
 * Takes about a quarter of an hour. Many alerts are at the service at once. Protocols are polled the more seldom the more there
 * are, 400 polls a second in all.
 */
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Line, plot } from './plot.ts';
import { POLL, playTocsin } from './rows/alerts.ts';
import { optionsOf, print, printTable, run } from './run.ts';
import { PROGRAM } from './stage/daemon.ts';
import { poll } from './stage/polling.ts';
import { withStage } from './stage/stage.ts';

const SIZES = [1000, 3000, 10_000, 30_000, 100_000];
/** The alerts come from so many protocols. */
const PROTOCOLS = 20;
/** Before all that is read twice, by a poll's overlap or by a sweep. */
const OLD = { perMs: 0.05, agoMs: 20 * 60_000 };
const POLLS_A_SECOND = 400;

const values = optionsOf({
  most: { type: 'string', default: '100000' },
  only: { type: 'string', default: 'alerts,protocols' },
  program: { type: 'string', default: PROGRAM },
  json: { type: 'string' },
  plot: { type: 'string' },
});
const program = resolve(values.program);
const common = { program, hanging: 0, kinds: ['webhook'], each: 'one' } as const;

interface Point {
  size: number;
  us: number;
  /** What else was seen. */
  note: string;
}

const alertsAt = async (size: number): Promise<Point> => {
  // What is measured is that of protocols which come to the service only then, so that they are read from an hour back.
  const poll = { ...POLL, catalogEvery: '5s' };
  const settings = { ...common, protocols: 2 * PROTOCOLS, listed: PROTOCOLS, poll };
  return withStage(settings, async (stage) => {
    const { us, commands } = await playTocsin(stage, { count: size, half: PROTOCOLS, dates: OLD });
    const used = (await stage.redis.usedBytes()) / 1e6;
    return { size, us, note: `Redis ${used.toFixed(0)} MB, ${commands.toFixed(1)} commands an alert` };
  });
};

const pollsAt = async (size: number): Promise<Point> => {
  const interval = size / POLLS_A_SECOND;
  const settings = { ...common, protocols: size, poll: { interval: `${interval * 1000}ms` } };
  // The polls of one service come in the first 20 seconds of an interval: where it is longer, one window covers it.
  const windows = interval > 25 ? { windows: 1, windowSeconds: interval } : { windows: 5, windowSeconds: 5 };
  const scale = { protocols: size, interval, ...windows };
  const { us, memory, redisMemory } = await withStage(settings, (stage) => poll(stage, scale));
  return { size, us, note: `daemon ${memory.toFixed(0)} MB, Redis ${redisMemory.toFixed(0)} MB` };
};

/** A size that does not work is said, and is no reason to leave out the others. */
const measured = async (at: (size: number) => Promise<Point>, size: number): Promise<Point[]> => {
  try {
    return [await at(size)];
  } catch (error) {
    print(`${size}: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  }
};

const grow = async (name: string, at: (size: number) => Promise<Point>) => {
  const points: Point[] = [];
  for (const size of SIZES.filter((one) => one <= Number(values.most))) points.push(...(await measured(at, size)));
  print('');
  printTable([
    [name, 'CPU us', 'against the first', ''],
    ...points.map(({ size, us, note }) => [
      size.toLocaleString('en'),
      us.toFixed(0),
      `${(us / (points[0]?.us ?? us)).toFixed(2)} x`,
      note,
    ]),
  ]);
  return { name, points };
};

await run(async () => {
  const lines: Awaited<ReturnType<typeof grow>>[] = [];
  if (values.only.includes('alerts')) lines.push(await grow('alerts at once', alertsAt));
  if (values.only.includes('protocols')) lines.push(await grow('protocols, a quiet poll', pollsAt));
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(lines, undefined, 2)}\n`);
  const drawn = lines.map(({ name, points }): Line => ({ name, points: points.map(({ size, us }) => [size, us]) }));
  if (values.plot !== undefined) await writeFile(values.plot, plot(drawn, 'CPU, microseconds each (daemon and Redis)'));
  return true;
});
