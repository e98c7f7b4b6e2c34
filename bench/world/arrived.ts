/** Waits for arrivals. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { TallyReport, World } from './world.ts';

/** Without any arrival for so long, what is missing will not come. */
const SILENCE_MS = 60_000;
/** How often the world is asked; its answer says when they came. */
const LOOK_MS = 50;

/** Resolves when so many alerts have arrived since the sums last started. */
export const arrived = async (world: World, count: number): Promise<TallyReport> => {
  let last = -1;
  for (let heardAt = performance.now(); ; await sleep(LOOK_MS)) {
    const tally = await world.tally();
    if (tally.arrived >= count) return tally;
    if (tally.arrived > last) heardAt = performance.now();
    last = tally.arrived;
    if (performance.now() - heardAt > SILENCE_MS) throw new Error(`${count - tally.arrived} alerts did not arrive`);
  }
};
