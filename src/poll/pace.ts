/** How often each stream of a service is read, so that a budget of requests a second is kept. Pure. */

export interface PaceInput {
  /** Of this daemon, those that brought alerts lately included. */
  streams: number;
  busy: number;
  /** Requests a second that this daemon may make. */
  budget: number;
  /** Milliseconds between two sweeps of a stream. */
  sweepEveryMs: number;
  /** Never more often, never more seldom; milliseconds. */
  leastMs: number;
  longestMs: number;
}

export interface Pace {
  /** Milliseconds between two polls of one stream. */
  busyMs: number;
  quietMs: number;
  /** Requests a second with which no stream waits for longer than it may. */
  neededBudget: number;
}

/** What a sweep that finds nothing asks besides its poll. What there is to find is read at once, whatever the budget. */
const SWEEP_REQUESTS = 1;

/** A busy stream is read so much more often than a quiet one. */
const BUSY_WEIGHT = 4;

export const paceOf = ({ streams, busy, budget, sweepEveryMs, leastMs, longestMs }: PaceInput): Pace => {
  const within = (ms: number): number => Math.min(longestMs, Math.max(leastMs, ms));
  /** Milliseconds at which so many streams make so many polls a millisecond. */
  const everyMs = (count: number, rate: number): number => within(rate > 0 ? count / rate : longestMs);
  const quiet = streams - busy;
  const sweeps = (SWEEP_REQUESTS * streams) / Math.max(sweepEveryMs, longestMs);
  // No poll is more than one sweep.
  const rate = Math.max(budget / 1000 - sweeps, budget / 1000 / (1 + SWEEP_REQUESTS));
  const fair = (busy * BUSY_WEIGHT + quiet) / rate;
  const busyMs = within(fair / BUSY_WEIGHT);
  const quietMs = quiet === 0 ? busyMs : everyMs(quiet, rate - busy / busyMs);
  const neededBudget = 1000 * (streams / longestMs + sweeps);
  // Where the quiet ones must not wait for longer, the busy ones have what is left.
  if (quietMs === longestMs && busy > 0) {
    return { busyMs: everyMs(busy, rate - quiet / longestMs), quietMs, neededBudget };
  }
  return { busyMs: Math.min(busyMs, quietMs), quietMs, neededBudget };
};
