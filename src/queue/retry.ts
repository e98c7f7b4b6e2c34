/** When a failed delivery is tried again: one pure policy for every channel. */
import type { DeliveryError, DeliveryReason } from '../errors.ts';

export interface RetryInput {
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

const SECOND = 1000;
const MINUTE = 60 * SECOND;

interface Curve {
  firstMs: number;
  capMs: number;
}

const CURVES: Record<Exclude<DeliveryReason, 'bad-message' | 'destination-dead' | 're-address'>, Curve> = {
  unavailable: { firstMs: SECOND, capMs: 5 * MINUTE },
  'rate-limited': { firstMs: 5 * SECOND, capMs: 5 * MINUTE },
  // Somebody has to replace our token or key; frequent tries could lock us out.
  'sender-misconfigured': { firstMs: 15 * SECOND, capMs: 5 * MINUTE },
  unknown: { firstMs: 5 * SECOND, capMs: 10 * MINUTE },
};

/** How long nothing but `unknown` failures are retried. */
const LONGEST_UNKNOWN_MS = 60 * MINUTE;

/** Full jitter: anywhere between nothing and the doubled step, so that a herd spreads out. Never under a tenth of it. */
const backoff = ({ firstMs, capMs }: Curve, attempt: number, random: number): number => {
  const step = Math.min(capMs, firstMs * 2 ** Math.min(attempt - 1, 20));
  return Math.round(step * (0.1 + 0.9 * random));
};

/** What to do with a delivery that failed. A stated wait always wins over our own curve, with a little jitter on top. */
export const decisionOf = ({ error, attempt, ageMs, unknownForMs, maxAgeMs, random }: RetryInput): Decision => {
  if (error.reason === 'destination-dead') return { kind: 'dead' };
  if (error.reason === 'bad-message') return { kind: 'plainer' };
  if (error.reason === 're-address') {
    return error.newAddress === undefined ? { kind: 'dead' } : { kind: 'readdress', address: error.newAddress };
  }
  const curve = CURVES[error.reason];
  const own = backoff(curve, attempt, random);
  const stated = error.retryAfterMs;
  const delayMs = stated === undefined ? own : stated + Math.round(random * Math.min(own, SECOND));
  if (ageMs + delayMs > maxAgeMs) return { kind: 'dead', givenUp: { by: 'max-age', afterMs: maxAgeMs } };
  if (error.reason === 'unknown' && unknownForMs + delayMs > LONGEST_UNKNOWN_MS) {
    return { kind: 'dead', givenUp: { by: 'unknown', afterMs: LONGEST_UNKNOWN_MS } };
  }
  return { kind: 'retry', delayMs, holdMs: error.reason === 'rate-limited' ? (stated ?? own) : 0 };
};
