/** Alerts in short: the latest ones, what became of them, and a few deliveries of each, however many there are. */
import { expect, test } from 'vitest';
import type { Alert } from '../../src/alert.ts';
import { createCoveredDeliveries } from '../../src/features/correlation/correlate.ts';
import { createOutlines } from '../../src/ledger/index-by-date.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { destinationOf } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';
import { openTestRedis } from '../support/redis.ts';

const T0 = Date.parse('2026-11-20T12:00:00Z');
const AT = '2026-11-20T12:00:00.000Z';
const SLACK = destinationOf('slack', 'C1');

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const covered = createCoveredDeliveries(redis, prefix, () => T0);
  const cover = async (alert: Alert, by: string): Promise<void> => {
    await covered.end(alert, SLACK, by);
    await covered.everywhere(alert);
  };
  return { cover, ledger: createLedger(redis, prefix, () => T0), outlines: createOutlines(redis, prefix) };
};

test('the latest come first, with those in trouble before the others', async () => {
  const { ledger, outlines } = setUp();
  const [early, late] = [makeAlert(1, { at: AT }), makeAlert(2, { at: '2026-11-20T12:30:00.000Z' })];
  const many = Array.from({ length: 30 }, (_, index) => destinationOf('slack', `C${index}`));
  await ledger.recordWaiting(many.map((destination) => ({ destination, alerts: [early, late] })));
  const attempt = { at: AT, durationMs: 5 };
  for (const one of many.slice(0, 28)) {
    await ledger.recordAttempt(one, [late], { state: 'delivered', attempt: { ...attempt, outcome: 'delivered' } });
  }
  const broken = many[29] ?? expect.unreachable();
  await ledger.recordAttempt(broken, [late], { state: 'dead', attempt: { ...attempt, outcome: 'dead' } });
  const [first, second] = await outlines.latest(50, 5);
  expect(first?.alert.id).toBe(late.id);
  expect(first?.counts).toEqual({ dead: 1, waiting: 1, delivered: 28, muted: 0 });
  expect(first?.deliveries.map(({ state }) => state)).toEqual([
    'dead',
    'waiting',
    'delivered',
    'delivered',
    'delivered',
  ]);
  expect(first?.deliveries[0]?.destination).toEqual({ id: broken.id, kind: 'slack', label: 'C29' });
  expect(second).toMatchObject({ alert: { id: early.id }, counts: { waiting: 30 } });
  expect(await outlines.latest(1, 1)).toHaveLength(1);
});

test('alerts are counted by their dates', async () => {
  const { ledger, outlines } = setUp();
  const alerts = ['12:00:00', '12:09:59', '12:10:00'].map((time, n) => makeAlert(n, { at: `2026-11-20T${time}.000Z` }));
  await ledger.recordWaiting([{ destination: destinationOf('slack', 'C1'), alerts }]);
  const step = 600_000;
  const spans = [0, 1, 2].map((n) => ({ from: T0 + n * step, to: T0 + (n + 1) * step }));
  expect(await outlines.counts(spans)).toEqual([2, 1, 0]);
});

test('hundreds that others cover take no place of those that nobody covers', async () => {
  const { cover, ledger, outlines } = setUp();
  const of = (n: number, minute: number) => makeAlert(n, { at: new Date(T0 + minute * 60_000).toISOString() });
  const own = [of(1, 0), of(2, 1)];
  const covered = Array.from({ length: 700 }, (_, n) => of(n + 3, 2));
  await ledger.recordWaiting([{ destination: destinationOf('slack', 'C1'), alerts: [...own, ...covered] }]);
  for (const one of covered) await cover(one, 'another');
  expect((await outlines.latest(2, 5)).map(({ alert }) => alert.id)).toEqual([own[1]?.id, own[0]?.id]);
});

test('what an alert of the list covers comes with it, whenever that was written', async () => {
  const { cover, ledger, outlines } = setUp();
  const [own, same, other] = [makeAlert(1, { at: AT }), makeAlert(2, { at: '2026-11-01T00:00:00.000Z' }), makeAlert(3)];
  const notification = { ...same, txHash: own.txHash ?? expect.unreachable() };
  await ledger.recordWaiting([{ destination: destinationOf('slack', 'C1'), alerts: [own, notification, other] }]);
  await cover(notification, own.id);
  await cover(other, 'another');
  expect((await outlines.latest(1, 5)).map(({ alert, isCovered }) => [alert.id, isCovered])).toEqual([
    [own.id, false],
    [notification.id, true],
  ]);
});
