/** When each protocol is asked for: seldom, spread, and within a small share of the service's budget of requests. */
import { contentId } from '../../identity.ts';

export interface ProbeTimesDependencies {
  /** Requests a second to one service, of all daemons together. */
  requestsPerSecond: number;
  /** Those that share a service. */
  daemonsOf(service: string): number;
  /** What the operator expects of a protocol, in milliseconds. */
  expectEvery(protocol: string): number | undefined;
  /** Milliseconds by a clock that nobody sets. */
  /** How often each is asked for, where there are few. Default `USUAL_MS`. */
  leastMs?: number;
  elapsed(): number;
}

export const USUAL_MS = 600_000;
/** Of the budget. */
const SHARE = 0.05;
/** What the operator expects is looked at so often within its time. */
const LOOKS = 4;
const HOUSEKEEPING_MS = 3_600_000;

/** Between 0 and 1, the same for the same name. */
const placeOf = (service: string, protocol: string): number =>
  Number.parseInt(contentId(service, protocol).slice(0, 8), 16) / 2 ** 32;

export const createProbeTimes = (dependencies: ProbeTimesDependencies) => {
  const { requestsPerSecond, daemonsOf, expectEvery, leastMs = USUAL_MS, elapsed } = dependencies;
  const next = new Map<string, Map<string, number>>();
  /** Until then the requests that were sent use up the share of the budget. */
  const paidUntil = new Map<string, number>();
  const housekeptAt = new Map<string, number>();
  let usualMs = leastMs;

  const timesOf = (service: string): Map<string, number> => {
    const known = next.get(service) ?? new Map<string, number>();
    next.set(service, known);
    return known;
  };
  const everyMs = (protocol: string): number => Math.min(usualMs, (expectEvery(protocol) ?? Infinity) / LOOKS);

  return {
    /** Those that it is time for, the latest first. */
    due: (service: string, protocols: readonly string[]): string[] => {
      usualMs = Math.max(leastMs, (1000 * protocols.length) / (SHARE * requestsPerSecond));
      const times = timesOf(service);
      const names = new Set(protocols);
      for (const name of times.keys()) if (!names.has(name)) times.delete(name);
      const now = elapsed();
      for (const name of protocols) {
        if (!times.has(name)) times.set(name, now + placeOf(service, name) * everyMs(name));
      }
      const isPaid = (paidUntil.get(service) ?? now) <= now;
      // What the operator expects does not wait for what others learn.
      const isDue = (name: string): boolean =>
        (times.get(name) ?? now) <= now && (isPaid || expectEvery(name) !== undefined);
      return protocols.filter(isDue).toSorted((a, b) => (times.get(a) ?? now) - (times.get(b) ?? now));
    },
    /** With so many requests. `isBehind`: there is more to read, so it comes again as soon as the budget allows. */
    asked: (service: string, protocol: string, { isBehind = false, requests = 0 } = {}): void => {
      const now = elapsed();
      timesOf(service).set(protocol, now + (isBehind ? 0 : everyMs(protocol)));
      const costMs = (1000 * requests * Math.max(1, daemonsOf(service))) / (SHARE * requestsPerSecond);
      paidUntil.set(service, Math.max(now, paidUntil.get(service) ?? now) + costMs);
    },
    /** What was found could not be told: they are asked for again in the next round. */
    again: (service: string, protocols: readonly string[]): void => {
      for (const name of protocols) timesOf(service).set(name, elapsed());
    },
    isHousekeepingDue: (service: string): boolean => {
      const isDue = elapsed() - (housekeptAt.get(service) ?? Number.NEGATIVE_INFINITY) >= HOUSEKEEPING_MS;
      if (isDue) housekeptAt.set(service, elapsed());
      return isDue;
    },
  };
};

export type ProbeTimes = ReturnType<typeof createProbeTimes>;
