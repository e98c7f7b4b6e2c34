/** Batches: what is added, sealed and dropped, in whatever order jobs and daemons come. */
import { expect, test } from 'vitest';
import { createBatchStore } from '../../src/queue/batch-store.ts';
import { destinationOf } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';
import { openTestRedis } from '../support/redis.ts';

const SLACK = destinationOf('slack', 'C1');
const OTHER = destinationOf('slack', 'C2');
const dated = (n: number) => makeAlert(n, { at: `2026-11-20T12:00:${String(n).padStart(2, '0')}.000Z` });

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  return createBatchStore(redis, prefix);
};

test('alerts join the open batch, each once, and come oldest first', async () => {
  const batches = setUp();
  expect(await batches.hasOpenBatch(SLACK)).toBe(false);
  expect(await batches.add(SLACK, [dated(3), dated(1)])).toBe(1);
  expect(await batches.add(SLACK, [dated(2), dated(1)])).toBe(1);
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
  expect(await batches.add(SLACK, [dated(2)])).toBe(2);
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
  expect(await batches.add(SLACK, many)).toBe(1);
  expect(await batches.seal(SLACK, 1)).toHaveLength(450);
});
