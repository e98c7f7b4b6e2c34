/** Rates as they work: the generic cell rate algorithm, in numbers. */

/** Messages; absent means no limit. */
export interface Rate {
  perSecond?: number;
  perMinute?: number;
  /** So many may follow each other at once before the pace holds. Default 1. */
  burst?: number;
}

/** Interval and tolerance in milliseconds. */
type Limit = readonly [intervalMs: number, toleranceMs: number];

/** Messages of a minute that may go at once; the others are spread so that no minute, wherever it begins, has more. */
const MINUTE_BURST_SHARE = 0.25;

const minuteLimit = (perMinute: number): Limit => {
  const burst = Math.max(1, Math.floor(perMinute * MINUTE_BURST_SHARE));
  const interval = 60_000 / Math.max(perMinute - burst, perMinute / 2);
  return [interval, (burst - 1) * interval];
};

const secondLimit = (perSecond: number, burst: number): Limit => [1000 / perSecond, ((burst - 1) * 1000) / perSecond];

/** Each limit that is set. */
export const limitsOf = ({ perSecond, perMinute, burst = 1 }: Rate): Limit[] => [
  ...(perSecond === undefined ? [] : [secondLimit(perSecond, burst)]),
  ...(perMinute === undefined ? [] : [minuteLimit(perMinute)]),
];

/**
 * The pace of one destination without Redis, as a function to be asked for each message in order of time: when one that
 * is ready at `at` may go. Epoch milliseconds, whole.
 */
export const createPace = (rate: Rate): ((at: number) => number) => {
  const limits = limitsOf(rate).map(([intervalMs, toleranceMs]) => ({ intervalMs, toleranceMs, arrival: 0 }));
  return (at) => {
    const slot = Math.max(at, ...limits.map(({ arrival, toleranceMs }) => arrival - toleranceMs));
    for (const limit of limits) limit.arrival = Math.max(slot, limit.arrival) + limit.intervalMs;
    return Math.ceil(slot);
  };
};
