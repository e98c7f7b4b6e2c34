/** The service's own time: it dates the items, so cursors follow its clock and not ours. */
export interface ServiceClock {
  /** Takes the time that an answer named, in epoch milliseconds; absent: nothing is learnt. */
  observe(serverTime: number | undefined): void;
  /**
   * Epoch milliseconds by the service's clock; by ours before the first answer. Rather too early than too late: what it
   * has written until then is asked for, never skipped.
   */
  now(): number;
}

/** Ahead of ours by less than this is no skew: clocks of one network agree no better. */
const TOLERANCE_MS = 2000;

/** A `Date` header has whole seconds, and the answer travelled: both make the service look early, and that is kept. */
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
