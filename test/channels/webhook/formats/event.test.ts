/** Keys of events: what Alertmanager takes for the same thing. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type EventKey, eventChangeOf } from '../../../../src/channels/webhook/formats/event.ts';
import { alertId } from '../../../../src/item.ts';
import { destinationOf, inspectionAlert } from '../../../support/alerts.ts';
import { anyCharacter } from '../../../support/texts.ts';
import { everySort } from '../../../support/webhooks.ts';

const HERE = destinationOf('webhook', 'https://alertmanager.example.com/api/v2/alerts');

const keysOf = ({ raises, clears }: { raises?: EventKey; clears?: EventKey }): string[] =>
  [raises, clears].flatMap((event) => event?.key ?? []);

test('a key is short and plain, whatever the item holds', () => {
  for (const [what, alert] of everySort())
    for (const key of keysOf(eventChangeOf(alert, HERE))) expect(key, what).toMatch(/^msg_[0-9a-f]{32}\.[a-z]{4,8}$/);
});

test('findings that differ have keys that differ, and so have destinations', () => {
  const ids = fc.uniqueArray(fc.string({ unit: anyCharacter }), { minLength: 2, maxLength: 20 });
  fc.assert(
    fc.property(ids, fc.uniqueArray(fc.webUrl(), { minLength: 1, maxLength: 3 }), (items, urls) => {
      const alerts = items.map((item) => inspectionAlert({ id: alertId('main', 'inspections', item) }));
      const destinations = urls.map((url) => destinationOf('webhook', url));
      const keys = alerts.flatMap((alert) => destinations.flatMap((one) => keysOf(eventChangeOf(alert, one))));
      expect(new Set(keys).size).toBe(items.length * urls.length);
    }),
  );
});

const BAD = ['critical', 'suspecious', 'brand new'];

test.each(BAD.flatMap((was) => [...BAD, 'ok', undefined].filter((is) => is !== was).map((is) => [was, is] as const)))(
  'from %s to %s: what was open is cleared, and what is still bad is open',
  (was, is) => {
    const first = inspectionAlert({ item: { assessment: was } });
    const followUp = { of: first.id, was, ...(is === undefined ? {} : { is }) };
    const change = eventChangeOf(inspectionAlert({ id: 'later', type: 'inspection.downgraded', followUp }), HERE);
    expect(change.clears).toEqual(eventChangeOf(first, HERE).raises);
    const now = inspectionAlert({ item: { assessment: is ?? 'ok' } });
    const isBad = is !== undefined && is !== 'ok';
    expect(change.raises).toEqual(isBad ? eventChangeOf(now, HERE).raises : undefined);
  },
);
