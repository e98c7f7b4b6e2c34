/** Stored notifications beside inspections, with a real ledger. */
import { describe, expect, test } from 'vitest';
import type { Alert, Destination } from '../../../src/alert.ts';
import { createCorrelation, createCoveredDeliveries } from '../../../src/features/correlation/correlate.ts';
import { createOutlines } from '../../../src/ledger/index-by-date.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { destinationOf, notificationAlert } from '../../support/alerts.ts';
import { hashOf, makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';

const SLACK = destinationOf('slack', 'C1');
const MAIL = destinationOf('email', 'a@example.com');
const BOTH = [SLACK, MAIL];

const setUp = (isOn = true) => {
  const { redis, prefix } = openTestRedis();
  const ledger = createLedger(redis, prefix, Date.now);
  const correlated = createCoveredDeliveries(redis, prefix, Date.now);
  const warnings: unknown[] = [];
  const log = { info: () => {}, warn: (line: unknown) => void warnings.push(line) };
  const uncovered = createCorrelation({ isOn, waitMs: 0, ledger, covered: correlated, log }).uncoveredAt;
  const expectAt = (alert: Alert, ...destinations: Destination[]) =>
    ledger.recordWaiting(destinations.map((destination) => ({ destination, alerts: [alert] })));
  const end = (alert: Alert, destination: Destination, state: 'delivered' | 'dead') =>
    ledger.recordAttempt(destination, [alert], {
      state,
      attempt: { at: '2026-11-20T10:00:00.000Z', outcome: state, durationMs: 1 },
    });
  const rest = async (alert: Alert): Promise<string[]> => (await uncovered(alert, BOTH)).map(({ kind }) => kind);
  const outlines = createOutlines(redis, prefix);
  return { ledger, outlines, correlated, log, warnings, uncovered, expectAt, end, rest };
};

const { at, readAt } = makeAlert(1);
const naming = (...ns: number[]) =>
  notificationAlert(`Critical: ${ns.map((n) => hashOf(n).toUpperCase()).join(', ')}`, { at, readAt });

describe('a notification that names a transaction', () => {
  test('ends in the ledger where an inspection is delivered or on its way, and is sent elsewhere', async () => {
    const { ledger, expectAt, rest } = setUp();
    const inspection = makeAlert(1);
    const notification = naming(1);
    await expectAt(inspection, SLACK);
    expect(await rest(notification)).toEqual(['email']);
    const { alert, deliveries } = (await ledger.read(notification.id)) ?? {};
    expect(alert?.id).toBe(notification.id);
    expect(deliveries).toEqual([
      expect.objectContaining({
        state: 'delivered',
        with: inspection.id,
        attempts: [],
        destination: { ...SLACK, address: undefined },
      }),
    ]);
    expect(await ledger.waitingByDestination()).toEqual({ [SLACK.id]: 1 });
    expect(await ledger.pending(SLACK, [notification])).toEqual([]);
  });

  test('that waits is ended by an inspection that came meanwhile, until it was tried', async () => {
    const { ledger, expectAt, rest, end } = setUp();
    await expectAt(naming(1), ...BOTH);
    expect(await rest(naming(1))).toEqual(['slack', 'email']);
    await ledger.recordAttempt(MAIL, [naming(1)], {
      state: 'waiting',
      attempt: { at: '2026-11-20T10:00:00.000Z', outcome: 'retrying', durationMs: 1, maybeDelivered: true },
    });
    await expectAt(makeAlert(1), ...BOTH);
    await end(makeAlert(1), SLACK, 'delivered');
    expect(await rest(naming(1))).toEqual(['email']);
    expect(await ledger.waitingByDestination()).toEqual({ [MAIL.id]: 2 });
  });

  test('is covered by what was delivered, and not by what is dead', async () => {
    const { expectAt, end, rest } = setUp();
    await expectAt(makeAlert(1), ...BOTH);
    await end(makeAlert(1), SLACK, 'delivered');
    await end(makeAlert(1), MAIL, 'dead');
    expect(await rest(naming(1))).toEqual(['email']);
  });

  test('is sent unless every one of several transactions is covered', async () => {
    const { expectAt, rest } = setUp();
    await expectAt(makeAlert(1), ...BOTH);
    expect(await rest(naming(1, 2))).toEqual(['slack', 'email']);
    await expectAt(makeAlert(2), MAIL);
    expect(await rest(naming(1, 2))).toEqual(['slack']);
  });

  test('counts in no list where it is covered wherever it goes, until it is sent again', async () => {
    const { ledger, outlines, uncovered, expectAt, rest } = setUp();
    const notification = { ...naming(1), txHash: hashOf(1).toLowerCase() };
    const day = { from: 0, to: Date.now() + 86_400_000 };
    const listed = async () => {
      const [count] = await outlines.counts([day]);
      const found = (await outlines.latest(50, 5)).find(({ alert }) => alert.id === notification.id);
      return { count, isCovered: found?.isCovered };
    };
    await expectAt(makeAlert(1), SLACK);
    await expectAt(notification, ...BOTH);
    expect(await rest(notification)).toEqual(['email']);
    expect(await listed()).toEqual({ count: 2, isCovered: false });
    await expectAt(makeAlert(1), MAIL);
    expect(await uncovered(notification, [MAIL])).toEqual([]);
    expect(await listed()).toEqual({ count: 1, isCovered: true });
    await ledger.recordAttempt(MAIL, [notification], {
      state: 'delivered',
      attempt: { at: '2026-11-20T10:00:00.000Z', outcome: 'delivered', durationMs: 1, replay: true },
    });
    expect(await listed()).toMatchObject({ isCovered: false });
  });

  test('is its own where it has ended already', async () => {
    const { ledger, expectAt, rest, end } = setUp();
    await end(naming(1), SLACK, 'dead');
    await expectAt(makeAlert(1), ...BOTH);
    expect(await rest(naming(1))).toEqual(['slack']);
    const records = (await ledger.read(naming(1).id))?.deliveries ?? [];
    expect(records.map(({ destination, state }) => `${destination.kind} ${state}`).toSorted()).toEqual([
      'email delivered',
      'slack dead',
    ]);
  });

  test.each<[string, Partial<Alert>]>([
    ['another service', { service: 'other' }],
    ['a sample', { type: 'test.sample' }],
    ['a follow-up', { type: 'inspection.downgraded', followUp: { of: 'x', was: 'critical' } }],
    ['another notification', { source: 'notifications', type: 'notification.created' }],
  ])('is not covered by %s', async (_, changes) => {
    const { expectAt, rest } = setUp();
    await expectAt(makeAlert(1, changes), ...BOTH);
    expect(await rest(naming(1))).toEqual(['slack', 'email']);
    await expectAt(makeAlert(1, { id: 'real' }), ...BOTH);
    expect(await rest(naming(1))).toEqual([]);
  });
});

test('what names none, is replayed, announced, or no notification is always sent; so is all where it is off', async () => {
  const { expectAt, rest } = setUp();
  await expectAt(makeAlert(1), ...BOTH);
  const all = ['slack', 'email'];
  expect(await rest(notificationAlert(`Transaction ${hashOf(1).slice(0, 20)}…`))).toEqual(all);
  expect(await rest({ ...naming(1), replay: true })).toEqual(all);
  expect(await rest({ ...naming(1), type: 'tocsin.destination.broken' })).toEqual(all);
  expect(await rest({ ...makeAlert(1), id: 'again' })).toEqual(all);
  expect(await rest(naming(1))).toEqual([]);
  const off = setUp(false);
  await off.expectAt(makeAlert(1), ...BOTH);
  expect(await off.rest(naming(1))).toEqual(all);
});

test('in doubt it is sent', async () => {
  const { ledger, correlated, log, warnings, expectAt } = setUp();
  await expectAt(makeAlert(1), ...BOTH);
  const unread = { ...ledger, byTransaction: () => Promise.reject(new Error('Redis is away')) };
  const blind = createCorrelation({ isOn: true, waitMs: 0, ledger: unread, covered: correlated, log }).uncoveredAt;
  expect(await blind(naming(1), BOTH)).toEqual(BOTH);
  const unwritten = { ...correlated, end: () => Promise.reject(new Error('Redis is away')) };
  const mute = createCorrelation({ isOn: true, waitMs: 0, ledger, covered: unwritten, log }).uncoveredAt;
  expect(await mute(naming(1), BOTH)).toEqual(BOTH);
  expect(warnings).toHaveLength(2);
});
