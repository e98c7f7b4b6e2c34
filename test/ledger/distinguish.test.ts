import { expect, test } from 'vitest';
import type { Alert } from '../../src/alert.ts';
import { createDistinguish } from '../../src/ledger/distinguish.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { destinationOf, inspectionAlert, notificationAlert } from '../support/alerts.ts';
import { openTestRedis } from '../support/redis.ts';

const OTHER = { txHash: `0x${'ee'.repeat(32)}` };
const FIRST = inspectionAlert();

const setUp = async (...known: Alert[]) => {
  const { redis, prefix } = openTestRedis();
  const ledger = createLedger(redis, prefix, Date.now);
  await ledger.recordWaiting([{ destination: destinationOf('slack', 'C1'), alerts: known }]);
  const distinguish = createDistinguish(ledger);
  return async (...alerts: Alert[]) => (await distinguish(alerts)).map(({ id }) => id);
};

test('an id that another transaction, or another protocol, had is not theirs', async () => {
  const idsOf = await setUp(FIRST);
  const ids = await idsOf(FIRST, { ...FIRST, ...OTHER }, { ...FIRST, protocol: 'Decoy' });
  expect(ids[0]).toBe(FIRST.id);
  expect(new Set(ids).size).toBe(3);
  expect(await idsOf({ ...FIRST, ...OTHER })).toEqual([ids[1]]);
});

test('it is the same where the transaction is not named, or spelt otherwise, and where nobody had it', async () => {
  const { txHash = '', ...nameless } = FIRST;
  const idsOf = await setUp(FIRST);
  expect(await idsOf(nameless, { ...FIRST, txHash: txHash.toUpperCase().replace('0X', '0x') })).toEqual([
    FIRST.id,
    FIRST.id,
  ]);
  const fresh = await setUp();
  expect(await fresh({ ...FIRST, ...OTHER })).toEqual([FIRST.id]);
  // Of two at once the second is the other one.
  const [one, other] = await fresh(FIRST, { ...FIRST, ...OTHER });
  expect(one).toBe(FIRST.id);
  expect(other).not.toBe(FIRST.id);
});

test('who had an alert that named no transaction has not heard of one that does', async () => {
  const { txHash: _, ...nameless } = FIRST;
  const idsOf = await setUp(nameless);
  const [same, other] = await idsOf(nameless, FIRST);
  expect(same).toBe(FIRST.id);
  expect(other).not.toBe(FIRST.id);
});

test('a stored notification has no id that somebody gives', async () => {
  const stored = notificationAlert('Something was seen');
  const idsOf = await setUp(stored);
  expect(await idsOf({ ...stored, protocol: 'decoy' })).toEqual([stored.id]);
});
