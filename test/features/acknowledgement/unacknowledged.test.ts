/** Criticals of the last day that people can acknowledge, and nobody has: one count for the page and for `status`. */
import { expect, test } from 'vitest';
import type { Alert, Destination } from '../../../src/alert.ts';
import { createAcknowledgementStore } from '../../../src/features/acknowledgement/store.ts';
import { createMayBePressed, createUnacknowledged } from '../../../src/features/acknowledgement/unacknowledged.ts';
import { createCoveredDeliveries } from '../../../src/features/correlation/correlate.ts';
import { createOutlines } from '../../../src/ledger/index-by-date.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { iso } from '../../../src/time.ts';
import { read, SERVICE } from '../../config/samples.ts';
import { destinationOf, notificationAlert } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';

const T0 = Date.parse('2026-11-20T12:00:00Z');
const HOUR_MS = 3_600_000;
const SLACK = destinationOf('slack', 'C0000001');

const configOf = (alerts: string, more = '') =>
  read(`${SERVICE}
channels:
  slack: { botToken: xoxb-1, appToken: xapp-1 }
  email: { from: "t@example.com", smtp: { host: 127.0.0.1 } }
  webhook: {}
alerts: ${alerts}
${more}`);

const setUp = (alerts = '{ acknowledge: true }', more = '') => {
  const { redis, prefix } = openTestRedis();
  const ledger = createLedger(redis, prefix, () => T0);
  const covered = createCoveredDeliveries(redis, prefix, () => T0);
  const acknowledgements = createAcknowledgementStore(redis, prefix, () => T0);
  const outlines = createOutlines(redis, prefix);
  const count = createUnacknowledged({
    ...{ config: configOf(alerts, more), outlines, acknowledgements, now: () => T0 },
  });
  return {
    ...{ acknowledgements, count },
    arrive: async (alert: Alert, destination: Destination = SLACK): Promise<Alert> => {
      await ledger.recordWaiting([{ destination, alerts: [alert] }]);
      const attempt = { at: iso(T0), outcome: 'delivered', durationMs: 5 } as const;
      await ledger.recordAttempt(destination, [alert], { state: 'delivered', attempt });
      return alert;
    },
    cover: async (alert: Alert, by: Alert): Promise<void> => {
      await ledger.recordWaiting([{ destination: SLACK, alerts: [alert] }]);
      await covered.end(alert, SLACK, by.id);
      await covered.everywhere(alert);
    },
  };
};

const hoursAgo = (n: number, hours: number, changes: Partial<Alert> = {}): Alert =>
  makeAlert(n, { at: iso(T0 - hours * HOUR_MS), ...changes });

test('those of the last day count until somebody has them, since the oldest; covered notifications and others do not', async () => {
  const { acknowledgements, arrive, cover, count } = setUp();
  expect(await count()).toEqual({ count: 0 });
  const [first, second] = [await arrive(hoursAgo(1, 5)), await arrive(hoursAgo(2, 1))];
  await arrive(hoursAgo(3, 25));
  await arrive(hoursAgo(4, 2, { type: 'inspection.suspecious' }));
  await arrive(hoursAgo(5, 2, { type: 'tocsin.mute.ended' }));
  await arrive(notificationAlert('something else', { at: iso(T0 - HOUR_MS) }));
  await cover(notificationAlert('the same', { at: iso(T0 - HOUR_MS) }), first);
  expect(await count()).toEqual({ count: 2, since: first.at });
  const by = { by: 'Ann', via: 'slack', to: 'C0000001', at: iso(T0) };
  await acknowledgements.acknowledge([first.id], by);
  expect(await count()).toEqual({ count: 1, since: second.at });
});

test('nothing is counted where acknowledgement is off, or where it has arrived nowhere with a button', async () => {
  const off = setUp('{ acknowledge: false }');
  await off.arrive(hoursAgo(1, 1));
  expect(await off.count()).toBeUndefined();
  const { arrive, count } = setUp();
  await arrive(hoursAgo(2, 1), destinationOf('webhook', 'https://hooks.example.com/x', 'hooks.example.com'));
  await arrive(hoursAgo(3, 1), destinationOf('slack', 'https://hooks.slack.com/services/T/B/k', 'hooks.slack.com'));
  await arrive(hoursAgo(4, 1), destinationOf('email', 'ann@example.com'));
  expect(await count()).toEqual({ count: 0 });
  const linked = setUp(
    '{ acknowledge: true }',
    'ops: { listen: "127.0.0.1:0", publicUrl: "https://tocsin.example.com" }',
  );
  await linked.arrive(hoursAgo(4, 1), destinationOf('email', 'ann@example.com'));
  expect(await linked.count()).toMatchObject({ count: 1 });
});

test('beyond a thousand alerts it says that there may be more', async () => {
  const { arrive, count } = setUp();
  for (let n = 0; n < 1003; n += 1) await arrive(hoursAgo(n, 2));
  expect(await count()).toEqual({ count: 1000, since: iso(T0 - 2 * HOUR_MS), isAtLeast: true });
});

test('a button works for three days, and a covered or replayed delivery has none', () => {
  const mayBePressed = createMayBePressed(configOf('{ acknowledge: true }'), T0);
  const attempts = [{ at: iso(T0), outcome: 'delivered' as const, durationMs: 5 }];
  const one = { state: 'delivered' as const, destination: SLACK, at: iso(T0 - 71 * HOUR_MS), attempts };
  expect(mayBePressed(one)).toBe(true);
  expect(mayBePressed({ ...one, at: iso(T0 - 73 * HOUR_MS) })).toBe(false);
  expect(mayBePressed({ ...one, with: 'other' })).toBe(false);
  expect(mayBePressed({ ...one, state: 'waiting' })).toBe(false);
  expect(mayBePressed({ ...one, attempts: attempts.map((each) => ({ ...each, replay: true })) })).toBe(false);
});
