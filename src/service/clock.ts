/** The service's own time: it dates the items, so cursors follow its clock and not ours. */
export interface ServiceClock {
  /** Takes the time that an answer named, in epoch milliseconds; absent: nothing is learnt. */
  observe(serverTime: number | undefined): void;
  /** Epoch milliseconds by the service's clock; by ours before the first answer. */
  now(): number;
}

/** A `Date` header has whole seconds, and the answer travelled: less than this is no skew. */
const TOLERANCE_MS = 2000;

export const createServiceClock = (now: () => number): ServiceClock => {
  let skewMs = 0;
  return {
    observe: (serverTime) => {
      if (serverTime === undefined) return;
      const skew = serverTime - now();
      skewMs = Math.abs(skew) < TOLERANCE_MS ? 0 : skew;
    },
    now: () => now() + skewMs,
  };
};
