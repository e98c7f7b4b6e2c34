/** How long the event loop was blocked: nothing is read, sent or answered meanwhile. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface LoopDelay {
  /** The longest since it was last asked, in milliseconds. */
  worstMs(): number;
  stop(): void;
}

const RESOLUTION_MS = 20;

export const createLoopDelay = (): LoopDelay => {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  return {
    worstMs: () => {
      // What is measured is from one look to the next.
      const ms = Math.max(0, histogram.max / 1e6 - RESOLUTION_MS);
      histogram.reset();
      return Math.round(ms);
    },
    stop: () => histogram.disable(),
  };
};
