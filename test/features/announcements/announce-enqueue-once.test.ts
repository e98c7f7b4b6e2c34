/** Announcements over a real ledger: each once, whoever asks and however often. */
import { expect, test } from 'vitest';
import type { Parcel } from '../../../src/alert.ts';
import { createAnnounce, createEnqueueOnce } from '../../../src/features/announcements/announce.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { parcelJobId } from '../../../src/queue/job.ts';
import { destinationOf } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';

const MAIL = destinationOf('email', 'a@example.com');
const SLACK = destinationOf('slack', 'C1');

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const ledger = createLedger(redis, prefix, Date.now);
  const queued: Parcel[] = [];
  const hooks = { enqueue: async (): Promise<void> => {} };
  const enqueueOnce = createEnqueueOnce(ledger, async (parcels) => {
    await hooks.enqueue();
    queued.push(...parcels);
  });
  return { ledger, queued, hooks, enqueueOnce };
};

const parcel: Parcel = { destination: MAIL, alerts: [makeAlert(1), makeAlert(2)] };

test('the first writer owns a delivery: another who asks for the same enqueues nothing', async () => {
  const { enqueueOnce, queued } = setUp();
  expect(await enqueueOnce([parcel], 'late 1')).toEqual([parcel]);
  expect(await enqueueOnce([parcel], 'late 2')).toEqual([]);
  expect(queued).toEqual([parcel]);
});

test('a delivery that the routes have on its way already is not enqueued besides', async () => {
  const { ledger, enqueueOnce } = setUp();
  await ledger.recordWaiting([{ destination: MAIL, alerts: [makeAlert(1)] }]);
  expect(await enqueueOnce([parcel], 'late 1')).toEqual([{ destination: MAIL, alerts: [makeAlert(2)] }]);
});

test('the same writer resumes after a crash between the ledger and the queue', async () => {
  const { enqueueOnce, hooks, queued } = setUp();
  hooks.enqueue = () => Promise.reject(new Error('killed'));
  await expect(enqueueOnce([parcel], 'late 1')).rejects.toThrow('killed');
  hooks.enqueue = async () => {};
  expect(await enqueueOnce([parcel], 'late 1')).toEqual([parcel]);
  expect(queued).toEqual([parcel]);
});

test('an announcement is one alert by its key: the same one again makes the same jobs', async () => {
  const { enqueueOnce, queued } = setUp();
  const announce = createAnnounce(enqueueOnce);
  const said = { about: 'mute.ended', key: 'mute-1', message: 'A mute has ended' } as const;
  const first = await announce(said, Date.parse('2026-11-20T12:00:00Z'), [MAIL, SLACK]);
  expect(await announce(said, Date.parse('2026-11-20T13:00:00Z'), [MAIL, SLACK])).toBe(first);
  expect(await announce({ ...said, key: 'mute-2' }, 0, [MAIL])).not.toBe(first);
  const [alert] = queued[0]?.alerts ?? [];
  expect(alert).toMatchObject({
    type: 'tocsin.mute.ended',
    service: 'Tocsin',
    item: { message: 'A mute has ended', createdAt: '2026-11-20T12:00:00.000Z' },
  });
  const jobs = queued.map((one) => parcelJobId(one));
  expect(new Set(jobs)).toEqual(new Set([jobs[0], jobs[1], jobs.at(-1)]));
  expect(queued.map(({ destination }) => destination.kind)).toEqual(['email', 'slack', 'email', 'slack', 'email']);
});

test('an alert is read once, however many destinations get it', async () => {
  const { ledger, queued } = setUp();
  const read: string[] = [];
  const enqueueOnce = createEnqueueOnce(
    {
      ...ledger,
      read: (id) => {
        read.push(id);
        return ledger.read(id);
      },
    },
    async (parcels) => void queued.push(...parcels),
  );
  const alert = makeAlert(1);
  const parcels = Array.from({ length: 50 }, (_, n) => ({
    destination: destinationOf('email', `a${n}@example.com`),
    alerts: [alert],
  }));
  expect(await enqueueOnce(parcels, 'announcement')).toHaveLength(50);
  expect(queued).toEqual(parcels);
  expect(read).toEqual([alert.id]);
});
