/**
 * How long the event loop was blocked: nothing is read, sent or answered meanwhile. Looked at once in each round that the
 * loop makes anyway. Node's `monitorEventLoopDelay` would wake an idle daemon a hundred times a second for that, which is
 * half of its CPU.
 */
import { createHistogram, performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers';
import { Gauge, type Registry } from 'prom-client';

export const createLoopDelay = () => {
  const rounds = createHistogram();
  let worstMs = 0;
  let activeBefore = performance.eventLoopUtilization().active;

  const look = (): void => {
    const { active } = performance.eventLoopUtilization();
    const busyMs = active - activeBefore;
    activeBefore = active;
    worstMs = Math.max(worstMs, busyMs);
    rounds.record(Math.max(1, Math.round(busyMs * 1e6)));
    next = lookNextRound();
  };
  // Without a reference it comes after the next wait, however long that is, and does not end it.
  const lookNextRound = (): NodeJS.Immediate => setImmediate(look).unref();
  let next = lookNextRound();

  return {
    /** The longest since it was last asked, in milliseconds. */
    worstMs: (): number => {
      const worst = worstMs;
      worstMs = 0;
      return Math.round(worst);
    },
    /** How long each round was busy, in nanoseconds. */
    rounds,
    stop: (): void => clearImmediate(next),
  };
};

export type LoopDelay = ReturnType<typeof createLoopDelay>;

type Rounds = LoopDelay['rounds'];

const GAUGES: Readonly<Record<string, { help: string; of(rounds: Rounds): number }>> = {
  min: { help: 'The shortest round of the event loop since the last scrape.', of: ({ min }) => min },
  max: {
    help: 'The longest round of the event loop: so long nothing was read, sent or answered.',
    of: ({ max }) => max,
  },
  mean: { help: 'The mean of the rounds of the event loop.', of: ({ mean }) => mean },
  stddev: { help: 'The standard deviation of the rounds of the event loop.', of: ({ stddev }) => stddev },
  p50: { help: 'The 50th percentile of the rounds of the event loop.', of: (rounds) => rounds.percentile(50) },
  p90: { help: 'The 90th percentile of the rounds of the event loop.', of: (rounds) => rounds.percentile(90) },
  p99: { help: 'The 99th percentile of the rounds of the event loop.', of: (rounds) => rounds.percentile(99) },
};

/** For prom-client's own measurement, in milliseconds: as good as never, as it would wake the process up. */
export const NEVER_MS = 2 ** 31 - 1;

/** Takes the place of prom-client's gauges, under their names, with rounds of the loop. Gives what sets them, for each scrape. */
export const replaceLoopLag = (registry: Registry, rounds: Rounds): (() => void) => {
  const gauges = Object.entries(GAUGES).map(([statistic, { help, of }]) => {
    const name = `nodejs_eventloop_lag_${statistic}_seconds`;
    registry.removeSingleMetric(name);
    return { gauge: new Gauge({ name, help, registers: [registry] }), of };
  });
  return () => {
    for (const { gauge, of } of gauges) gauge.set(of(rounds) / 1e9);
    rounds.reset();
  };
};
