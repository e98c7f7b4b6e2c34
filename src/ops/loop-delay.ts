/**
 * How long the event loop was blocked: nothing is read, sent or answered meanwhile. Looked at once in each round that the
 * loop makes anyway. Node's `monitorEventLoopDelay` would wake an idle daemon a hundred times a second for that, which is
 * half of its CPU.
 */
import { createHistogram, type Histogram, performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers';

export interface LoopDelay {
  /** The longest since it was last asked, in milliseconds. */
  worstMs(): number;
  /** How long each round was busy, in nanoseconds. */
  rounds: Pick<Histogram, 'count' | 'min' | 'max' | 'mean' | 'stddev' | 'percentile' | 'reset'>;
  stop(): void;
}

export const createLoopDelay = (): LoopDelay => {
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
    worstMs: () => {
      const worst = worstMs;
      worstMs = 0;
      return Math.round(worst);
    },
    rounds,
    stop: () => clearImmediate(next),
  };
};
