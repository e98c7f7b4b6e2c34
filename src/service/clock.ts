/** The service's own time: it dates the items, so cursors follow its clock and not ours. */
export interface ServiceClock {
  /** Learns from the time that an answer named, in epoch milliseconds; absent: nothing. */
  observe(serverTime: number | undefined): void;
  /**
   * Epoch milliseconds by the service's clock; by ours before the first answer. Rather too early than too late: items are
   * then read twice and never skipped.
   */
  now(): number;
}

/** A smaller lead over our clock is no skew: clocks in one network agree no better. */
const TOLERANCE_MS = 2000;

/** Answers in a row that must be ahead to be believed: one bad node behind a balancer answers now and then. */
const ANSWERS_AHEAD = 8;

/** A `Date` header has whole seconds, and the answer travelled: both make the service's clock seem slow, which does no harm. */
export const createServiceClock = (now: () => number): ServiceClock => {
  let skewMs = 0;
  /** Of the answers in a row that were ahead, the last few. */
  let ahead: number[] = [];
  /** Until an answer is not ahead, the service may have been ahead all along. */
  let mayBeAhead = true;

  const observeAhead = (skew: number): void => {
    ahead = [...ahead, skew].slice(-ANSWERS_AHEAD);
    if (ahead.length === ANSWERS_AHEAD) mayBeAhead = true;
    if (mayBeAhead) skewMs = Math.min(...ahead);
  };

  return {
    observe: (serverTime) => {
      if (serverTime === undefined) return;
      const skew = serverTime - now();
      if (skew >= TOLERANCE_MS) return observeAhead(skew);
      ahead = [];
      mayBeAhead = false;
      skewMs = Math.min(0, skew);
    },
    now: () => now() + skewMs,
  };
};
