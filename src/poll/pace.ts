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

/** Of all polls these are only for busy streams, besides those that each stream has: the others hardly wait for them. */
const BUSY_SHARE = 0.1;

export const paceOf = ({ streams, busy, budget, sweepEveryMs, leastMs, longestMs }: PaceInput): Pace => {
  const sweeps = (SWEEP_REQUESTS * streams) / Math.max(sweepEveryMs, longestMs);
  const neededBudget = 1000 * (streams / longestMs + sweeps);
  const [most, least] = [1 / leastMs, 1 / longestMs];
  const within = (rate: number): number => Math.min(most, Math.max(least, rate));
  // Polls a millisecond. No poll is more than one sweep.
  const all = Math.max(budget / 1000 - sweeps, budget / 1000 / (1 + SWEEP_REQUESTS));
  const quiet = streams - busy;
  const extra = busy === 0 ? 0 : BUSY_SHARE * all;
  const wanted = within((all - extra) / streams + extra / Math.max(1, busy));
  // What the busy ones cannot use is for the others, and what those need at least is not for the busy ones.
  const quietRate = quiet === 0 ? wanted : within((all - busy * wanted) / quiet);
  const busyRate = busy === 0 ? wanted : within(Math.min(wanted, (all - quiet * quietRate) / busy));
  return { busyMs: 1 / busyRate, quietMs: 1 / Math.min(quietRate, busyRate), neededBudget };
};
