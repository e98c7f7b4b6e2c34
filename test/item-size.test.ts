import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../src/alert.ts';
import { boundItem, itemSize, LARGEST_ITEM } from '../src/item.ts';
import { sampleInspection } from './support/alerts.ts';

test('an item that is small enough is the same one', () => {
  const item = sampleInspection();
  expect(boundItem(item)).toBe(item);
  expect(itemSize({ a: 'ü' })).toBe(10);
});

test('of one that is too large, what names it stays, long texts are cut, and it says by how much', () => {
  const item = sampleInspection({
    assets: Array.from({ length: 50 }, (_, n) => ({ address: `0x${n}`, descriptor: 'x' })),
    detections: { flashLoan: { status: 'detected', message: 'a'.repeat(5_000_000) } },
  });
  const kept = boundItem(item);
  expect(itemSize(kept)).toBeLessThanOrEqual(LARGEST_ITEM);
  expect(kept).toMatchObject({ _id: item._id, txHash: item.txHash, assessment: 'critical', assets: item.assets });
  expect(JSON.stringify(kept.detections)).toContain('aaa… (4984000 characters left out)');
});

test('detectors that fired are kept rather than those that did not', () => {
  const detections: JsonObject = Object.fromEntries(
    Array.from({ length: 40_000 }, (_, n) => [
      `d${n}`,
      { status: n % 100 === 99 ? 'detected' : 'notDetected', message: '' },
    ]),
  );
  const { detections: kept = {} } = boundItem(sampleInspection({ detections }));
  const fired = Object.values(kept as JsonObject).filter((one) => JSON.stringify(one).includes('"detected"'));
  expect(fired).toHaveLength(400);
});

test('whatever it is, it is cut to the bound', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.integer({ min: 600, max: 4000 }), (item, most) => {
      const grown = { ...item, _id: 'x', list: Array.from({ length: 3000 }, (_, n) => ({ n })), ['k'.repeat(9000)]: 1 };
      expect(itemSize(boundItem(grown as JsonObject, most))).toBeLessThanOrEqual(most);
    }),
    { numRuns: 50 },
  );
});
