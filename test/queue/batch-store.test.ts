/** Batches: what is added, sealed and dropped, in whatever order jobs and daemons come. */
import { expect, test } from 'vitest';
import { createBatchStore } from '../../src/queue/batch-store.ts';
import { destinationOf } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';
import { openTestRedis } from '../support/redis.ts';

const SLACK = destinationOf('slack', 'C1');
const OTHER = destinationOf('slack', 'C2');
const dated = (n: number) => makeAlert(n, { at: `2026-11-20T12:00:${String(n).padStart(2, '0')}.000Z` });

const setUp = (full?: { alerts: number; bytes: number }) => {
  const { redis, prefix } = openTestRedis();
  return createBatchStore(redis, prefix, full);
};

test('alerts join the open batch, each once, and come oldest first', async () => {
  const batches = setUp();
  expect(await batches.hasOpenBatch(SLACK)).toBe(false);
  expect(await batches.add(SLACK, [dated(3), dated(1)])).toEqual([1]);
  expect(await batches.add(SLACK, [dated(2), dated(1)])).toEqual([1]);
  expect(await batches.hasOpenBatch(SLACK)).toBe(true);
  expect(await batches.hasOpenBatch(OTHER)).toBe(false);
  expect(await batches.isInBatch(SLACK.id, dated(2).id)).toBe(true);
  expect(await batches.isInBatch(SLACK.id, dated(4).id)).toBe(false);
  expect(await batches.seal(SLACK, 1)).toEqual([dated(1), dated(2), dated(3)]);
});

test('a sealed batch stays the same however often it is sealed; later alerts are the next one', async () => {
  const batches = setUp();
  await batches.add(SLACK, [dated(1)]);
  expect(await batches.seal(SLACK, 1)).toEqual([dated(1)]);
  expect(await batches.hasOpenBatch(SLACK)).toBe(false);
  expect(await batches.add(SLACK, [dated(2)])).toEqual([2]);
  expect(await batches.seal(SLACK, 1)).toEqual([dated(1)]);
  expect(await batches.hasOpenBatch(SLACK)).toBe(true);
  await batches.drop(SLACK, 1);
  expect(await batches.seal(SLACK, 1)).toEqual([]);
  expect(await batches.seal(SLACK, 2)).toEqual([dated(2)]);
});

test('a batch of another number is not sealed', async () => {
  const batches = setUp();
  await batches.add(SLACK, [dated(1)]);
  expect(await batches.seal(SLACK, 2)).toEqual([]);
  expect(await batches.isInBatch(SLACK.id, dated(1).id)).toBe(true);
});

test('more alerts than one call takes are one batch', async () => {
  const batches = setUp();
  const many = Array.from({ length: 450 }, (_, n) => makeAlert(n));
  expect(await batches.add(SLACK, many)).toEqual([1]);
  expect(await batches.seal(SLACK, 1)).toHaveLength(450);
});

test('what a full batch does not take is the next one, and nothing of it is lost', async () => {
  const batches = setUp({ alerts: 500, bytes: 1e9 });
  const many = Array.from({ length: 1450 }, (_, n) => makeAlert(n));
  expect(await batches.add(SLACK, many.slice(0, 300))).toEqual([1]);
  expect(await batches.add(SLACK, many.slice(300))).toEqual([1, 2, 3, 4]);
  const found = await Promise.all([1, 2, 3, 4].map((number) => batches.seal(SLACK, number)));
  expect(Math.max(...found.map(({ length }) => length))).toBeLessThanOrEqual(500);
  expect(new Set(found.flat().map(({ id }) => id)).size).toBe(1450);
  expect(await batches.add(SLACK, many.slice(0, 1))).toEqual([5]);
});

test('a batch is full by its bytes, too', async () => {
  const batches = setUp({ alerts: 5000, bytes: 100_000 });
  const large = (n: number) => makeAlert(n, { item: { text: 'x'.repeat(40_000) } });
  for (const [n, numbers] of [[1], [1], [1, 2], [2], [2, 3]].entries()) {
    expect(await batches.add(SLACK, [large(n)])).toEqual(numbers);
  }
});
