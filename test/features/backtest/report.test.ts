import { expect, test } from 'vitest';
import { createLoads, createTally } from '../../../src/features/backtest/report.ts';
import { destinationOf, inspectionAlert, notificationAlert } from '../../support/alerts.ts';

const [SLACK, MAIL, HOOK] = [
  destinationOf('slack', 'C1'),
  destinationOf('email', 'a@example.com'),
  destinationOf('webhook', 'https://hooks.example.com/x', 'hooks.example.com (3f1c)'),
];
const ROUTED = { destinations: [SLACK], problems: [] };
const NOWHERE = { destinations: [], problems: ['it has no channels'] };

test('alerts are counted by protocol; skipped ones and those without a destination apart', () => {
  const { add, alerts, protocols } = createTally();
  add(notificationAlert('x', { protocol: 'Bridge' }), ROUTED);
  add(inspectionAlert(), ROUTED);
  add(inspectionAlert(), NOWHERE);
  add(notificationAlert('x'), { ...NOWHERE, skipped: 'trigger' });
  expect(alerts()).toBe(4);
  expect(protocols()).toEqual([
    { service: 'main', protocol: 'Lending Pool', inspections: 2, notifications: 1, skipped: 1, stranded: 1 },
    { service: 'main', protocol: 'Bridge', inspections: 0, notifications: 1, skipped: 0, stranded: 0 },
  ]);
});

test('detectors that fired are counted once an inspection, the most frequent first', () => {
  const { add, detectors } = createTally();
  const fired = (...names: string[]) => ({
    detections: Object.fromEntries(names.map((name) => [name, { status: 'detected', message: '' }])),
  });
  add(inspectionAlert({ item: fired('mixer') }), ROUTED);
  add(inspectionAlert({ item: fired('flashLoan', 'mixer') }), ROUTED);
  add(notificationAlert('mixer'), ROUTED);
  expect(detectors()).toEqual([
    { detector: 'mixer', alerts: 2 },
    { detector: 'flashLoan', alerts: 1 },
  ]);
});

test('the loudest destination comes first, of equals by kind; one that needs an approval is marked', () => {
  const { add, destinations } = createLoads(
    ['email', 'telegram', 'slack', 'webhook'],
    ({ kind }) => kind !== 'webhook',
  );
  const message = (at: number) => ({ at, ready: [0], isDigest: false, amends: false, alerts: [] });
  add({ ...message(1000), destination: SLACK });
  add({ ...message(1000), destination: MAIL });
  add({ ...message(1000), destination: HOOK });
  add({ ...message(2000), destination: HOOK });
  expect(destinations()).toMatchObject([
    { id: HOOK.id, kind: 'webhook', label: HOOK.label, messages: 2, alerts: 2, needsApproval: true },
    { id: MAIL.id, messages: 1 },
    { id: SLACK.id, messages: 1 },
  ]);
  expect(destinations().filter((one) => 'needsApproval' in one)).toHaveLength(1);
  expect(JSON.stringify(destinations())).not.toContain(HOOK.address);
});
