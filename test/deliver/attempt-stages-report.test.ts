import { expect, test } from 'vitest';
import { report } from '../../src/deliver/attempt-stages.ts';
import type { AttemptEvent, AttemptRun } from '../../src/deliver/stage.ts';
import { DESTINATION } from '../support/deliveries.ts';
import { attemptRun, handed } from '../support/delivery-runs.ts';
import { makeAlert } from '../support/numbered.ts';

const reported = (changes: Partial<AttemptRun>): AttemptEvent[] => {
  const events: AttemptEvent[] = [];
  expect(report(attemptRun(changes), handed({ onAttempt: (event) => events.push(event) }))).toBeUndefined();
  return events;
};

const ENTRY = { at: '2026-11-20T12:00:00.000Z', outcome: 'retrying', durationMs: 7, reason: 'unavailable' } as const;
const EVENT = {
  at: ENTRY.at,
  kind: 'slack',
  destination: DESTINATION,
  alerts: [makeAlert(1), makeAlert(2)],
  attempt: 3,
  outcome: 'retrying',
  durationMs: 7,
  reason: 'unavailable',
  isDigest: false,
};

test('says once what was recorded of an attempt, and when the next one comes', () => {
  const decision = { kind: 'retry', delayMs: 500, holdMs: 0 } as const;
  expect(reported({ attempt: 3, entry: { ...ENTRY, replay: true }, decision })).toEqual([
    { ...EVENT, replay: true, retryInMs: 500 },
  ]);
  expect(reported({ attempt: 3, entry: ENTRY, decision: { kind: 'plainer' } })).toEqual([EVENT]);
});

test('says nothing of a part of a message', () => {
  expect(reported({ decision: { kind: 'partial', progress: '1' } })).toEqual([]);
});
