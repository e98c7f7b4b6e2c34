/** After `kill -9` of the daemon and a restart at once: how long until what was being sent is sent again? */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../row.ts';
import { medianOf } from '../run.ts';
import { type Stage, webhookEach, withStage } from '../stage/stage.ts';
import { arrived } from '../world/arrived.ts';
import { RECENT } from '../world/dates.ts';
import type { World } from '../world/world.ts';

const PROTOCOLS = 3;
const ALERTS = 60;
const WARM_UP = 30;
const SILENCE_MS = 120_000;
/** Nothing more is sent while nothing is answered. */
const HELD_MS = 1000;

interface Crash {
  /** From the restart until the last of what was being sent came again. */
  seconds: number;
  startSeconds: number;
  /** Alerts that were being sent. */
  inFlight: number;
}

const held = async (world: World): Promise<Set<string>> => {
  await arrived(world, 1);
  await sleep(HELD_MS);
  return new Set((await world.report()).arrivals.map(({ id }) => id));
};

/** When the last of them arrived, by the clock that all processes share. */
const arrivedAgain = async (world: World, ids: ReadonlySet<string>): Promise<number> => {
  const missing = new Set(ids);
  let lastAt = 0;
  for (const end = performance.now() + SILENCE_MS; missing.size > 0; await sleep(20)) {
    for (const { id, beganAt } of (await world.report()).arrivals) {
      if (missing.delete(id)) lastAt = Math.max(lastAt, beganAt);
    }
    if (performance.now() > end) throw new Error(`${missing.size} alerts did not come again`);
  }
  return lastAt;
};

const play = async ({ world, startDaemon }: Stage): Promise<Crash> => {
  const first = await startDaemon();
  world.store({ count: WARM_UP, from: 0, to: PROTOCOLS, dates: RECENT });
  await arrived(world, WARM_UP);
  world.reset();
  world.answer('held');
  world.store({ count: ALERTS, from: PROTOCOLS, to: 2 * PROTOCOLS, dates: RECENT });
  const ids = await held(world);
  await first.kill();
  world.answer('ok');
  const killedAt = performance.timeOrigin + performance.now();
  const second = await startDaemon();
  const lastAt = await arrivedAgain(world, ids);
  return { seconds: (lastAt - killedAt) / 1000, startSeconds: second.startSeconds, inFlight: ids.size };
};

export const measure: Bench = async ({ program, repeat, say }) => {
  const settings = webhookEach(program, 2 * PROTOCOLS);
  const crashes: Crash[] = [];
  while (crashes.length < repeat) {
    crashes.push(await withStage(settings, play));
    say(`crash: ${crashes.length} of ${repeat}`);
  }
  const middle = (pick: (crash: Crash) => number): number => medianOf(crashes.map(pick));
  return [
    {
      key: 'crash',
      work: 'after kill -9 and a restart, what was being sent goes on',
      unit: 's',
      measured: middle(({ seconds }) => seconds),
      yardstick: { name: 'the start alone', measured: middle(({ startSeconds }) => startSeconds) },
      note: `${middle(({ inFlight }) => inFlight)} alerts were being sent`,
      wanted: { of: 'value', most: 5 },
    },
  ];
};
