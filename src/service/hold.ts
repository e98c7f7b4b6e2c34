/** A wait that the service named holds for every request of its key, not only for the refused one. */

export interface Hold {
  /** Notes the wait that an answer named, in milliseconds; absent: none. */
  observe(waitMs: number | undefined): void;
  /** Milliseconds until something may be asked again; 0: now. */
  leftMs(): number;
}

/** A longer wait is taken for a mistake of the service: it is asked again after this time. */
const LONGEST_MS = 24 * 3_600_000;

/** `now` gives epoch milliseconds. A clock that is set back adds nothing to a wait. */
export const createHold = (now: () => number): Hold => {
  let left = 0;
  let askedAt = now();
  const leftMs = (): number => {
    const at = now();
    left = Math.max(0, left - Math.max(0, at - askedAt));
    askedAt = at;
    return left;
  };
  return {
    observe: (waitMs) => {
      if (waitMs !== undefined) left = Math.max(leftMs(), Math.min(waitMs, LONGEST_MS));
    },
    leftMs,
  };
};
