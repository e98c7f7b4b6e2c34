/** How often something may happen within a minute: each asks Redis, or a platform whose patience alerts need. */

const MINUTE_MS = 60_000;

/** Of one person, link or address, and of all together. */
export interface MostAMinute {
  each: number;
  all: number;
}

/** `now`: epoch milliseconds. In the memory of this daemon. */
export const createMinuteLimit = (now: () => number, { each, all }: MostAMinute) => {
  let counted: { of: string; at: number }[] = [];

  /** Whether there is room for one more. Counts nothing. */
  const mayTake = (of: string): boolean => {
    counted = counted.filter(({ at }) => Math.abs(now() - at) < MINUTE_MS);
    return counted.length < all && counted.filter((one) => one.of === of).length < each;
  };

  const count = (of: string): void => {
    counted.push({ of, at: now() });
  };

  return {
    mayTake,
    count,
    /** Counts one; false where there were too many: those that are refused do not count. */
    take: (of: string): boolean => {
      const isTaken = mayTake(of);
      if (isTaken) count(of);
      return isTaken;
    },
  };
};
