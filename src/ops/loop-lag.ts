/** The metrics of the event loop's delay, under the names that prom-client gives them, from rounds of the loop. */
import { Gauge, type Registry } from 'prom-client';
import type { LoopDelay } from './loop-delay.ts';

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

/** Takes the place of prom-client's gauges. Gives what sets them, for each scrape. */
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
