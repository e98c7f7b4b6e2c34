/** The default config: how long from an inspection's coming to the service until a webhook has it? */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, BenchOptions, Row } from '../row.ts';
import { withStage } from '../stage/stage.ts';
import type { World } from '../world/world.ts';

const PROTOCOLS = [
  { protocols: 5, wanted: 1.5 },
  { protocols: 20, wanted: 3.5 },
] as const;
/** The first polls of all protocols have been. */
const START_MS = 20_000;
/** In no step with any interval of polls. */
const RATE = 1.3;
const LAST_MS = 30_000;
/** The fastest that the service is asked by default, requests a second, and most often for one protocol. */
const BUDGET = 4;
const MOST_OFTEN_S = 1;

const collect = async (world: World, count: number): Promise<number[]> => {
  const ages = new Map<string, number>();
  for (const end = performance.now() + (count * 1000) / RATE + LAST_MS; ages.size < count; await sleep(250)) {
    for (const { id, ageMs } of (await world.report()).arrivals) ages.set(id, ages.get(id) ?? ageMs);
    if (performance.now() > end) throw new Error(`${count - ages.size} alerts did not arrive`);
  }
  return [...ages.values()];
};

const watch = (program: string, protocols: number, count: number): Promise<number[]> =>
  withStage({ program, protocols, hanging: 0, kinds: ['webhook'], each: 'one', isDefault: true }, async (stage) => {
    await stage.startDaemon();
    await sleep(START_MS);
    stage.world.write({ perSecond: RATE, count });
    return collect(stage.world, count);
  });

const rowFor = async ({ program, quick }: BenchOptions, { protocols, wanted }: (typeof PROTOCOLS)[number]) => {
  const ages = await watch(program, protocols, quick ? 25 : 80);
  const row: Row = {
    key: `fresh-${protocols}`,
    work: `from readable to received, ${protocols} protocols`,
    unit: 's, average',
    measured: ages.reduce((sum, ms) => sum + ms, 0) / ages.length / 1000,
    yardstick: {
      name: `half a round at ${BUDGET} requests/s`,
      measured: Math.max(MOST_OFTEN_S, protocols / BUDGET) / 2,
    },
    note: `longest ${(Math.max(...ages) / 1000).toFixed(1)} s`,
    wanted: { of: 'value', most: wanted },
  };
  return row;
};

/** Both at once: they are idle most of the time. */
export const measure: Bench = (options) => Promise.all(PROTOCOLS.map((one) => rowFor(options, one)));
