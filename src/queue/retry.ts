/** When a failed delivery is tried again: one pure policy for every channel. */
import { type DeliveryError, factsOf, type RetryCurve } from '../errors.ts';

interface RetryInput {
  error: DeliveryError;
  /** Tries counted so far, this one included: 1 after the first failure. */
  attempt: number;
  /** Since the first try, or since it began to wait for a destination with an open circuit. */
  ageMs: number;
  /** Since the first of the `unknown` answers in a row, this one included. */
  unknownForMs: number;
  /** `retry.maxAge`: past it a delivery is dead. */
  maxAgeMs: number;
  /** 0 up to, not including, 1. */
  random: number;
}

/** `max-age`: by `retry.maxAge`. `unknown`: its failures were all of the reason `unknown`. */
export interface GivenUp {
  by: 'max-age' | 'unknown';
  afterMs: number;
}

/**
 * `retry` after `delayMs`, with the whole destination held for `holdMs`; `plainer` at once with less markup;
 * `readdress` at once to `address`; or `dead`, with `givenUp` where only the time for retries has run out.
 */
export type Decision =
  | { kind: 'retry'; delayMs: number; holdMs: number }
  | { kind: 'plainer' }
  | { kind: 'readdress'; address: string }
  | { kind: 'dead'; givenUp?: GivenUp };

/** A delivery that gets nothing but undocumented answers is given up after this. */
const LONGEST_UNKNOWN_MS = 3_600_000;

/** The most jitter that is added to a wait that the provider named. */
const JITTER_MS = 1000;

/** Full jitter: anywhere between nothing and the doubled step, so that a herd spreads out. Never under a tenth of it. */
const backoff = ({ firstMs, longestMs }: RetryCurve, attempt: number, random: number): number => {
  const step = Math.min(longestMs, firstMs * 2 ** Math.min(attempt - 1, 20));
  return Math.round(step * (0.1 + 0.9 * random));
};

/** What to do with a delivery that failed. A stated wait always wins over our own curve, with a little jitter on top. */
export const decisionOf = ({ error, attempt, ageMs, unknownForMs, maxAgeMs, random }: RetryInput): Decision => {
  const { next, outlook } = factsOf(error.reason);
  if (next === 'dead') return { kind: 'dead' };
  if (next === 'plainer') return { kind: 'plainer' };
  if (next === 'readdress') {
    return error.newAddress === undefined ? { kind: 'dead' } : { kind: 'readdress', address: error.newAddress };
  }
  const own = backoff(next, attempt, random);
  const stated = error.retryAfterMs;
  const delayMs = stated === undefined ? own : stated + Math.round(random * Math.min(own, JITTER_MS));
  if (ageMs + delayMs > maxAgeMs) return { kind: 'dead', givenUp: { by: 'max-age', afterMs: maxAgeMs } };
  if (outlook === 'undocumented' && unknownForMs + delayMs > LONGEST_UNKNOWN_MS) {
    return { kind: 'dead', givenUp: { by: 'unknown', afterMs: LONGEST_UNKNOWN_MS } };
  }
  return { kind: 'retry', delayMs, holdMs: next.holds ? (stated ?? own) : 0 };
};
