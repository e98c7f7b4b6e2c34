/** Rate limits as providers enforce them: a steady rate with a burst, by destination or for the whole token. */

export interface RateRule {
  /** Messages in each `windowMs`, in the long run. */
  limit: number;
  windowMs: number;
  /** Messages that may come at once after a pause. Default: `limit`. */
  burst?: number;
  scope: 'destination' | 'all';
}

export interface Rates {
  /** Counts a message and gives 0, or gives the milliseconds to wait and counts nothing. */
  take(destination: string): number;
}

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
      const looked = buckets.map(({ rule: { limit, windowMs, burst = limit, scope }, fullAt }) => {
        const key = scope === 'all' ? '' : destination;
        const eachMs = windowMs / limit;
        const nextFullAt = Math.max(at, fullAt.get(key) ?? at) + eachMs;
        return { fullAt, key, nextFullAt, waitMs: nextFullAt - at - burst * eachMs };
      });
      const waitMs = Math.max(0, ...looked.map((bucket) => bucket.waitMs));
      if (waitMs > 0) return Math.ceil(waitMs);
      for (const { fullAt, key, nextFullAt } of looked) {
        fullAt.set(key, nextFullAt);
        forget(fullAt, at);
      }
      return 0;
    },
  };
};
