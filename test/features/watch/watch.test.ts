/** The ledger followed from the watching side. */
import { expect, test } from 'vitest';
import { type AlertEvent, createWatch } from '../../../src/features/watch/watch.ts';
import { createAlertIndex } from '../../../src/ledger/index-by-date.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { destinationOf } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';

const SLACK = destinationOf('slack', 'C1');
const WEBHOOK = destinationOf('webhook', 'https://a.example/x');

const setUp = (mostNew?: number) => {
  const { redis, prefix } = openTestRedis();
  let at = Date.parse('2026-11-20T12:00:00.000Z');
  const now = (): number => {
    at += 1000;
    return at;
  };
  const ledger = createLedger(redis, prefix, now);
  const look = createWatch({ ledger, alertIndex: createAlertIndex(redis, prefix, now) }, mostNew);
  const queue = (...alerts: ReturnType<typeof makeAlert>[]) =>
    ledger.recordWaiting([SLACK, WEBHOOK].map((destination) => ({ destination, alerts })));
  const attempt = (alert: ReturnType<typeof makeAlert>, to: typeof SLACK, outcome: 'delivered' | 'retrying' | 'dead') =>
    ledger.recordAttempt(to, [alert], {
      state: outcome === 'retrying' ? 'waiting' : outcome,
      attempt: { at: new Date(now()).toISOString(), outcome, durationMs: 12, message: 'why' },
    });
  const seen = async (): Promise<string[]> => (await look()).events.map(plain);
  return { look, queue, attempt, seen };
};

const plain = (event: AlertEvent): string =>
  [event.event, event.alert.itemId, ...('to' in event ? [event.to.kind] : [event.destinations.length])].join(' ');

test('new alerts, each attempt and each end are told once; what was there before is not', async () => {
  const { queue, attempt, seen } = setUp();
  const [before, alert] = [makeAlert(1), makeAlert(2)];
  await queue(before);
  expect(await seen()).toEqual([]);
  await queue(alert);
  expect(await seen()).toEqual(['alert item-2 2']);
  expect(await seen()).toEqual([]);
  await attempt(alert, SLACK, 'retrying');
  await attempt(before, SLACK, 'delivered');
  expect((await seen()).toSorted()).toEqual(['delivered item-1 slack', 'failed item-2 slack']);
  await attempt(alert, SLACK, 'delivered');
  await attempt(alert, WEBHOOK, 'dead');
  expect(await seen()).toEqual(['delivered item-2 slack', 'dead item-2 webhook']);
  expect(await seen()).toEqual([]);
});

test('an alert that came and was delivered between two looks is told whole', async () => {
  const { queue, attempt, seen } = setUp();
  await seen();
  const alert = makeAlert(1);
  await queue(alert);
  await attempt(alert, SLACK, 'delivered');
  expect((await seen()).toSorted()).toEqual(['alert item-1 2', 'delivered item-1 slack']);
});

test('more than it looks for is said', async () => {
  const { queue, look } = setUp(3);
  expect((await look()).isCut).toBe(false);
  await queue(...[1, 2, 3, 4].map((number) => makeAlert(number)));
  const { events, isCut } = await look();
  expect(isCut).toBe(true);
  expect(events).toHaveLength(3);
});
