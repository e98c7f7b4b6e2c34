import { describe, expect, test } from 'vitest';
import { coveringAlertAt, mayBeCovered, type Recorded } from '../../../src/features/correlation/correlate.ts';
import { notificationAlert } from '../../support/alerts.ts';

const NOTIFICATION = notificationAlert('Something was seen');

const { service, protocol, at, readAt } = NOTIFICATION;
const TOLD = {
  at,
  readAt,
  id: 'alert-1',
  service,
  protocol,
  source: 'inspections',
  type: 'inspection.critical',
} as const;

const recorded = (alert: Partial<Recorded['alert']> = {}, state = 'delivered', id = 'slack-1'): Recorded => ({
  alert: { ...TOLD, ...alert },
  deliveries: [
    { state: 'delivered', destination: { id: 'webhook-1' } },
    { state, destination: { id } },
  ],
});
const covering = (...byTransaction: Recorded[][]) => coveringAlertAt(NOTIFICATION, 'slack-1', byTransaction);

test('only news that the service wrote itself may be covered', () => {
  expect(mayBeCovered(NOTIFICATION)).toBe(true);
  expect(mayBeCovered({ ...NOTIFICATION, replay: true })).toBe(false);
  expect(mayBeCovered({ ...NOTIFICATION, type: 'test' })).toBe(false);
});

test.each([
  ['delivered', 'alert-1'],
  ['waiting', 'alert-1'],
  ['muted', undefined],
  ['dead', undefined],
])('an inspection that is %s at the destination covers it: %s', (state, id) => {
  expect(covering([recorded({}, state)])).toBe(id);
});

test.each<[string, Recorded]>([
  ['of another service', recorded({ service: 'second' })],
  ['of another protocol', recorded({ protocol: 'Decoy' })],
  ['that is a notification itself', recorded({ source: 'notifications', type: 'notification.created' })],
  ['that is a follow-up', recorded({ followUp: { of: 'alert-0', was: 'critical' } })],
  ['that goes elsewhere', recorded({}, 'delivered', 'email-1')],
])('an alert %s does not', (_what, record) => expect(covering([record])).toBeUndefined());

test('every transaction that it names has to be covered, by any of its records', () => {
  const [dead, other] = [recorded({}, 'dead'), recorded({ id: 'alert-2' })];
  expect(covering([dead, other], [recorded({ id: 'alert-3' })])).toBe('alert-2');
  expect(covering([other], [dead])).toBeUndefined();
});

describe('an inspection of before', () => {
  const seconds = (n: number): string => new Date(Date.parse(at) + n * 1000).toISOString();
  const readAfter = (n: number, id = 'alert-1'): Recorded => recorded({ id, readAt: seconds(n) });
  // The notification was written at 0 and read at 7.
  test.each([
    [-61, undefined],
    [-60, 'alert-1'],
    [67, 'alert-1'],
    [68, undefined],
  ])('covers only what is near it, and not when it was read %s seconds from the writing', (n, id) => {
    expect(covering([readAfter(n)])).toBe(id);
  });

  test('covers what was written with it and read after an outage', () => {
    const late = { ...NOTIFICATION, readAt: seconds(7200) };
    expect(coveringAlertAt(late, 'slack-1', [[readAfter(1)]])).toBe('alert-1');
    expect(coveringAlertAt(late, 'slack-1', [[readAfter(7199)]])).toBe('alert-1');
  });

  test('is not helped by a date of its own, nor by others that came without a sound', () => {
    expect(covering([recorded({ readAt: seconds(-600), at })])).toBeUndefined();
    expect(covering([readAfter(1, 'alert-2'), readAfter(-600)])).toBeUndefined();
    expect(covering([readAfter(1, 'alert-2'), recorded({ readAt: seconds(-600) }, 'muted')])).toBe('alert-2');
  });
});
