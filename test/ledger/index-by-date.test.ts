import { describe, expect, test } from 'vitest';
import { createAlertIndex } from '../../src/ledger/index-by-date.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { destinationOf } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';
import { openTestRedis } from '../support/redis.ts';

const T0 = Date.parse('2026-11-20T12:00:00Z');
const DAY = 86_400_000;
const DESTINATION = destinationOf('slack', 'C1');
const at = (n: number) => makeAlert(n, { at: new Date(T0 + n * 1000).toISOString() });
const TRACK = { service: 'main', source: 'inspections', protocol: 'Lending Pool' } as const;

const setUp = (mostAlerts?: number) => {
  const { redis, prefix } = openTestRedis();
  const time = { now: T0 };
  const ledger = createLedger(redis, prefix, () => time.now);
  const deliver = (n: number) =>
    ledger.recordAttempt(DESTINATION, [at(n)], {
      state: 'delivered',
      attempt: { at: new Date(T0).toISOString(), outcome: 'delivered', durationMs: 1 },
    });
  const expectAll = (numbers: readonly number[]) =>
    ledger.recordWaiting([{ destination: DESTINATION, alerts: numbers.map(at) }]);
  return {
    redis,
    prefix,
    time,
    ledger,
    deliver,
    expectAll,
    alertIndex: createAlertIndex(redis, prefix, () => time.now, mostAlerts),
  };
};

const ids = (...numbers: number[]): string[] => numbers.map((n) => at(n).id);

describe('the register', () => {
  test('finds what is dated after one moment and up to another', async () => {
    const { alertIndex, expectAll } = setUp();
    await expectAll([4, 1, 3, 2]);
    expect(await alertIndex.between(T0 + 1000, T0 + 3000)).toEqual(ids(2, 3));
  });

  test('knows what is on its way, by track', async () => {
    const { alertIndex, expectAll, deliver } = setUp();
    await expectAll([1, 2, 3]);
    await deliver(2);
    expect(await alertIndex.open(TRACK)).toEqual(ids(1, 3));
    expect(await alertIndex.open({ ...TRACK, protocol: 'Bridge' })).toEqual([]);
  });

  test('holds so many at most: the oldest go, but never what is on its way', async () => {
    const { alertIndex, ledger, expectAll, deliver } = setUp(3);
    const numbers = [1, 2, 3, 4, 5, 6, 7];
    await expectAll(numbers);
    for (const n of numbers.filter((each) => each !== 2)) await deliver(n);
    expect(await alertIndex.trim()).toBe(3);
    expect(await alertIndex.between(0, T0 + DAY)).toEqual(ids(2, 5, 6, 7));
    expect(await ledger.read(at(3).id)).toBeUndefined();
    expect((await ledger.read(at(2).id))?.deliveries).toMatchObject([{ state: 'waiting' }]);
  });

  test('remembers up to where it was trimmed, whatever comes and goes later', async () => {
    const { alertIndex, expectAll, deliver } = setUp(3);
    expect(await alertIndex.trimmedTo()).toBeUndefined();
    await expectAll([1, 2, 3, 4, 5, 6]);
    for (const n of [1, 3, 4, 5, 6]) await deliver(n);
    await alertIndex.trim();
    expect(await alertIndex.trimmedTo()).toBe(T0 + 3000);
    await expectAll([0]);
    await deliver(0);
    await alertIndex.trim();
    expect(await alertIndex.trimmedTo()).toBe(T0 + 3000);
  });

  test('forgets with the ledger what is older than that keeps', async () => {
    const { alertIndex, time, expectAll, deliver } = setUp();
    await expectAll([1, 2, 3]);
    await deliver(1);
    await deliver(3);
    time.now = T0 + 36 * DAY;
    await alertIndex.trim();
    expect(await alertIndex.between(0, T0 + DAY)).toEqual(ids(2));
  });

  test('finds what is open by its transaction as well, however old it is', async () => {
    const { ledger, alertIndex, time, expectAll } = setUp();
    await expectAll([1]);
    const txHash = at(1).txHash ?? '';
    time.now = T0 + 36 * DAY;
    await alertIndex.trim();
    expect(await ledger.byTransaction(txHash)).toEqual(ids(1));
  });

  test('removes with it what has ended and what finds it by its transaction; what is to expire later stays until then', async () => {
    const { redis, prefix, ledger, alertIndex, time, expectAll, deliver } = setUp();
    await expectAll([1, 2, 3]);
    for (const n of [1, 2]) await deliver(n);
    await redis.expire(`${prefix}:alert:${at(2).id}`, 1000);
    time.now = T0 + 36 * DAY;
    await alertIndex.trim();
    expect(await ledger.read(at(1).id)).toBeUndefined();
    expect(await redis.ttl(`${prefix}:alert:${at(2).id}`)).toBeGreaterThan(0);
    const found = [1, 2, 3].map((n) => ledger.byTransaction(at(n).txHash ?? ''));
    expect(await Promise.all(found)).toEqual([[], [], ids(3)]);
    expect(await redis.zcard(`${prefix}:txs`)).toBe(1);
  });

  test('forgets the transactions of alerts that have expired before it looked', async () => {
    const { redis, prefix, alertIndex, time, expectAll, deliver } = setUp();
    await expectAll([1, 2]);
    await deliver(1);
    await redis.del(`${prefix}:alert:${at(1).id}`);
    time.now = T0 + 36 * DAY;
    await alertIndex.trim();
    expect(await redis.zcard(`${prefix}:txs`)).toBe(1);
  });
});
