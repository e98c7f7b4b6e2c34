/** Rate limits as providers enforce them: so many accepted messages in any window, by destination or for the token. */

export interface RateRule {
  limit: number;
  windowMs: number;
  scope: 'destination' | 'all';
}

export interface Rates {
  /** Counts a message and gives 0, or gives the milliseconds to wait and counts nothing. */
  take(destination: string): number;
}

export const createRates = (rules: readonly RateRule[], now: () => number): Rates => {
  const windows = rules.map((rule) => ({ rule, sent: new Map<string, number[]>() }));
  return {
    take: (destination) => {
      const at = now();
      const open = windows.map(({ rule, sent }) => {
        const key = rule.scope === 'all' ? '' : destination;
        const recent = (sent.get(key) ?? []).filter((time) => time > at - rule.windowMs);
        const oldest = recent.at(-rule.limit);
        const waitMs = oldest === undefined ? 0 : oldest + rule.windowMs - at;
        return { sent, key, recent, waitMs };
      });
      const waitMs = Math.max(0, ...open.map((window) => window.waitMs));
      if (waitMs === 0) for (const { sent, key, recent } of open) sent.set(key, [...recent, at]);
      return waitMs;
    },
  };
};
