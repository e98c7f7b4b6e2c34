/** The daemon's memory with many alerts that wait for webhooks which are away. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../row.ts';
import { type Stage, withStage } from '../stage/stage.ts';
import { CLOSE } from '../world/dates.ts';

const PROTOCOLS = 10;
const SILENCE_MS = 60_000;
/** Redis grows no more: all are in the queue. */
const SETTLE_MS = 3000;
const SAME_BYTES = 50_000;

const waitUntilQueued = async ({ world, redis }: Stage, count: number): Promise<void> => {
  let last = -1;
  for (let heardAt = performance.now(); ; await sleep(500)) {
    const { told } = await world.tally();
    if (told >= count) break;
    if (told > last) heardAt = performance.now();
    last = told;
    if (performance.now() - heardAt > SILENCE_MS) throw new Error(`${count - told} alerts were never read`);
  }
  for (let before = 0, after = await redis.usedBytes(); after - before > SAME_BYTES; ) {
    await sleep(SETTLE_MS);
    [before, after] = [after, await redis.usedBytes()];
  }
};

export const measure: Bench = async ({ program, quick }) => {
  const count = quick ? 10_000 : 100_000;
  const settings = {
    program,
    protocols: PROTOCOLS,
    hanging: 0,
    kinds: ['webhook'],
    each: 'one',
    poll: { interval: '1s' },
  } as const;
  return withStage(settings, async (stage) => {
    const daemon = await stage.startDaemon();
    await sleep(SETTLE_MS);
    const empty = daemon.memory();
    stage.world.answer('away');
    stage.world.store({ count, from: 0, to: PROTOCOLS, dates: CLOSE });
    await waitUntilQueued(stage, count);
    const bytes = ((await stage.redis.usedBytes()) / count).toFixed(0);
    return [
      {
        key: 'waiting-memory',
        work: `memory with ${count.toLocaleString('en')} waiting`,
        unit: 'MB',
        measured: daemon.memory(),
        yardstick: { name: 'with none', measured: empty },
        note: `at most ${daemon.peakMemory().toFixed(0)} MB; ${bytes} bytes an alert in Redis`,
        wanted: { of: 'value', most: 250 },
      },
    ];
  });
};
