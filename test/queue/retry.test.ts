import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DELIVERY_REASONS, DeliveryError, type DeliveryReason, factsOf } from '../../src/errors.ts';
import { decisionOf } from '../../src/queue/retry.ts';

const DAY = 24 * 3600 * 1000;
const RETRIED = DELIVERY_REASONS.filter((reason) => typeof factsOf(reason).next === 'object');

const decision = (
  reason: DeliveryReason,
  changes: Partial<Parameters<typeof decisionOf>[0]> & { retryAfterMs?: number } = {},
) => {
  const { retryAfterMs, ...input } = changes;
  const error = new DeliveryError(reason, 'refused', {
    code: 'x',
    newAddress: 'moved-here',
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
  return decisionOf({ error, attempt: 1, ageMs: 0, unknownForMs: 0, maxAgeMs: DAY, random: 0.5, ...input });
};

describe('the retry policy', () => {
  test('a dead destination is dead at once, a bad message is made plainer, a moved one is followed', () => {
    expect(decision('destination-dead')).toEqual({ kind: 'dead' });
    expect(decision('bad-message')).toEqual({ kind: 'plainer' });
    expect(decision('re-address')).toEqual({ kind: 'readdress', address: 'moved-here' });
  });

  test('a stated wait wins over the own curve and holds the destination', () => {
    const result = decision('rate-limited', { retryAfterMs: 17_000, random: 0 });
    expect(result).toEqual({ kind: 'retry', delayMs: 17_000, holdMs: 17_000 });
  });

  test('a stated wait is never cut short, whatever the reason', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...RETRIED),
        fc.integer({ min: 0, max: 3_000_000 }),
        fc.integer({ min: 1, max: 1000 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (reason, retryAfterMs, attempt, random) => {
          const result = decision(reason, { retryAfterMs, attempt, random });
          return result.kind === 'retry' && result.delayMs >= retryAfterMs;
        },
      ),
    );
  });

  test('past the largest age everything is dead, before it nothing that may pass is', () => {
    expect(decision('unavailable', { ageMs: DAY })).toEqual({ kind: 'dead', givenUp: { by: 'max-age', afterMs: DAY } });
    expect(decision('unavailable', { ageMs: DAY - 600_000, attempt: 500 }).kind).toBe('retry');
  });

  test('answers that nobody documented end it within the hour, but not what only waited or failed otherwise until then', () => {
    const givenUp = { by: 'unknown', afterMs: 3600 * 1000 };
    expect(decision('unknown', { unknownForMs: 3600 * 1000 })).toEqual({ kind: 'dead', givenUp });
    expect(decision('unknown', { ageMs: 2 * 3600 * 1000 }).kind).toBe('retry');
    expect(decision('unavailable', { unknownForMs: 3600 * 1000 }).kind).toBe('retry');
  });

  test('delays grow with the tries, stay bounded and are whole milliseconds', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...DELIVERY_REASONS),
        fc.integer({ min: 1, max: 10_000 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (reason, attempt, random) => {
          const result = decision(reason, { attempt, random });
          if (result.kind !== 'retry') return true;
          return Number.isInteger(result.delayMs) && result.delayMs > 0 && result.delayMs <= 600_000;
        },
      ),
    );
    const [first, tenth] = [decision('unavailable'), decision('unavailable', { attempt: 10 })];
    expect(first.kind === 'retry' && tenth.kind === 'retry' && tenth.delayMs > 10 * first.delayMs).toBe(true);
  });
});
