/** How many requests a second a service bears: what the config allows, less while it is slow or says that it is too much. */

export interface Budget {
  /** Requests a second for now. */
  current(): number;
  /** It answered, after so many milliseconds. */
  answered(ms: number): void;
  /** It said that it was asked too often. */
  limited(): void;
}

/** An answer of a well service takes less. */
const SLOW_MS = 2000;
/** What one sign of trouble leaves of it, at most once in so many milliseconds: several are of the same trouble. */
const LIMITED_SHARE = 0.5;
const SLOW_SHARE = 0.75;
const ONCE_IN_MS = 5000;
/** It is whole again after so many milliseconds without trouble, from nothing. */
const RECOVERY_MS = 120_000;
/** No less than this share of what the config allows. */
const LEAST_SHARE = 1 / 16;

/** `elapsed`: milliseconds by a clock that nobody sets. */
export const createBudget = (most: number, elapsed: () => number): Budget => {
  let share = 1;
  let at = elapsed();
  let loweredAt = Number.NEGATIVE_INFINITY;

  const recover = (): void => {
    const now = elapsed();
    // Trouble that may still go on is no quiet.
    if (now - loweredAt >= ONCE_IN_MS) share = Math.min(1, share + (now - at) / RECOVERY_MS);
    at = now;
  };
  const lower = (to: number): void => {
    recover();
    if (elapsed() - loweredAt < ONCE_IN_MS) return;
    loweredAt = elapsed();
    share = Math.max(LEAST_SHARE, share * to);
  };
  return {
    current: () => {
      recover();
      return most * share;
    },
    answered: (ms) => {
      if (ms > SLOW_MS) lower(SLOW_SHARE);
    },
    limited: () => lower(LIMITED_SHARE),
  };
};
