/** What operators change in the ledger: which states may be reopened, and what the counts say afterwards. */
import { expect, test } from 'vitest';
import { createCorrections } from '../../src/ledger/corrections.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { type DeliveryState, NO_DESTINATION } from '../../src/ledger/record.ts';
import { destinationOf } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';
import { openTestRedis } from '../support/redis.ts';

const AT = '2026-11-20T12:00:00.000Z';
const SLACK = destinationOf('slack', 'C1');
/** It ends so late that its date does not say how long it is kept. */
const ALERT = makeAlert(1, { at: '2026-11-01T10:00:00.000Z' });

const setUp = async (state?: DeliveryState) => {
  const { redis, prefix } = openTestRedis();
  const now = () => Date.parse(AT);
  const ledger = createLedger(redis, prefix, now);
  const corrections = createCorrections(redis, prefix, now);
  const outcome = state === 'delivered' || state === 'dead' ? state : 'retrying';
  if (state !== undefined) {
    await ledger.recordWaiting([{ destination: SLACK, alerts: [ALERT] }]);
    await ledger.recordAttempt(SLACK, [ALERT], { state, attempt: { at: AT, outcome, durationMs: 1 } });
  }
  const record = async () => (await ledger.read(ALERT.id))?.deliveries[0];
  const ttl = () => redis.ttl(`${prefix}:alert:${ALERT.id}`);
  return { ledger, corrections, record, ttl };
};

test.each([
  ['retried', undefined, 'waiting', 1],
  ['retried', 'dead', 'waiting', 1],
  ['retried', 'delivered', 'delivered', 0],
  ['retried', 'muted', 'muted', 0],
  ['retried', 'waiting', 'waiting', 1],
  ['replayed', undefined, 'waiting', 1],
  ['replayed', 'dead', 'waiting', 1],
  ['replayed', 'delivered', 'waiting', 1],
  ['replayed', 'muted', 'waiting', 1],
  ['replayed', 'waiting', 'waiting', 1],
] as const)('%s: a delivery found as %s is %s then', async (act, before, after, waiting) => {
  const { ledger, corrections, record } = await setUp(before);
  expect(await corrections.reopen(SLACK, [ALERT], act)).toEqual([before]);
  const isReopened = after === 'waiting' && before !== 'waiting';
  expect(await record()).toMatchObject({ state: after, ...(isReopened ? { acts: [{ at: AT, act }] } : {}) });
  expect(await ledger.waitingByDestination()).toEqual(waiting === 0 ? {} : { [SLACK.id]: waiting });
});

test('what is reopened does not expire until it has ended again; what is dropped does', async () => {
  const { ledger, corrections, ttl } = await setUp('dead');
  expect(await ttl()).toBeGreaterThan(0);
  await corrections.reopen(SLACK, [ALERT], 'retried');
  expect(await ttl()).toBe(-1);
  const attempt = { at: AT, outcome: 'delivered', durationMs: 1 } as const;
  await ledger.recordAttempt(SLACK, [ALERT], { state: 'delivered', attempt });
  expect(await ttl()).toBeGreaterThan(0);
  const unknown = await setUp();
  await unknown.corrections.drop(SLACK, [ALERT]);
  expect(await unknown.ttl()).toBeGreaterThan(0);
});

test('what is reopened by hand does not hold back the cursor backup', async () => {
  const { ledger, corrections } = await setUp('dead');
  await corrections.reopen(SLACK, [ALERT], 'retried');
  expect(await ledger.oldestOpen(ALERT)).toBeUndefined();
});

test.each([
  ['dead', [{ at: AT, act: 'dropped' }]],
  ['waiting', undefined],
  ['delivered', undefined],
] as const)('dropped: a %s delivery stays so', async (before, acts) => {
  const { corrections, record } = await setUp(before);
  expect(await corrections.drop(SLACK, [ALERT])).toEqual([before]);
  const after = await record();
  expect(after?.state).toBe(before);
  expect(after?.acts).toEqual(acts);
});

test('a record keeps its attempts when it is reopened', async () => {
  const { corrections, record } = await setUp('dead');
  await corrections.reopen(SLACK, [ALERT], 'retried');
  expect((await record())?.attempts).toEqual([{ at: AT, outcome: 'dead', durationMs: 1 }]);
});

test('an alert that has a destination now is unroutable no more', async () => {
  const { ledger, corrections, record } = await setUp();
  const attempt = { at: AT, outcome: 'dead', durationMs: 0 } as const;
  await ledger.recordAttempt(NO_DESTINATION, [ALERT], { state: 'dead', attempt });
  expect(await record()).toMatchObject({ destination: NO_DESTINATION });
  await corrections.clearUnroutable([ALERT]);
  expect(await record()).toBeUndefined();
});
