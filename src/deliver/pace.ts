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

/** The way to the provider takes now less and now more time: a minute of ours must not be shorter than one of theirs. */
const MARGIN_MS = 500;

/** A fraction of a message a minute is one message in a longer time. */
export const windowOf = ({ perMinute }: Rate): Window | undefined => {
  if (perMinute === undefined) return undefined;
  const count = Math.max(1, Math.floor(perMinute));
  return { count, length: Math.ceil((count * MINUTE_MS) / perMinute) + MARGIN_MS };
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

/** Between two digests: one second, doubled each time up to ten; from the start again after half a quiet minute. */
export const REST = { firstMs: 1000, longestMs: 10_000, quietMs: 30_000 };

/** A limit that digests set themselves. */
const restLimit = () => {
  let until = 0;
  let times = 0;
  return {
    free: (at: number): number => Math.max(at, until),
    take: (): void => {},
    rest: (at: number): void => {
      if (at - until > REST.quietMs) times = 0;
      until = at + Math.min(REST.longestMs, REST.firstMs * 2 ** times);
      times += 1;
    },
  };
};

/** Asked in order of time; epoch milliseconds, whole. */
export interface Pacer {
  /** When a message that is ready at `at` could go. */
  next(at: number): number;
  /** The same, and that one is taken. */
  take(at: number): number;
  /** A digest goes out at `at`. */
  rest(at: number): void;
}

/** The pace of one destination without Redis. */
export const createPacer = (rate: Rate): Pacer => {
  const cell = cellRateOf(rate);
  const window = windowOf(rate);
  const resting = restLimit();
  const limits: Limit[] = [resting, ...(cell ? [cellLimit(cell)] : []), ...(window ? [windowLimit(window)] : [])];
  const free = (at: number): number => Math.max(...limits.map((limit) => limit.free(at)));
  return {
    next: (at) => Math.ceil(free(at)),
    take: (at) => {
      const slot = free(at);
      for (const limit of limits) limit.take(slot);
      return Math.ceil(slot);
    },
    rest: resting.rest,
  };
};
