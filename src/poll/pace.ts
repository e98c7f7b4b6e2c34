/** How often each stream of a service is read, so that a budget of requests a second is kept. Pure. */

export interface PaceInput {
  /** Of this daemon, those that brought alerts lately included. */
  streams: number;
  busy: number;
  /** Requests a second that this daemon may make. */
  budget: number;
  /** What a poll costs on average, sweeps and all other requests included. */
  requestsAPoll: number;
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

/** A busy stream is read so much more often than a quiet one. */
const BUSY_WEIGHT = 4;

export const paceOf = ({ streams, busy, budget, requestsAPoll, leastMs, longestMs }: PaceInput): Pace => {
  const within = (ms: number): number => Math.min(longestMs, Math.max(leastMs, ms));
  /** Milliseconds at which so many streams make so many polls a millisecond. */
  const everyMs = (count: number, rate: number): number => within(rate > 0 ? count / rate : longestMs);
  const quiet = streams - busy;
  const rate = budget / requestsAPoll / 1000;
  const fair = (busy * BUSY_WEIGHT + quiet) / rate;
  const busyMs = within(fair / BUSY_WEIGHT);
  const quietMs = quiet === 0 ? busyMs : everyMs(quiet, rate - busy / busyMs);
  const neededBudget = (1000 * streams * requestsAPoll) / longestMs;
  // Where the quiet ones must not wait for longer, the busy ones have what is left.
  if (quietMs === longestMs && busy > 0) {
    return { busyMs: everyMs(busy, rate - quiet / longestMs), quietMs, neededBudget };
  }
  return { busyMs: Math.min(busyMs, quietMs), quietMs, neededBudget };
};
