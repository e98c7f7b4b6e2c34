/** Destinations that nothing leads to any more are forgotten, with their metrics; all others stay. */
import { expect, onTestFinished, test } from 'vitest';
import { createStore } from '../../../src/app/store.ts';
import { createGoneDestinations } from '../../../src/features/routes/review.ts';
import { createCounters } from '../../../src/features/status/counters.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { destinationOf } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';
import { TOLD } from '../../support/outages.ts';
import { openTestRedis } from '../../support/redis.ts';

const T0 = Date.parse('2026-11-20T12:00:00Z');
const DAY_MS = 86_400_000;
const AT = new Date(T0).toISOString();
const [GONE, LED, WAITED_FOR, FAILED_LATELY] = ['C1', 'C2', 'C3', 'C4'].map((id) => destinationOf('slack', id)) as [
  ReturnType<typeof destinationOf>,
  ReturnType<typeof destinationOf>,
  ReturnType<typeof destinationOf>,
  ReturnType<typeof destinationOf>,
];
const ALL = [GONE, LED, WAITED_FOR, FAILED_LATELY];

const setUp = () => {
  let now = T0;
  const { redis, prefix } = openTestRedis();
  const store = createStore({ redis, prefix, onError: () => {}, now: () => now });
  onTestFinished(() => store.close());
  const metrics = createMetrics({ version: 'test' });
  const config = { services: [], alerts: { sources: [] }, channels: {} } as unknown as Parameters<
    typeof createCounters
  >[0]['config'];
  const catalog = { protocols: async () => new Map() };
  let routed: readonly (typeof LED)[] | undefined = ALL;
  const counters = createCounters({ config, metrics, catalog, routed: () => routed ?? [], hasFallback: false });
  const forgotten: object[] = [];
  const look = createGoneDestinations({
    ...store,
    routed: async () => routed,
    keepSeries: counters.keepDestinations,
    log: { info: (fields: object) => void forgotten.push(fields) },
    now: () => now,
  });
  return {
    redis,
    prefix,
    store,
    metrics,
    counters,
    forgotten,
    look,
    pass: (ms: number) => {
      now += ms;
    },
    routeTo: (destinations: typeof routed) => {
      routed = destinations;
    },
    keysOf: async (id: string) => (await redis.keys(`${prefix}:*`)).filter((key) => key.includes(id)),
    idsOf: async () => (await store.destinationStats.list()).map(({ id }) => id),
  };
};

test('what a destination left is removed once it is gone, and the rest stays', async () => {
  const world = setUp();
  const { redis, prefix, store, metrics, counters, forgotten, look, keysOf } = world;
  await counters.begin();
  for (const one of ALL) {
    await store.destinationStats.succeeded(one, 1, AT);
    await store.addressChanges.note(one, 'C9');
    await store.outageStore.note(one.id, {
      ...TOLD,
      reason: 'unavailable',
      message: 'it timed out',
      since: AT,
      announcedTo: [],
    });
    const [number = 0] = await store.batches.add(one, [makeAlert(1)]);
    await store.batches.seal(one, number);
    await store.batches.drop(one, 1);
    metrics.deliveries.inc({ kind: 'slack', destination: one.id, outcome: 'delivered' });
    metrics.deliveryFailures.inc({ kind: 'slack', destination: one.id, reason: 'unavailable' });
  }
  await store.ledger.recordWaiting([{ destination: WAITED_FOR, alerts: [makeAlert(1)] }]);

  world.routeTo([LED]);
  world.pass(34 * DAY_MS);
  await store.destinationStats.failed(FAILED_LATELY, new Date(T0 + 34 * DAY_MS).toISOString(), 'timeout');
  await look();
  expect(forgotten).toEqual([]);
  expect(await metrics.text()).toContain(`destination="${GONE.id}"`);

  world.pass(2 * DAY_MS);
  await look();
  expect(forgotten).toEqual([{ destination: GONE.id, to: [GONE.label] }]);
  const left = [LED, WAITED_FOR, FAILED_LATELY].map(({ id }) => id);
  expect(await keysOf(GONE.id)).toEqual([]);
  expect((await redis.hkeys(`${prefix}:announced:broken`)).toSorted()).toEqual(left.toSorted());
  expect(await redis.hkeys(`${prefix}:addresses`)).not.toContain(GONE.id);
  expect(await metrics.text()).not.toContain(GONE.id);
  expect((await world.idsOf()).toSorted()).toEqual(left.toSorted());
  expect((await redis.hkeys(`${prefix}:addresses`)).toSorted()).toEqual(left.toSorted());
  for (const id of left) expect(await metrics.text()).toContain(`destination="${id}",outcome="delivered"} 1\n`);

  world.routeTo([LED, GONE]);
  await counters.begin();
  expect(await metrics.text()).toContain(`destination="${GONE.id}",outcome="delivered"} 0\n`);
});

test('nothing is forgotten while it is not known what leads where', async () => {
  const world = setUp();
  await world.store.destinationStats.succeeded(GONE, 1, AT);
  world.pass(60 * DAY_MS);
  world.routeTo(undefined);
  await world.look();
  expect(await world.idsOf()).toEqual([GONE.id]);
  world.routeTo([]);
  await world.look();
  expect(await world.idsOf()).toEqual([]);
});

test('an open batch keeps its number', async () => {
  const { store } = setUp();
  expect(await store.batches.add(GONE, [makeAlert(1)])).toEqual([1]);
  await store.batches.forget(GONE.id);
  expect(await store.batches.add(GONE, [makeAlert(2)])).toEqual([1]);
  expect(await store.batches.seal(GONE, 1)).toHaveLength(2);
});
