/** What the ledger says of alerts, whatever came first and however often it came. */
import { describe, expect, test } from 'vitest';
import { createLedger } from '../../src/ledger/ledger.ts';
import { NO_DESTINATION } from '../../src/ledger/record.ts';
import { destinationOf } from '../support/alerts.ts';
import { hashOf, makeAlert } from '../support/numbered.ts';
import { openTestRedis } from '../support/redis.ts';

const T0 = Date.parse('2026-11-20T12:00:00Z');
const AT = '2026-11-20T12:00:00.000Z';
const SLACK = destinationOf('slack', 'C1');
const MAIL = destinationOf('email', 'ops@example.com');

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  return { redis, prefix, ledger: createLedger(redis, prefix, () => T0) };
};
/** It ends so late that its date does not say how long it is kept. */
const oldAlert = (n: number) => makeAlert(n, { at: '2026-11-01T10:00:00.000Z' });
const parcel = (destination = SLACK, ...numbers: number[]) => ({
  destination,
  alerts: numbers.map((n) => makeAlert(n)),
});
const attempt = (outcome: 'delivered' | 'retrying' | 'dead', at = AT) => ({ at, outcome, durationMs: 5 });
const DELIVERED = { state: 'delivered', attempt: attempt('delivered'), providerId: 'ts-1', handle: 'h' } as const;
const RETRYING = { state: 'waiting', attempt: attempt('retrying') } as const;
const DEAD = { state: 'dead', attempt: attempt('dead') } as const;

test('an alert that never waited is kept for weeks', async () => {
  const { redis, prefix, ledger } = setUp();
  await ledger.recordAttempt(NO_DESTINATION, [oldAlert(1)], DEAD);
  expect(await redis.ttl(`${prefix}:alert:${makeAlert(1).id}`)).toBeGreaterThan(0);
});

describe('a waiting delivery', () => {
  test('is counted once however often it is recorded, and keeps who asked for it first', async () => {
    const { ledger } = setUp();
    await ledger.recordWaiting([parcel(SLACK, 1, 2), parcel(MAIL, 1)], 'fallback 1');
    await ledger.recordWaiting([parcel(SLACK, 1)], 'fallback 2');
    expect(await ledger.waitingByDestination()).toEqual({ [SLACK.id]: 2, [MAIL.id]: 1 });
    expect((await ledger.read(makeAlert(2).id))?.deliveries).toEqual([
      {
        state: 'waiting',
        destination: { id: SLACK.id, kind: 'slack', label: SLACK.label },
        at: AT,
        attempts: [],
        by: 'fallback 1',
      },
    ]);
    expect((await ledger.read(makeAlert(1).id))?.deliveries.map(({ by }) => by)).toEqual(['fallback 1', 'fallback 1']);
  });

  test('is one of very many: an alert may have more destinations than Lua can hand to one command', async () => {
    const { ledger } = setUp();
    const chats = Array.from({ length: 5000 }, (_, n) => destinationOf('telegram', `-100${n}`));
    const parcels = (...numbers: number[]) => chats.map((chat) => parcel(chat, ...numbers));
    await ledger.recordWaiting(parcels(1, 2));
    await ledger.recordWaiting(parcels(2, 3));
    const [last = SLACK] = chats.slice(-1);
    await ledger.recordAttempt(last, [makeAlert(2)], DELIVERED);
    const waiting = await ledger.waitingByDestination();
    expect(Object.keys(waiting)).toHaveLength(5000);
    expect([waiting[chats[0]?.id ?? ''], waiting[last.id]]).toEqual([3, 2]);
    expect((await ledger.read(makeAlert(2).id))?.deliveries).toHaveLength(5000);
  });

  test('is pending until it ends, as is what the ledger does not know', async () => {
    const { ledger } = setUp();
    await ledger.recordWaiting([parcel(SLACK, 1, 2)]);
    await ledger.recordAttempt(SLACK, [makeAlert(1)], RETRYING);
    expect(await ledger.pending(SLACK, parcel(SLACK, 1, 2, 3).alerts)).toEqual(parcel(SLACK, 1, 2, 3).alerts);
    await ledger.recordAttempt(SLACK, [makeAlert(1)], DELIVERED);
    await ledger.recordAttempt(SLACK, [makeAlert(2)], DEAD);
    expect(await ledger.pending(SLACK, parcel(SLACK, 1, 2, 3).alerts)).toEqual([makeAlert(3)]);
    expect(await ledger.pending(MAIL, [makeAlert(1)])).toEqual([makeAlert(1)]);
  });

  test('waits until it ends; what the ledger does not know does not', async () => {
    const { ledger } = setUp();
    const ids = [1, 2, 3].map((number) => makeAlert(number).id);
    await ledger.recordWaiting([parcel(SLACK, 1, 2)]);
    expect(await ledger.waiting(SLACK, ids)).toEqual(ids.slice(0, 2));
    await ledger.recordAttempt(SLACK, [makeAlert(1)], DELIVERED);
    expect(await ledger.waiting(SLACK, ids)).toEqual(ids.slice(1, 2));
    expect(await ledger.waiting(MAIL, ids)).toEqual([]);
  });

  test('does not expire: what is kept for weeks is an alert whose last delivery has ended', async () => {
    const { redis, prefix, ledger } = setUp();
    const ttl = () => redis.ttl(`${prefix}:alert:${makeAlert(1).id}`);
    const wait = (...destinations: (typeof SLACK)[]) =>
      ledger.recordWaiting(destinations.map((destination) => ({ destination, alerts: [oldAlert(1)] })));
    await wait(SLACK, MAIL);
    expect(await ttl()).toBe(-1);
    await ledger.recordAttempt(SLACK, [oldAlert(1)], RETRYING);
    await ledger.recordAttempt(SLACK, [oldAlert(1)], DELIVERED);
    await wait(SLACK, MAIL);
    expect(await ttl()).toBe(-1);
    await ledger.recordAttempt(MAIL, [oldAlert(1)], DEAD);
    expect(await ttl()).toBeGreaterThan(0);
    await wait(destinationOf('slack', 'C2'));
    expect(await ttl()).toBe(-1);
  });

  test('is counted where the ledger did not know it before its first attempt', async () => {
    const { ledger } = setUp();
    await ledger.recordAttempt(SLACK, [makeAlert(1)], RETRYING);
    await ledger.recordWaiting([parcel(SLACK, 2)]);
    expect(await ledger.waitingByDestination()).toEqual({ [SLACK.id]: 2 });
    await ledger.recordAttempt(SLACK, [makeAlert(1)], DELIVERED);
    expect(await ledger.waitingByDestination()).toEqual({ [SLACK.id]: 1 });
  });

  test('keeps its alert open, up to the last destination', async () => {
    const { ledger } = setUp();
    const track = makeAlert(1);
    const late = makeAlert(2, { at: '2026-11-20T13:00:00.000Z' });
    await ledger.recordWaiting([parcel(SLACK, 1), parcel(MAIL, 1), { destination: SLACK, alerts: [late] }]);
    expect(await ledger.oldestOpen(track)).toBe(Date.parse(makeAlert(1).at));
    await ledger.recordAttempt(SLACK, [makeAlert(1)], DELIVERED);
    expect(await ledger.oldestOpen(track)).toBe(Date.parse(makeAlert(1).at));
    await ledger.recordAttempt(MAIL, [makeAlert(1)], DEAD);
    expect(await ledger.oldestOpen(track)).toBe(Date.parse(late.at));
    expect(await ledger.oldestOpen({ ...track, protocol: 'another' })).toBeUndefined();
    await ledger.recordAttempt(SLACK, [late], DELIVERED);
    expect(await ledger.oldestOpen(track)).toBeUndefined();
    expect(await ledger.waitingByDestination()).toEqual({});
  });
});

describe('an attempt', () => {
  test('that ended it says so, and a second delivery is reported as one', async () => {
    const { ledger } = setUp();
    await ledger.recordWaiting([parcel(SLACK, 1, 2)]);
    expect(await ledger.recordAttempt(SLACK, [makeAlert(1)], DELIVERED)).toEqual(['waiting']);
    expect(await ledger.recordAttempt(SLACK, parcel(SLACK, 1, 2, 3).alerts, DELIVERED)).toEqual([
      'delivered',
      'waiting',
      undefined,
    ]);
    expect(await ledger.waitingByDestination()).toEqual({});
    expect((await ledger.read(makeAlert(1).id))?.deliveries).toMatchObject([
      { state: 'delivered', providerId: 'ts-1', handle: 'h', attempts: [DELIVERED.attempt, DELIVERED.attempt] },
    ]);
  });

  test('of another job that will be retried does not undo the end', async () => {
    const { ledger } = setUp();
    await ledger.recordWaiting([parcel(SLACK, 1)]);
    await ledger.recordAttempt(SLACK, [makeAlert(1)], DEAD);
    await ledger.recordAttempt(SLACK, [makeAlert(1)], RETRYING);
    expect((await ledger.read(makeAlert(1).id))?.deliveries[0]?.state).toBe('dead');
    expect(await ledger.waitingByDestination()).toEqual({});
  });

  test('that ended it stands, though a failed one comes in the same moment', async () => {
    const { ledger } = setUp();
    await ledger.recordWaiting([parcel(SLACK, 1)]);
    await Promise.all([
      ledger.recordAttempt(SLACK, [makeAlert(1)], DELIVERED),
      ledger.recordAttempt(SLACK, [makeAlert(1)], RETRYING),
    ]);
    expect((await ledger.read(makeAlert(1).id))?.deliveries.map(({ state }) => state)).toEqual(['delivered']);
    expect(await ledger.waitingByDestination()).toEqual({});
  });

  test('that ended it while another was tried, and a third ended by another run, are each recorded as they were', async () => {
    const { redis, prefix, ledger } = setUp();
    const other = createLedger(redis, prefix, () => T0);
    const alerts = parcel(SLACK, 1, 2, 3).alerts;
    await ledger.recordWaiting([parcel(SLACK, 1, 2, 3)]);
    expect(await ledger.pending(SLACK, alerts)).toEqual(alerts);
    await other.recordAttempt(SLACK, [makeAlert(2)], RETRYING);
    await other.recordAttempt(SLACK, [makeAlert(3)], DELIVERED);
    const again = parcel(SLACK, 1).alerts;
    await ledger.pending(SLACK, again);
    const ends = [alerts, again].map((some) => ledger.recordAttempt(SLACK, some, DELIVERED));
    expect(await Promise.all(ends)).toEqual([['waiting', 'waiting', 'delivered'], ['delivered']]);
    const attempts = alerts.map(async ({ id }) => (await ledger.read(id))?.deliveries[0]?.attempts.length);
    expect(await Promise.all(attempts)).toEqual([2, 2, 2]);
    expect(await ledger.waitingByDestination()).toEqual({});
    expect(await redis.keys(`${prefix}:open:*`)).toEqual([]);
  });

  test('that fails for good after another one delivered changes nothing but the list of attempts', async () => {
    const { ledger } = setUp();
    await ledger.recordWaiting([parcel(SLACK, 1)]);
    await ledger.recordAttempt(SLACK, [makeAlert(1)], DELIVERED);
    const later = { ...DEAD, attempt: attempt('dead', '2026-11-20T12:00:09.000Z') };
    expect(await ledger.recordAttempt(SLACK, [makeAlert(1)], later)).toEqual(['delivered']);
    expect((await ledger.read(makeAlert(1).id))?.deliveries).toMatchObject([
      { state: 'delivered', at: AT, providerId: 'ts-1', handle: 'h', attempts: [DELIVERED.attempt, later.attempt] },
    ]);
    expect(await ledger.waitingByDestination()).toEqual({});
  });

  test.each([
    ['before', [DELIVERED, DEAD]],
    ['after', [DEAD, DELIVERED]],
  ])('that delivered stands, though one fails for good in the same moment, recorded %s it', async (_when, results) => {
    const { ledger } = setUp();
    await ledger.recordWaiting([parcel(SLACK, 1)]);
    await Promise.all(results.map((result) => ledger.recordAttempt(SLACK, [makeAlert(1)], result)));
    expect((await ledger.read(makeAlert(1).id))?.deliveries).toMatchObject([{ state: 'delivered', handle: 'h' }]);
    expect(await ledger.waitingByDestination()).toEqual({});
    expect(await ledger.oldestOpen(makeAlert(1))).toBeUndefined();
  });

  test.each([
    ['ends it', DELIVERED, DEAD, 'delivered'],
    ['is to be tried again', RETRYING, DELIVERED, 'delivered'],
    ['is to be tried again, like the other', RETRYING, RETRYING, 'waiting'],
  ])('of a run that found it untried %s: that of another run that did is added', async (_how, first, second, state) => {
    const { redis, prefix, ledger } = setUp();
    const other = createLedger(redis, prefix, () => T0);
    await ledger.recordWaiting([parcel(SLACK, 1), parcel(MAIL, 1)]);
    const [here, there] = [await ledger.pending(SLACK, [makeAlert(1)]), await other.pending(SLACK, [makeAlert(1)])];
    expect(await ledger.recordAttempt(SLACK, here, first)).toEqual(['waiting']);
    expect(await other.recordAttempt(SLACK, there, second)).toEqual([first.state]);
    const { deliveries = [] } = (await ledger.read(makeAlert(1).id)) ?? {};
    expect(deliveries.find(({ destination }) => destination.id === SLACK.id)).toMatchObject({
      state,
      attempts: [first.attempt, second.attempt],
    });
    expect(await ledger.pending(SLACK, [makeAlert(1)])).toHaveLength(state === 'waiting' ? 1 : 0);
    await ledger.recordAttempt(MAIL, [makeAlert(1)], DELIVERED);
    expect(await ledger.oldestOpen(makeAlert(1))).toBe(state === 'waiting' ? Date.parse(makeAlert(1).at) : undefined);
    expect(await ledger.waitingByDestination()).toEqual(state === 'waiting' ? { [SLACK.id]: 1 } : {});
  });

  test('is one of the last ten that are kept', async () => {
    const { ledger } = setUp();
    for (let n = 0; n < 12; n += 1) {
      const at = `2026-11-20T12:00:${String(n).padStart(2, '0')}.000Z`;
      await ledger.recordAttempt(SLACK, [makeAlert(1)], { ...RETRYING, attempt: attempt('retrying', at) });
    }
    const [record] = (await ledger.read(makeAlert(1).id))?.deliveries ?? [];
    expect(record?.attempts.map(({ at }) => at.slice(17, 19))).toEqual([
      '02',
      '03',
      '04',
      '05',
      '06',
      '07',
      '08',
      '09',
      '10',
      '11',
    ]);
  });

  test('of an alert without destination is recorded as such', async () => {
    const { ledger } = setUp();
    await ledger.recordAttempt(NO_DESTINATION, [makeAlert(1)], DEAD);
    expect((await ledger.read(makeAlert(1).id))?.deliveries).toMatchObject([
      { state: 'dead', destination: NO_DESTINATION },
    ]);
    expect(await ledger.waitingByDestination()).toEqual({});
  });
});

test('an alert is found by its transaction in any case, and read without its item', async () => {
  const { ledger } = setUp();
  const hash = `0x${'ab'.repeat(32)}`;
  const alert = makeAlert(1, { txHash: hash.toUpperCase().replace('0X', '0x') });
  await ledger.recordWaiting([{ destination: SLACK, alerts: [alert] }]);
  expect(await ledger.byTransaction(hash)).toEqual([alert.id]);
  expect(await ledger.byTransaction(hashOf(9))).toEqual([]);
  expect(await ledger.read(makeAlert(9).id)).toBeUndefined();
  const record = await ledger.read(alert.id);
  expect(record?.alert).toMatchObject({ id: alert.id, service: alert.service, itemId: alert.itemId, at: alert.at });
  expect(record?.alert).not.toHaveProperty('item');
});

test('an alert that is old when it ends is kept for 35 days from then; any other goes with its date', async () => {
  const { redis, prefix, ledger } = setUp();
  const ttl = (n: number) => redis.ttl(`${prefix}:alert:${makeAlert(n).id}`);
  await ledger.recordWaiting([{ destination: SLACK, alerts: [oldAlert(1), makeAlert(2)] }]);
  await ledger.recordAttempt(SLACK, [oldAlert(1), makeAlert(2)], DELIVERED);
  const days = (await ttl(1)) / 86_400;
  expect(days).toBeGreaterThan(34.9);
  expect(days).toBeLessThanOrEqual(35);
  expect(await ttl(2)).toBe(-1);
});
