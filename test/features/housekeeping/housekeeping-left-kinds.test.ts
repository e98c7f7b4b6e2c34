/** What waits for a channel kind that left the config: it has an end, unless another daemon still sends it. */
import { expect, onTestFinished, test } from 'vitest';
import type { Alert, Destination } from '../../../src/alert.ts';
import { createStore } from '../../../src/app/store.ts';
import { createLeftKinds } from '../../../src/features/housekeeping/housekeeping.ts';
import { createPlaces } from '../../../src/queue/places.ts';
import { destinationOf } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

const HOUR = 3_600_000;
const SLACK = destinationOf('slack', 'C1');

const setUp = () => {
  const begun = Date.now();
  const time = { now: begun };
  const now = () => time.now;
  const store = createStore({ ...openTestRedis(), onError: () => {}, now });
  onTestFinished(() => store.close());
  const told: string[] = [];
  const events: string[] = [];
  const lines: object[] = [];
  const round = createLeftKinds({
    ...store,
    kinds: ['slack'],
    deadLetters: store.dead,
    onDead: async (_destination: Destination, alerts: readonly Alert[], why: string) =>
      void told.push(...alerts.map(({ itemId }) => `${itemId}: ${why}`)),
    onAttempt: ({ alerts, outcome, reason }) => void events.push(`${alerts.length} ${outcome} ${reason}`),
    log: { warn: (line: object) => void lines.push(line) } as Parameters<typeof createLeftKinds>[0]['log'],
    now,
  });
  /** Rounds every half hour, until `hours` after the start. */
  const roundsUntil = async (hours: number): Promise<void> => {
    for (; time.now <= begun + hours * HOUR; time.now += HOUR / 2) await round();
  };
  const queue = async (...numbers: number[]): Promise<void> => {
    const parcel = { destination: SLACK, alerts: numbers.map((n) => makeAlert(n)) };
    await store.ledger.recordWaiting([parcel]);
    await store.queues.enqueue([parcel]);
  };
  return { store, time, told, events, lines, round, roundsUntil, queue };
};

test('after a day its deliveries are dead, and its jobs are gone', async () => {
  const { store, told, events, lines, roundsUntil, queue } = setUp();
  await queue(1, 2);
  await store.ledger.recordWaiting([{ destination: SLACK, alerts: [makeAlert(3)] }]);
  const [number = 0] = await store.batches.add(SLACK, [makeAlert(3)]);
  await store.queues.enqueueBatch(SLACK, number, [makeAlert(3)]);
  await store.queues.sendCanary('slack');
  await roundsUntil(23);
  expect(await store.queues.waitingFor('slack')).toBe(2);
  await roundsUntil(25);
  expect(await store.queues.waitingFor('slack')).toBe(0);
  expect((await store.dead.list()).map(({ alert, reason }) => `${alert.itemId} ${reason}`).toSorted()).toEqual(
    [1, 2, 3].map((n) => `item-${n} unconfigured`),
  );
  expect(await store.ledger.waitingByDestination()).toEqual({});
  expect(await store.ledger.oldestOpen(makeAlert(1))).toBeUndefined();
  expect(told).toHaveLength(3);
  expect(told[0]).toMatch(/: the config does not set up slack any more, and nobody sent it within a day$/);
  expect(events.toSorted()).toEqual(['1 dead unconfigured', '2 dead unconfigured']);
  expect(lines).toEqual([{ kind: 'slack', dead: 3 }]);
});

test('what ended meanwhile stays as it is', async () => {
  const { store, roundsUntil, queue } = setUp();
  await queue(1);
  const attempt = { at: new Date().toISOString(), outcome: 'delivered', durationMs: 1 } as const;
  await store.ledger.recordAttempt(SLACK, [makeAlert(1)], { state: 'delivered', attempt });
  await roundsUntil(25);
  expect(await store.queues.waitingFor('slack')).toBe(0);
  expect(await store.dead.count()).toBe(0);
});

test('is left alone while a daemon works on it, and for an hour after that', async () => {
  const { store, time, round, queue } = setUp();
  await queue(1);
  const taken = Promise.withResolvers<void>();
  const worker = store.queues.work(
    'slack',
    createPlaces(1),
    async (data) => {
      taken.resolve();
      return { done: false, runAt: Date.now() + HOUR, data };
    },
    () => {},
  );
  await taken.promise;
  await until('it is known as a worker', async () => (await store.queues.workers('slack')) === 1);
  time.now += 30 * HOUR;
  await round();
  await worker.stop(0);
  await until('it is gone', async () => (await store.queues.workers('slack')) === 0);
  await round();
  expect(await store.dead.count()).toBe(0);
  time.now += HOUR;
  await round();
  expect(await store.dead.count()).toBe(1);
});
