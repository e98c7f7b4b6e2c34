import { expect, test } from 'vitest';
import { bound } from '../../src/dispatch/dispatch.ts';
import { toParcels } from '../../src/dispatch/parcels.ts';
import { itemSize, LARGEST_ITEM } from '../../src/item.ts';
import { destinationOf } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';

const large = (n: number, length: number) => makeAlert(n, { item: { _id: `item-${n}`, text: 'x'.repeat(length) } });

test('an item that is too large is cut, and its alert says so', async () => {
  const told: number[] = [];
  const alerts = [makeAlert(1), large(2, 5_000_000)].map((alert) => ({ alert, destinations: [] }));
  const { alerts: found } = await bound(
    { alerts, groups: [] },
    { onTruncated: ({ truncatedFrom = 0 }, bytes) => void told.push(bytes, truncatedFrom) },
  );
  expect(found[0]).toBe(alerts[0]);
  expect(itemSize(found[1]?.alert.item ?? {})).toBeLessThanOrEqual(LARGEST_ITEM);
  const whole = itemSize(alerts[1]?.alert.item ?? {});
  expect(told).toEqual([whole, whole]);
});

test('a parcel is cut by its bytes as well as by its alerts', () => {
  const [webhook, chat] = [destinationOf('webhook', 'https://a.example'), destinationOf('telegram', '1')];
  const sizes = (alerts: readonly ReturnType<typeof makeAlert>[], destination = webhook) =>
    toParcels(alerts.map((alert) => ({ alert, destinations: [destination] }))).map((parcel) => parcel.alerts.length);
  const small = Array.from({ length: 501 }, (_, n) => makeAlert(n));
  expect(sizes(small.slice(0, 41))).toEqual([25, 16]);
  expect(sizes(small, chat)).toEqual([500, 1]);
  const heavy = Array.from({ length: 5 }, (_, n) => large(n, 200_000));
  expect(sizes(heavy)).toEqual([2, 2, 1]);
  expect(sizes(heavy, chat)).toEqual([2, 2, 1]);
});
