/** Rate limits as providers enforce them: a steady rate with a burst, by destination or for the whole token. */

export interface RateRule {
  /** Messages in each `windowMs`, in the long run. */
  limit: number;
  windowMs: number;
  /** Messages that may come at once after a pause. Default: `limit`. */
  burst?: number;
  /**
   * What shares the rate: each destination has it for itself, all have it together, or those that are given the same
   * name; those given none do not fall under it.
   */
  scope: 'destination' | 'all' | ((destination: string) => string | undefined);
}

export interface Rates {
  /** Counts a message and gives 0, or gives the milliseconds to wait and counts nothing. */
  take(destination: string): number;
}

const keyOf = ({ scope }: RateRule, destination: string): string | undefined => {
  if (typeof scope === 'function') return scope(destination);
  return scope === 'all' ? '' : destination;
};

/** When the bucket would be full again, by destination. Older than now means full: those can be forgotten. */
type FullAt = Map<string, number>;

const FORGET_ABOVE = 10_000;

const forget = (fullAt: FullAt, now: number): void => {
  if (fullAt.size <= FORGET_ABOVE) return;
  for (const [key, at] of fullAt) if (at <= now) fullAt.delete(key);
};

export const createRates = (rules: readonly RateRule[], now: () => number): Rates => {
  const buckets = rules.map((rule) => ({ rule, fullAt: new Map<string, number>() }));
  return {
    take: (destination) => {
      const at = now();
      const looked = buckets.flatMap(({ rule, fullAt }) => {
        const key = keyOf(rule, destination);
        if (key === undefined) return [];
        const { limit, windowMs, burst = limit } = rule;
        const eachMs = windowMs / limit;
        const nextFullAt = Math.max(at, fullAt.get(key) ?? at) + eachMs;
        return { fullAt, key, nextFullAt, waitMs: nextFullAt - at - burst * eachMs };
      });
      // Thirds of a millisecond do not add up to a whole; no clock here would see the rest.
      const waitMs = Math.max(0, ...looked.map((bucket) => Math.round(bucket.waitMs)));
      if (waitMs > 0) return waitMs;
      for (const { fullAt, key, nextFullAt } of looked) {
        fullAt.set(key, nextFullAt);
        forget(fullAt, at);
      }
      return 0;
    },
  };
};
