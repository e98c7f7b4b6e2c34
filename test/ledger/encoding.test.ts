/** What the ledger writes is read again as it was, by this version; what an older one wrote is read as well. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CHANNEL_KINDS } from '../../src/alert.ts';
import { destinationId } from '../../src/item.ts';
import { encodeRecord, encodeSummary, parseRecord, parseSummary, stateOf } from '../../src/ledger/encoding.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { type AlertRecord, type DeliveryRecord, NO_DESTINATION } from '../../src/ledger/record.ts';
import { destinationOf } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';
import { openTestRedis } from '../support/redis.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 30 });
const time = fc.oneof(
  fc.date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true }).map((date) => date.toISOString()),
  fc.constantFrom('2026-11-20T10:00:00Z', '2026-11-20', 'soon'),
);
const attempt = fc.record(
  {
    at: time,
    outcome: fc.constantFrom('delivered', 'retrying', 'dead'),
    durationMs: fc.nat(),
    reason: text,
    code: text,
    message: text,
    maybeDelivered: fc.constant(true),
    providerId: text,
    replay: fc.constant(true),
  },
  { requiredKeys: ['at', 'outcome', 'durationMs'] },
);
const destination = fc.oneof(
  fc.tuple(fc.constantFrom(...CHANNEL_KINDS), text, text).map(([kind, address, label]) => ({
    id: destinationId(kind, address),
    kind,
    label,
  })),
  fc.constant(NO_DESTINATION),
  fc.record({ id: text, kind: text, label: text }),
);
const record = fc.record(
  {
    state: fc.constantFrom('waiting', 'delivered', 'muted', 'dead'),
    destination,
    at: time,
    providerId: text,
    handle: text,
    attempts: fc.array(attempt, { maxLength: 3 }),
    acts: fc.array(fc.record({ at: time, act: fc.constantFrom('retried', 'muted') }), { maxLength: 2 }),
    with: text,
    by: text,
  },
  { requiredKeys: ['state', 'destination', 'at', 'attempts'] },
) as fc.Arbitrary<DeliveryRecord>;
const summary = fc.record(
  {
    id: text,
    service: text,
    protocol: text,
    source: fc.constantFrom('inspections', 'notifications'),
    type: text,
    itemId: text,
    at: time,
    readAt: time,
    txHash: text,
    followUp: fc.record({ of: text, was: text, is: text }, { requiredKeys: ['of', 'was'] }),
  },
  { requiredKeys: ['id', 'service', 'protocol', 'source', 'type', 'itemId', 'at', 'readAt'] },
) as fc.Arbitrary<AlertRecord['alert']>;

test('a delivery is read as it was written', () => {
  fc.assert(
    fc.property(record, (one) => {
      const written = encodeRecord(one);
      expect(parseRecord(one.destination.id, written)).toEqual(one);
      expect(stateOf(written)).toBe(one.state);
      expect(parseRecord(one.destination.id, JSON.stringify(one))).toEqual(one);
      expect(stateOf(JSON.stringify(one))).toBe(one.state);
    }),
  );
});

test('most deliveries are short: what stands twice in them is written once', () => {
  const at = '2026-11-20T12:00:00.000Z';
  const one: DeliveryRecord = {
    state: 'delivered',
    destination: { id: 'email-166e9ac95305', kind: 'email', label: 'a@example.com' },
    at,
    providerId: '<1@example.com>',
    handle: '<1@example.com>',
    attempts: [{ at, outcome: 'delivered', durationMs: 12, providerId: '<1@example.com>' }],
  };
  expect(encodeRecord(one)).toBe(`d["a@example.com",${Date.parse(at)},12,{"p":"<1@example.com>","h":0}]`);
  expect(parseRecord(one.destination.id, encodeRecord(one))).toEqual(one);
});

test('an alert is read as it was written', () => {
  fc.assert(
    fc.property(summary, (one) => {
      expect(parseSummary(one.id, encodeSummary(one))).toEqual(one);
      expect(parseSummary(one.id, JSON.stringify(one))).toEqual(one);
    }),
  );
});

test('an older version does not take it for what it knows', () => {
  const [one] = fc.sample(record, 1);
  expect(() => JSON.parse(one ? encodeRecord(one) : '{}')).toThrow();
  expect(() => JSON.parse(encodeSummary(makeAlert(1)))).toThrow();
});

describe('what an older version recorded', () => {
  const SLACK = destinationOf('slack', 'C1');
  const MAIL = destinationOf('email', 'a@example.com');
  const AT = '2026-11-20T12:00:00.000Z';
  const attempted = (state: 'delivered' | 'dead') =>
    ({ state, attempt: { at: AT, outcome: state, durationMs: 1 } }) as const;

  const setUp = async () => {
    const { redis, prefix } = openTestRedis();
    const ledger = createLedger(redis, prefix, () => Date.parse(AT));
    const { item: _item, replay: _replay, ...alert } = makeAlert(1);
    const waiting = ({ id, kind, label }: typeof SLACK) =>
      JSON.stringify({ state: 'waiting', destination: { id, kind, label }, at: AT, attempts: [] });
    const key = `${prefix}:alert:${alert.id}`;
    await redis.hset(key, {
      alert: JSON.stringify(alert),
      open: '2',
      [SLACK.id]: waiting(SLACK),
      [MAIL.id]: waiting(MAIL),
    });
    await redis.hset(`${prefix}:waiting`, { [SLACK.id]: 1, [MAIL.id]: 1 });
    await redis.zadd(`${prefix}:open:["main","inspections","Lending Pool"]`, Date.parse(alert.at), alert.id);
    await redis.sadd(`${prefix}:tx:${alert.txHash}`, alert.id);
    return { redis, key, ledger, alert };
  };

  test('is read, found by its transaction, and not recorded again', async () => {
    const { redis, key, ledger, alert } = await setUp();
    expect((await ledger.read(alert.id))?.alert).toEqual(alert);
    expect(await ledger.byTransaction(alert.txHash ?? '')).toEqual([alert.id]);
    await ledger.recordWaiting([{ destination: SLACK, alerts: [makeAlert(1)] }]);
    expect(await ledger.waitingByDestination()).toEqual({ [SLACK.id]: 1, [MAIL.id]: 1 });
    await ledger.recordWaiting([{ destination: destinationOf('slack', 'C2'), alerts: [makeAlert(1)] }]);
    expect(await redis.hget(key, 'open')).toBe('3');
  });

  test('ends as it began: with its counts', async () => {
    const { redis, key, ledger, alert } = await setUp();
    expect(await ledger.pending(SLACK, [makeAlert(1)])).toEqual([makeAlert(1)]);
    expect(await ledger.recordAttempt(SLACK, [makeAlert(1)], attempted('delivered'))).toEqual(['waiting']);
    expect([await redis.hget(key, 'open'), await redis.ttl(key)]).toEqual(['1', -1]);
    expect(await ledger.oldestOpen(alert)).toBe(Date.parse(alert.at));
    expect(await ledger.recordAttempt(MAIL, [makeAlert(1)], attempted('dead'))).toEqual(['waiting']);
    expect(await redis.hget(key, 'open')).toBe('0');
    expect(await ledger.oldestOpen(alert)).toBeUndefined();
    expect(await ledger.waitingByDestination()).toEqual({});
  });
});
