/** Two daemons on two cores against one on one core. Redis, service and receivers share those cores. */
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import type { Bench, Row } from '../row.ts';
import { medianOf } from '../run.ts';
import { type Stage, webhookEach, withStage } from '../stage/stage.ts';
import { arrived } from '../world/arrived.ts';
import { CLOSE, RECENT } from '../world/dates.ts';

const PROTOCOLS = 20;
const WARM_UP = 2000;

const canPin = (): boolean =>
  availableParallelism() >= 2 && spawnSync('taskset', ['-c', '0,1', 'true'], { stdio: 'ignore' }).status === 0;

/** Alerts a second. */
const play = async ({ world, startDaemon }: Stage, daemons: number, count: number): Promise<number> => {
  for (let n = 0; n < daemons; n += 1) await startDaemon(`data-${n}`);
  world.store({ count: WARM_UP, from: 0, to: PROTOCOLS, dates: RECENT });
  await arrived(world, WARM_UP);
  world.reset();
  world.store({ count, from: PROTOCOLS, to: 2 * PROTOCOLS, dates: CLOSE });
  const { firstToldAt, lastAt } = await arrived(world, count);
  return (count * 1000) / (lastAt - firstToldAt);
};

const rateOf = (program: string, daemons: number, count: number): Promise<number> => {
  const cores = Array.from({ length: daemons }, (_, n) => n).join(',');
  const settings = { ...webhookEach(program, 2 * PROTOCOLS), prefix: ['taskset', '-c', cores] };
  return withStage(settings, (stage) => play(stage, daemons, count));
};

export const measure: Bench = async ({ program, alerts: count, repeat, say }): Promise<Row[]> => {
  if (!canPin()) {
    say('two: left out, as it needs two cores and taskset');
    return [];
  }
  const rounds: { one: number; two: number }[] = [];
  while (rounds.length < repeat) {
    rounds.push({ one: await rateOf(program, 1, count), two: await rateOf(program, 2, count) });
    say(`two: ${rounds.length} of ${repeat}`);
  }
  return [
    {
      key: 'two-daemons',
      work: 'two daemons on two cores',
      unit: 'alerts/s',
      measured: medianOf(rounds.map(({ two }) => two)),
      yardstick: {
        name: 'one on one',
        measured: medianOf(rounds.map(({ one }) => one)),
        ratio: medianOf(rounds.map(({ one, two }) => two / one)),
      },
      note: 'with Redis, service and receivers on the same cores',
      wanted: { of: 'ratio', least: 1.7 },
    },
  ];
};
