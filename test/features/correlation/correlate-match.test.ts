import { expect, test } from 'vitest';
import { coveringAlertAt, mayBeCovered, type Recorded } from '../../../src/features/correlation/correlate.ts';
import { notificationAlert } from '../../support/alerts.ts';

const NOTIFICATION = notificationAlert('Something was seen');

const { service, protocol } = NOTIFICATION;
const TOLD = { id: 'alert-1', service, protocol, source: 'inspections', type: 'inspection.critical' } as const;

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
