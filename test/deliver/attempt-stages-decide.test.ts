import { expect, test } from 'vitest';
import { decide } from '../../src/deliver/attempt-stages.ts';
import type { AttemptRun } from '../../src/deliver/stage.ts';
import type { DeliveryReason } from '../../src/errors.ts';
import { failure } from '../support/deliveries.ts';
import { attemptRun, handed, NOW, now } from '../support/delivery-runs.ts';

const HOUR = 3_600_000;

const decisionOn = (changes: Partial<AttemptRun>) => {
  const run = attemptRun(changes);
  expect(decide(run, handed({ maxAgeMs: 24 * HOUR, now, random: () => 0.5 }))).toBeUndefined();
  return run.decision;
};

const refused = (reason: DeliveryReason, changes: Partial<AttemptRun> = {}) =>
  decisionOn({ error: failure(reason), ...changes });

test('a receipt is a delivery, or a part of one', () => {
  expect(decisionOn({ receipt: { providerId: 'ts-1' } })).toEqual({
    kind: 'delivered',
    receipt: { providerId: 'ts-1' },
    isRepeat: false,
  });
  expect(decisionOn({ receipt: { progress: '1' } })).toEqual({ kind: 'partial', progress: '1' });
});

test('a refused message is made plainer, and is dead where that is not possible', () => {
  expect(refused('bad-message')).toEqual({ kind: 'plainer' });
  expect(refused('bad-message', { canBePlainer: false })).toEqual({ kind: 'dead' });
});

test('age and undocumented answers in a row are counted from their first', () => {
  expect(refused('unavailable', { firstTriedAt: NOW - 24 * HOUR })).toEqual({
    kind: 'dead',
    givenUp: { by: 'max-age', afterMs: 24 * HOUR },
  });
  expect(refused('unknown')).toMatchObject({ kind: 'retry', unknownSince: NOW });
  expect(refused('unknown', { unknownSince: NOW - 1000 })).toMatchObject({ kind: 'retry', unknownSince: NOW - 1000 });
  expect(refused('unknown', { unknownSince: NOW - HOUR })).toMatchObject({ kind: 'dead' });
  expect(refused('unavailable', { unknownSince: NOW - HOUR })).not.toHaveProperty('unknownSince');
});
