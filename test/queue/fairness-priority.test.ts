import { expect, test } from 'vitest';
import type { Alert } from '../../src/alert.ts';
import { createPriorities, fairnessKey, shareOf, urgencyOfParcel, urgencyRank } from '../../src/queue/fairness.ts';
import { destinationOf, notificationAlert } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';

const NOTIFICATION = notificationAlert('hello');
const ofType = (type: string, changes: Partial<Alert> = {}): Alert => makeAlert(1, { type, ...changes });

test('criticals and samples come first, then follow-ups, notifications and announcements, and replays after all', () => {
  const priorities = createPriorities(() => 0);
  for (let n = 0; n < 5; n += 1) priorities.next('a', 'replay');
  const alerts = [
    ofType('inspection.critical'),
    ofType('test.sample', { replay: true }),
    ofType('inspection.upgraded', { followUp: { of: 'x', was: 'ok' } }),
    NOTIFICATION,
    ofType('inspection.suspecious'),
    ofType('tocsin.destination.broken'),
    ofType('tocsin.mute.ended'),
    ofType('inspection.critical', { replay: true }),
  ];
  const given = alerts.map((alert) => priorities.next('a', urgencyOfParcel({ alerts: [alert] })));
  expect(given.map(urgencyRank)).toEqual([0, 0, 0, 0, 0, 0, 0, 4]);
  expect(given).toEqual(given.toSorted((a, b) => a - b));
  expect(Math.max(...given)).toBeLessThan(2 ** 21);
});

test('a parcel is as urgent as its most urgent alert', () => {
  const alerts = [ofType('tocsin.mute.ended'), ofType('inspection.critical'), NOTIFICATION];
  expect(urgencyOfParcel({ alerts })).toBe('critical');
  expect(urgencyOfParcel({ alerts: [] })).toBe('notification');
});

test('a protocol that had nothing queued goes before all but the first jobs of a busy one', () => {
  const time = { now: 0 };
  const priorities = createPriorities(() => time.now);
  const busy = Array.from({ length: 500 }, () => priorities.next('busy', 'critical'));
  expect(new Set(busy).size).toBe(500);
  const quiet = priorities.next('quiet', 'critical');
  expect(busy.filter((priority) => priority <= quiet)).toHaveLength(1);
  time.now = 60_000;
  expect(priorities.next('busy', 'critical')).toBe(1 + 250);
  time.now = 3_600_000;
  expect(priorities.next('busy', 'critical')).toBe(1);
});

test('a critical of a protocol with many notifications goes before them', () => {
  const priorities = createPriorities(() => 0);
  const notifications = Array.from({ length: 500 }, () => priorities.next('busy', 'notification'));
  expect(priorities.next('busy', 'critical')).toBeLessThan(Math.min(...notifications));
});

test('what is less urgent does not wait for all criticals of a busy protocol', () => {
  const priorities = createPriorities(() => 0);
  const busy = Array.from({ length: 3000 }, () => priorities.next('busy', 'critical'));
  const before = (priority: number): number => busy.filter((one) => one <= priority).length;
  const notifications = Array.from({ length: 6 }, () => before(priorities.next('quiet', 'notification')));
  expect(notifications).toEqual([21, 22, 23, 24, 25, 26]);
  expect(before(priorities.next('ours', 'announcement'))).toBe(21);
  expect(before(priorities.next('ours', 'replay'))).toBe(3000);
});

test('an announcement does not wait for those to others', () => {
  const priorities = createPriorities(() => 0);
  const alert = ofType('tocsin.protocol.changed');
  const to = (address: string) => ({ destination: destinationOf('email', address), alerts: [alert] });
  for (let n = 0; n < 500; n += 1) priorities.next(shareOf(to(`evil${n}@example.com`)), 'announcement');
  const ours = priorities.next(shareOf(to('ours@example.com')), 'announcement');
  expect(ours).toBe(createPriorities(() => 0).next('first', 'announcement'));
  expect(shareOf({ ...to('ours@example.com'), alerts: [NOTIFICATION] })).toBe(fairnessKey([NOTIFICATION]));
});

test('no number of jobs makes a critical less urgent than a follow-up', () => {
  const priorities = createPriorities(() => 0);
  let last = 0;
  for (let n = 0; n < 500_000; n += 1) last = priorities.next('busy', 'critical');
  expect(urgencyRank(last)).toBe(0);
});

test('a clock that is set back forgets nothing', () => {
  const time = { now: 100_000 };
  const priorities = createPriorities(() => time.now);
  priorities.next('busy', 'critical');
  time.now = 0;
  expect(priorities.next('busy', 'critical')).toBe(2);
});

test('protocols of two services with one name have a share each', () => {
  expect(fairnessKey([makeAlert(1, { service: 'one', protocol: 'Vault' })])).not.toBe(
    fairnessKey([makeAlert(1, { service: 'two', protocol: 'Vault' })]),
  );
  expect(fairnessKey([])).toBe('');
});
