import { expect, test } from 'vitest';
import { createWatermark } from '../../src/poll/windows.ts';
import { makeItem, T0 } from '../support/items.ts';

const dated = (dates: Record<string, number>) => makeItem(1, { dates });

test('the cursor goes as far as the latest item, each by the earliest of its dates', () => {
  const watermark = createWatermark();
  watermark.count([dated({ createdAt: T0 + 5000, updatedAt: T0 + 90_000, txTimestamp: T0 + 3000 })]);
  watermark.count([dated({ createdAt: T0 + 4000 }), dated({ createdAt: T0 + 1000 })]);
  expect(watermark.upTo()).toBe(T0 + 4000);
});

test('it goes no further than everything was read', () => {
  const watermark = createWatermark();
  watermark.count([dated({ createdAt: T0 + 4000 })]);
  expect(watermark.upTo(T0 + 1000)).toBe(T0 + 1000);
  expect(watermark.upTo(T0 + 9000)).toBe(T0 + 4000);
});

test('an answer without items, or without dates, moves nothing', () => {
  const watermark = createWatermark();
  watermark.count([]);
  watermark.count([dated({})]);
  expect(watermark.upTo(T0)).toBeUndefined();
});
