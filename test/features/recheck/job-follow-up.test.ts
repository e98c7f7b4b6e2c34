import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Alert, Destination } from '../../../src/alert.ts';
import type { RoutedAlert } from '../../../src/dispatch/parcels.ts';
import { createFollowUps } from '../../../src/features/recheck/job.ts';
import type { DeliveryState } from '../../../src/ledger/record.ts';
import { destinationOf, inspectionAlert } from '../../support/alerts.ts';

const SLACK = destinationOf('slack', 'C1');
const MAIL = destinationOf('email', 'ops@example.com');
const HOOK = destinationOf('webhook', 'https://hooks.example.com/x');
const FIRST = inspectionAlert();
const FOLLOW_UP: Alert = { ...FIRST, id: 'follow-up', followUp: { of: FIRST.id, was: 'critical', is: 'ok' } };

const setUp = (states: readonly (readonly [Destination, DeliveryState])[], routed: Destination[] = []) => {
  const dispatched: RoutedAlert[] = [];
  const record = {
    alert: FIRST,
    deliveries: states.map(([{ id, kind, label }, state]) => ({
      destination: { id, kind, label },
      state,
      attempts: [],
      at: FIRST.at,
    })),
  };
  const followUps = createFollowUps({
    ledger: {
      read: async (id) => (id === FIRST.id ? record : undefined),
      summaries: async (ids) => ids.map((id) => (id === FIRST.id ? FIRST : undefined)),
    },
    destinationsOf: async () => routed,
    dispatchRouted: async (alerts) => dispatched.push(...alerts),
    log: pino({ level: 'silent' }),
  });
  return { ...followUps, dispatched };
};

test('those who have the alert, or will, are named with what they were sent', async () => {
  const { firstAlertOf } = setUp([
    [SLACK, 'delivered'],
    [MAIL, 'muted'],
    [HOOK, 'muted'],
  ]);
  expect(await firstAlertOf('main', FIRST)).toEqual({
    alertId: FIRST.id,
    assessment: 'critical',
    destinations: [SLACK.id, MAIL.id],
  });
});

test('nobody hears of it where its delivery has died, and a waiting one counts', async () => {
  const { firstAlertOf } = setUp([
    [SLACK, 'dead'],
    [HOOK, 'waiting'],
  ]);
  expect((await firstAlertOf('main', FIRST))?.destinations).toEqual([HOOK.id]);
});

test('of an id that the service has given to another transaction, or protocol, the alert is another one', async () => {
  const { firstAlertOf } = setUp([[SLACK, 'delivered']]);
  expect(await firstAlertOf('main', { ...FIRST, txHash: `0x${'ee'.repeat(32)}` })).toBeUndefined();
  expect(await firstAlertOf('main', { ...FIRST, protocol: 'Decoy' })).toBeUndefined();
});

test('an inspection without an alert has none', async () => {
  expect(await setUp([]).firstAlertOf('main', { ...FIRST, itemId: 'another' })).toBeUndefined();
});

test('a follow-up goes once to each of the destinations that is still routed, and names where the first was muted', async () => {
  const { followUp, dispatched } = setUp(
    [
      [SLACK, 'delivered'],
      [MAIL, 'muted'],
    ],
    [MAIL, HOOK, SLACK, MAIL],
  );
  await followUp(FOLLOW_UP, [SLACK.id, MAIL.id, 'removed']);
  expect(dispatched).toEqual([{ alert: FOLLOW_UP, destinations: [MAIL, SLACK], mutedAt: new Set([MAIL.id]) }]);
});
