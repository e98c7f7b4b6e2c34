/** Rates as they work: a cell rate for a second, a sliding window for a minute, in numbers. */

/** Messages; absent means no limit. */
export interface Rate {
  perSecond?: number;
  perMinute?: number;
  /** So many may follow each other at once before the pace of a second holds. Default 1. */
  burst?: number;
}

/** The generic cell rate algorithm's two numbers, in milliseconds. */
export interface CellRate {
  interval: number;
  tolerance: number;
}

/** No `length` of milliseconds, wherever it begins, has more than `count` messages. */
export interface Window {
  count: number;
  length: number;
}

const MINUTE_MS = 60_000;

export const cellRateOf = ({ perSecond, burst = 1 }: Rate): CellRate | undefined =>
  perSecond === undefined ? undefined : { interval: 1000 / perSecond, tolerance: ((burst - 1) * 1000) / perSecond };

/** A fraction of a message a minute is one message in a longer time. */
export const windowOf = ({ perMinute }: Rate): Window | undefined => {
  if (perMinute === undefined) return undefined;
  const count = Math.max(1, Math.floor(perMinute));
  return { count, length: Math.ceil((count * MINUTE_MS) / perMinute) };
};

/** One limit: when a message that is ready at `at` may go by it, and what a taken slot leaves behind. */
interface Limit {
  free(at: number): number;
  take(slot: number): void;
}

const cellLimit = ({ interval, tolerance }: CellRate): Limit => {
  let arrival = 0;
  return {
    free: (at) => Math.max(at, arrival - tolerance),
    take: (slot) => {
      arrival = Math.max(slot, arrival) + interval;
    },
  };
};

const windowLimit = ({ count, length }: Window): Limit => {
  const recent: number[] = [];
  return {
    free: (at) => Math.max(at, (recent.at(-count) ?? Number.NEGATIVE_INFINITY) + length),
    take: (slot) => {
      if (recent.push(slot) > count) recent.shift();
    },
  };
};

/**
 * The pace of one destination without Redis, as a function to be asked for each message in order of time: when one that
 * is ready at `at` may go. Epoch milliseconds, whole.
 */
export const createPace = (rate: Rate): ((at: number) => number) => {
  const cell = cellRateOf(rate);
  const window = windowOf(rate);
  const limits = [...(cell ? [cellLimit(cell)] : []), ...(window ? [windowLimit(window)] : [])];
  return (at) => {
    const slot = Math.max(at, ...limits.map((limit) => limit.free(at)));
    for (const limit of limits) limit.take(slot);
    return Math.ceil(slot);
  };
};
