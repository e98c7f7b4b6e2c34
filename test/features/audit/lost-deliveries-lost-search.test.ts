/** Lost deliveries among all that wait: found over every protocol and source, and healed with their items. */
import { expect, test } from 'vitest';
import { type Alert, type Parcel, TOCSIN } from '../../../src/alert.ts';
import { ServiceError } from '../../../src/errors.ts';
import { announcementAlert } from '../../../src/features/announcements/announce.ts';
import { createListedLately, createLostSearch } from '../../../src/features/audit/lost-deliveries.ts';
import { createDeadLetters } from '../../../src/ledger/dead-letters.ts';
import { createAlertIndex } from '../../../src/ledger/index-by-date.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import type { JobScan } from '../../../src/queue/scan.ts';
import { createLocks } from '../../../src/redis/lock.ts';
import type { Feed } from '../../../src/service/feed.ts';
import type { Lookup } from '../../../src/service/lookup.ts';
import { destinationOf, notificationAlert } from '../../support/alerts.ts';
import { makeItem } from '../../support/items.ts';
import { makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';

const T0 = Date.parse('2026-11-20T12:00:00Z');
const SLACK = destinationOf('slack', 'C1');

interface Options {
  lookUp?: Lookup;
  notifications?: Feed['notifications'];
  /** Alerts that have a job. */
  queued?: readonly Alert[];
}

const none: Feed['notifications'] = async function* () {};

const setUp = ({ lookUp = async () => new Map(), notifications = none, queued = [] }: Options = {}) => {
  const { redis, prefix } = openTestRedis();
  const time = { now: T0 };
  const now = () => time.now;
  const ledger = createLedger(redis, prefix, now);
  const locks = createLocks(redis, prefix);
  const dead = createDeadLetters(redis, prefix);
  const listed = [makeAlert(1).protocol];
  const enqueued: Parcel[] = [];
  const ids = new Set(queued.map(({ id }) => id));
  const withoutJob: JobScan['withoutJob'] = async (_kind, all) => all.filter(({ alert }) => !ids.has(alert));
  const search = createLostSearch({
    settings: { assessments: ['critical'], sources: ['inspections'], lookback: 900_000, overlap: 0, lostAfter: 60_000 },
    ledger,
    alertIndex: createAlertIndex(redis, prefix, now),
    dead,
    locks,
    jobScan: { withoutJob },
    serviceOf: () => ({
      ...{ lookUp, feed: { notifications, inspections: async function* () {} }, clock: { now } },
      client: { inspectionStats: async () => ({}) as never },
    }),
    protocolsOf: async () => listed,
    listedLately: createListedLately(redis, prefix, now),
    destinationsOf: async ({ protocol }) => (protocol === TOCSIN || listed.includes(protocol) ? [SLACK] : []),
    enqueue: async (parcels) => void enqueued.push(...parcels),
    now,
  });
  const wait = async (...alerts: Alert[]) => {
    await ledger.recordWaiting([{ destination: SLACK, alerts }]);
    time.now += 61_000;
  };
  const run = async (isHealing = true, more: Parameters<typeof search>[1] = []) =>
    (await search('main', more, { isHealing }, new AbortController().signal)).map(({ delivery, healed }) => ({
      item: delivery.record.itemId,
      healed,
    }));
  return { ledger, locks, dead, listed, enqueued, wait, run, search };
};

test('nothing waits: nothing is lost', async () => {
  expect(await setUp().run()).toEqual([]);
});

test('what has no job is found, and queued again with its item as it is now', async () => {
  const raw = { _id: 'item-1', changed: true };
  const lookUp: Lookup = async (_protocol, [wanted]) =>
    new Map([[wanted?.itemId ?? '', { kind: 'found', item: makeItem(1, { raw }) } as const]]);
  const { enqueued, wait, run } = setUp({ lookUp, queued: [makeAlert(2)] });
  await wait(makeAlert(1), makeAlert(2));
  expect(await run()).toEqual([{ item: 'item-1', healed: true }]);
  expect(enqueued).toMatchObject([{ destination: SLACK, alerts: [{ id: makeAlert(1).id, item: raw, replay: false }] }]);
});

test('an item that the service does not find goes out as far as the ledger knows it', async () => {
  const { enqueued, wait, run } = setUp();
  await wait(makeAlert(1));
  expect(await run()).toEqual([{ item: 'item-1', healed: true }]);
  expect(enqueued[0]?.alerts[0]?.item).toEqual({ _id: 'item-1', txHash: makeAlert(1).txHash });
});

test('a notification is searched by its date, and no further than the lookback after it', async () => {
  const alert = notificationAlert('The weekly report is ready.');
  const at = Date.parse(alert.at);
  const asked: { since: number; pages: number } = { since: 0, pages: 0 };
  const { enqueued, wait, run } = setUp({
    notifications: async function* (_protocols, since) {
      asked.since = since;
      for (const settledBefore of [at, at + 900_001, at + 2_000_000]) {
        asked.pages += 1;
        yield { items: [makeItem(9)], malformed: [], size: 1, short: false, settledBefore };
      }
    },
  });
  await wait(alert);
  expect(await run()).toEqual([{ item: alert.itemId, healed: true }]);
  expect(asked).toEqual({ since: at - 900_000, pages: 2 });
  expect(enqueued[0]?.alerts[0]?.id).toBe(alert.id);
});

test('without an answer of the service nothing is healed, and it is found again', async () => {
  const lookUp: Lookup = async () => {
    throw new ServiceError('unreachable', 'down');
  };
  const { enqueued, wait, run } = setUp({ lookUp });
  await wait(makeAlert(1));
  expect(await run()).toEqual([{ item: 'item-1', healed: false }]);
  expect(enqueued).toEqual([]);
});

test("another error than the service's is thrown", async () => {
  const lookUp: Lookup = async () => {
    throw new Error('a bug');
  };
  const { wait, run } = setUp({ lookUp });
  await wait(makeAlert(1));
  await expect(run()).rejects.toThrow('a bug');
});

test('is named but left alone where nothing is to be healed, or another daemon heals', async () => {
  const { locks, enqueued, wait, run } = setUp();
  await wait(makeAlert(1));
  expect(await run(false)).toEqual([{ item: 'item-1', healed: false }]);
  const other = await locks.take(['audit:main']);
  expect(await run()).toEqual([{ item: 'item-1', healed: false }]);
  expect(enqueued).toEqual([]);
  await other?.release();
  expect(await run()).toEqual([{ item: 'item-1', healed: true }]);
});

test('of a protocol that is not listed any more: searched for weeks, and dead where nothing leads to its destination', async () => {
  const { ledger, dead, listed, wait, run, search } = setUp({
    lookUp: async () => {
      throw new ServiceError('rejected', 'no such protocol');
    },
  });
  await wait(makeAlert(1));
  await ledger.recordWaiting([{ destination: SLACK, alerts: [makeAlert(2)] }]);
  // An audit sees it while it is listed.
  await search('main', [], { isHealing: false }, new AbortController().signal);
  listed.splice(0);
  expect(await run()).toEqual([{ item: 'item-1', healed: true }]);
  expect((await ledger.read(makeAlert(1).id))?.deliveries[0]?.state).toBe('dead');
  expect(await dead.list()).toMatchObject([{ reason: 'lost', alert: { item: { _id: 'item-1' } } }]);
});

test('of an announcement, with its text', async () => {
  const { enqueued, wait, run } = setUp();
  const announcement = announcementAlert({ about: 'mute.ended', key: 'm1', message: 'The mute is over.' }, T0);
  await wait(announcement);
  expect(await run()).toEqual([{ item: announcement.itemId, healed: true }]);
  const { item } = announcement;
  expect(enqueued).toMatchObject([
    { destination: SLACK, alerts: [{ id: announcement.id, type: 'tocsin.mute.ended', item }] },
  ]);
});
