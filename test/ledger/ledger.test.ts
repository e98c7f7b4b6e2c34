import { expect, test } from 'vitest';
import { createLedger } from '../../src/ledger/ledger.ts';
import { DESTINATION } from '../support/deliveries.ts';
import { makeAlert } from '../support/numbered.ts';
import { openTestRedis } from '../support/redis.ts';

test('an end stands that comes in the same moment as a failed try', async () => {
  const { redis, prefix } = openTestRedis();
  const ledger = createLedger(redis, prefix, () => Date.parse('2026-11-20T12:00:00Z'));
  const alert = makeAlert(1);
  const at = '2026-11-20T12:00:00.000Z';
  await ledger.recordWaiting([{ destination: DESTINATION, alerts: [alert] }]);
  const delivered = { state: 'delivered', attempt: { at, outcome: 'delivered', durationMs: 1 } } as const;
  const waiting = { state: 'waiting', attempt: { at, outcome: 'retrying', durationMs: 1 } } as const;
  await Promise.all([
    ledger.recordAttempt(DESTINATION, [alert], delivered),
    ledger.recordAttempt(DESTINATION, [alert], waiting),
  ]);
  expect((await ledger.read(alert.id))?.deliveries.map(({ state }) => state)).toEqual(['delivered']);
  expect(await ledger.waitingByDestination()).toEqual({});
});
