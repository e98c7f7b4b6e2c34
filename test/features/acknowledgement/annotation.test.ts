/** Which detectors can be muted from a message. */
import { expect, test } from 'vitest';
import { detectorsOf } from '../../../src/features/acknowledgement/annotation.ts';
import { inspectionAlert } from '../../support/alerts.ts';

const RULES = { maxLength: 3_600_000, never: [] };

const alertOf = (protocol: string, ...detectors: string[]) => {
  const alert = inspectionAlert();
  const detections = Object.fromEntries(detectors.map((name) => [name, { status: 'detected', message: 'x' }]));
  return { ...alert, protocol, item: { ...alert.item, detections } };
};

test('those that fired, by protocol', () => {
  const alerts = [alertOf('Vault', 'flashLoan', 'mixer'), alertOf('Vault', 'mixer'), alertOf('Pool', 'mixer')];
  expect(detectorsOf(alerts, RULES)).toEqual([
    ['Vault', ['flashLoan', 'mixer']],
    ['Pool', ['mixer']],
  ]);
});

// Every mute is read for every alert, and is told to whoever pressed: with names of any length it would be as long as they.
test.each([
  ['a detector', alertOf('Vault', 'mixer', 'x'.repeat(201))],
  ['a protocol', alertOf('x'.repeat(201), 'mixer')],
])('none where %s has a name that nobody reads to its end', (_what, alert) => {
  expect(detectorsOf([alert], RULES)).toBeUndefined();
});
