/** What the ledger writes is read again as it was; what another version wrote is refused. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CHANNEL_KINDS, SOURCES } from '../../src/alert.ts';
import { destinationId } from '../../src/item.ts';
import { encodeRecord, encodeSummary, parseRecord, parseSummary, stateOf } from '../../src/ledger/encoding.ts';
import { type AlertRecord, type DeliveryRecord, NO_DESTINATION } from '../../src/ledger/record.ts';
import { hashOf, makeAlert } from '../support/numbered.ts';

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
const record = fc
  .record(
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
  )
  .chain((one) =>
    // Most handles have the provider's id in them.
    fc.constantFrom(one, { ...one, handle: `<${one.providerId} ${one.providerId}` }),
  ) as fc.Arbitrary<DeliveryRecord>;
const summary = fc.record(
  {
    id: text,
    service: text,
    protocol: text,
    source: fc.constantFrom(...SOURCES),
    type: text,
    itemId: text,
    at: time,
    readAt: time,
    txHash: fc.oneof(text, fc.constantFrom(hashOf(1), hashOf(1).toUpperCase())),
    followUp: fc.record({ of: text, was: text, is: text }, { requiredKeys: ['of', 'was'] }),
    message: text,
  },
  { requiredKeys: ['id', 'service', 'protocol', 'source', 'type', 'itemId', 'at', 'readAt'] },
) as fc.Arbitrary<AlertRecord['alert']>;

test('a delivery is read as it was written', () => {
  fc.assert(
    fc.property(record, (one) => {
      const written = encodeRecord(one);
      expect(parseRecord(one.destination.id, written)).toEqual(one);
      expect(stateOf(written)).toBe(one.state);
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
    handle: '<1@example.com> [CRITICAL] Harbor',
    attempts: [{ at, outcome: 'delivered', durationMs: 12, providerId: '<1@example.com>' }],
  };
  expect(encodeRecord(one)).toBe(`d["a@example.com",${Date.parse(at)},12,"<1@example.com>",[""," [CRITICAL] Harbor"]]`);
  expect(parseRecord(one.destination.id, encodeRecord(one))).toEqual(one);
});

test('an alert is read as it was written', () => {
  fc.assert(
    fc.property(summary, (one) => {
      expect(parseSummary(one.id, encodeSummary(one))).toEqual(one);
    }),
  );
});

test('an alert is short: its times are a date and a difference, and its hash is written in 43 letters', () => {
  const { item: _item, ...one } = makeAlert(1, {
    ...{ service: 'main', protocol: 'Harbor', type: 'inspection.critical', itemId: 'i1' },
    ...{ at: '2026-11-20T12:00:00.000Z', readAt: '2026-11-20T12:00:00.250Z' },
  });
  const hash = `${'A'.repeat(42)}E`;
  expect(encodeSummary(one)).toBe(
    `~[0,"main","Harbor","inspection.critical","i1",${Date.parse(one.at)},250,"${hash}"]`,
  );
});

test('what another version wrote is refused', () => {
  const [one] = fc.sample(record, 1);
  expect(() => parseRecord('slack-1', JSON.stringify(one))).toThrow('another version');
  expect(() => stateOf(JSON.stringify(one))).toThrow('another version');
  expect(() => parseSummary('a', JSON.stringify(makeAlert(1)))).toThrow('another version');
});
