/** An announcement that its readers did not get is no announcement: others hear of it. */
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Destination } from '../../../src/alert.ts';
import { announcementAlert } from '../../../src/features/announcements/announce.ts';
import { type Beginning, createAnnouncer } from '../../../src/features/conditions/announcer.ts';
import { createAnnouncedStore } from '../../../src/features/conditions/store.ts';
import { createLocks } from '../../../src/redis/lock.ts';
import { destinationOf } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const AT = new Date(NOW).toISOString();
const [ONE, TWO, LAST] = ['C1', 'C2', 'C3'].map((address) => destinationOf('slack', address)) as [
  Destination,
  Destination,
  Destination,
];

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const now = () => NOW;
  const store = createAnnouncedStore(redis, prefix, now);
  const told: string[] = [];
  const announcer = createAnnouncer({
    ...{ store, locks: createLocks(redis, prefix), operators: [ONE, TWO], fallback: [LAST] },
    ...{ groups: ['watchdog'], log: pino({ level: 'silent' }), now },
    announce: async ({ key }, _at, to) => {
      told.push(...to.map(({ label }) => `${key} to ${label}`));
      return 'id';
    },
  });
  const words = () => 'The disk is full.';
  const news: Beginning = {
    ...{ key: 'disk', about: 'trouble.begun', since: AT, members: [], counted: ['disk'], words },
    said: { text: 'trouble', fields: {} },
  };
  const alert = announcementAlert({ about: 'trouble.begun', key: 'disk', message: words() }, NOW);
  const round = (begun: Beginning[] = []) => announcer.round({ name: 'watchdog' }, () => ({ begun, ended: [] }));
  const heard = async () =>
    (await store.list('watchdog')).map(({ announcedTo }) => announcedTo.map(({ label }) => label));
  return { announcer, told, news, alert, round, heard };
};

test('who did not get it has not heard of it, and where nobody did, the next ones do', async () => {
  const { announcer, told, news, alert, round, heard } = setUp();
  await round([news]);
  expect(await heard()).toEqual([['C1', 'C2']]);
  await announcer.died(ONE, [makeAlert(1), alert]);
  await round();
  expect(await heard()).toEqual([['C2']]);
  expect(told).toHaveLength(2);
  await announcer.died(TWO, [alert]);
  await round();
  expect(await heard()).toEqual([['C3']]);
  expect(told).toEqual(['disk to C1', 'disk to C2', 'disk to C3']);
});

test('where nobody is left, nobody has heard of it', async () => {
  const { announcer, told, news, alert, round, heard } = setUp();
  await round([news]);
  for (const one of [ONE, TWO]) await announcer.died(one, [alert]);
  await round();
  await announcer.died(LAST, [alert]);
  await round();
  expect(await heard()).toEqual([[]]);
  expect(told).toHaveLength(3);
});
