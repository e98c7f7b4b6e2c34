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

/** A `Date` header has whole seconds, and the answer travelled: both make the service's clock seem slow, which does no harm. */
export const createServiceClock = (now: () => number): ServiceClock => {
  let skewMs = 0;
  return {
    observe: (serverTime) => {
      if (serverTime === undefined) return;
      const skew = serverTime - now();
      skewMs = skew < TOLERANCE_MS ? Math.min(0, skew) : skew;
    },
    now: () => now() + skewMs,
  };
};
