/** How long a quiet protocol's critical alert takes: alone, and while another protocol does its worst. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelKind } from '../../../src/alert.ts';
import type { BenchOptions, Row } from '../../row.ts';
import { medianOf } from '../../run.ts';
import type { Crowd } from '../../stage/crowd.ts';
import { type Stage, withStage } from '../../stage/stage.ts';
import { RECENT } from '../../world/dates.ts';
import type { World } from '../../world/world.ts';

export interface Neighbour {
  key: string;
  work: string;
  kinds: readonly ChannelKind[];
  busy: readonly Crowd[];
  /** It has these at once. */
  alerts: number;
  quiet: Crowd;
  /** What a mail takes. Default: nothing. */
  mailMs?: number;
}

/** The number of each protocol. */
export const BUSY = 0;
export const QUIET = 1;
export const POLL = { interval: '500ms' };

/**
 * The quiet protocol's alerts come one after the other, so that no digest and no rate limit holds them back, each at
 * another moment between two polls.
 */
const EVERY_MS = 2100;
const ALERTS = { full: 8, quick: 3 };
/** After the last of them. */
const LIMIT_MS = { full: 40_000, quick: 10_000 };
/** The issue asks for this. */
const WANTED_SECONDS = 2;

/** Gives the seconds from when each alert could be read at the service until it arrived; infinite where it did not. */
const createProbe = (world: World, limitMs: number) => {
  const ages = new Map<string, number>();
  const look = async (): Promise<number> => {
    const { arrivals, written } = await world.report();
    for (const { id, ageMs } of arrivals) if (!ages.has(id)) ages.set(id, ageMs);
    return written;
  };
  return async (count: number): Promise<number[]> => {
    const ids: string[] = [];
    while (ids.length < count) {
      ids.push(`finding-${await look()}`);
      world.store({ count: 1, from: QUIET, to: QUIET + 1, dates: RECENT });
      await sleep(EVERY_MS);
    }
    const isMissing = (id: string): boolean => !ages.has(id);
    for (const end = performance.now() + limitMs; ids.some(isMissing) && performance.now() < end; await sleep(100))
      await look();
    return ids.map((id) => (ages.get(id) ?? Number.POSITIVE_INFINITY) / 1000);
  };
};

interface Seen {
  alone: number[];
  beside: number[];
  /** How long the event loop stood still at most. */
  blockMs: number;
}

const play = async ({ world, startDaemon }: Stage, { alerts }: Neighbour, quick: boolean): Promise<Seen> => {
  const size = quick ? 'quick' : 'full';
  const daemon = await startDaemon();
  const probe = createProbe(world, LIMIT_MS[size]);
  // The first opens connections and compiles code.
  await probe(1);
  const alone = await probe(ALERTS[size]);
  await daemon.longestBlock();
  world.store({ count: alerts, from: BUSY, to: BUSY + 1, dates: RECENT });
  const beside = await probe(ALERTS[size]);
  const blockMs = await daemon.longestBlock();
  // A stop would wait for what hangs.
  await daemon.kill();
  return { alone, beside, blockMs };
};

const rowOf = ({ key, work }: Neighbour, { alone, beside, blockMs }: Seen, limitMs: number): Row => {
  const worst = Math.max(...beside);
  const missing = beside.filter((seconds) => !Number.isFinite(seconds)).length;
  const middle = medianOf(beside);
  return {
    key: `fair-${key}`,
    work,
    unit: 's',
    measured: Math.min(worst, limitMs / 1000),
    ...(missing > 0 && { isLeast: true }),
    yardstick: { name: 'alone', measured: Math.max(...alone) },
    note: `worst of ${beside.length} alerts of a quiet protocol; ${
      missing === 0 ? `median ${middle.toFixed(2)} s` : `${missing} of them did not arrive in time`
    }; the event loop stood for at most ${blockMs.toFixed(0)} ms`,
    wanted: { of: 'value', most: WANTED_SECONDS },
  };
};

export const playNeighbour = async ({ program, quick }: BenchOptions, neighbour: Neighbour): Promise<Row> => {
  const { kinds, busy, quiet, mailMs = 0 } = neighbour;
  const settings = {
    program,
    protocols: 2,
    hanging: 0,
    kinds,
    each: 'one',
    poll: POLL,
    crowds: [busy, [quiet]],
    mailMs,
  } as const;
  const seen = await withStage(settings, (stage) => play(stage, neighbour, quick));
  return rowOf(neighbour, seen, LIMIT_MS[quick ? 'quick' : 'full']);
};
