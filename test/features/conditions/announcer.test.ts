/** An announcement that its readers did not get is no announcement: others hear of it. */
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Destination } from '../../../src/alert.ts';
import { type AnnouncementInput, announcementAlert } from '../../../src/features/announcements/announce.ts';
import {
  type Beginning,
  createAnnouncer,
  type Ending,
  type Group,
} from '../../../src/features/conditions/announcer.ts';
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
  const sent: AnnouncementInput[] = [];
  const announcer = createAnnouncer({
    ...{ store, locks: createLocks(redis, prefix), operators: [ONE, TWO], fallback: [LAST] },
    ...{ groups: ['watchdog'], log: pino({ level: 'silent' }), now },
    announce: async (news, _at, to) => {
      sent.push(news);
      told.push(...to.map(({ label }) => `${news.message} to ${label}`));
      return 'id';
    },
  });
  const news: Beginning = {
    ...{ key: 'main now', since: AT, members: ['disk'] },
    ...{ words: (members) => `Full: ${members}.`, said: { text: 'trouble', fields: {} } },
  };
  const group: Group = { name: 'watchdog', about: { begun: 'trouble.begun', over: 'trouble.over' } };
  /** What is kept as announced does not begin again. */
  const round = (begun: Beginning[] = [], ended: Ending[] = []) =>
    announcer.round(group, (announced) => {
      const known = announced.flatMap(({ members }) => members);
      return { begun: begun.filter(({ members }) => !members.every((one) => known.includes(one))), ended };
    });
  /** What the readers were sent. */
  const alert = () => announcementAlert(sent[0] as AnnouncementInput, NOW);
  const heard = async () =>
    (await store.list('watchdog')).map(({ announcedTo }) => announcedTo.map(({ label }) => label));
  const end = async (...members: string[]) => {
    const [announced] = await store.list('watchdog');
    const of = announced === undefined ? [] : [{ announced, members }];
    await round([], [{ of, words: () => 'Over.', said: { text: 'over', fields: {} } }]);
  };
  return { redis, prefix, announcer, told, sent, news, alert, round, heard, end, store, group };
};

test('who did not get it has not heard of it, and where nobody did, the next ones do', async () => {
  const { announcer, told, news, alert, round, heard } = setUp();
  await round([news]);
  expect(await heard()).toEqual([['C1', 'C2']]);
  await announcer.died(ONE, [makeAlert(1), alert()]);
  await round();
  expect(await heard()).toEqual([['C2']]);
  expect(told).toHaveLength(2);
  await announcer.died(TWO, [alert()]);
  await round();
  expect(await heard()).toEqual([['C3']]);
  expect(told).toEqual(['Full: disk. to C1', 'Full: disk. to C2', 'Full: disk. to C3']);
});

test('where nobody is left, nobody has heard of it', async () => {
  const { announcer, told, news, alert, round, heard } = setUp();
  await round([news]);
  for (const one of [ONE, TWO]) await announcer.died(one, [alert()]);
  await round();
  await announcer.died(LAST, [alert()]);
  await round();
  expect(await heard()).toEqual([[]]);
  expect(told).toHaveLength(3);
});

test('an end is about what its beginning was about: it has the same key, and the end of a part one that begins so', async () => {
  const { sent, news, round, end } = setUp();
  await round([{ ...news, members: ['disk', 'clock'] }]);
  await end('clock');
  await end('disk');
  const keys = sent.map(({ key }) => key);
  expect(keys[0]).toMatch(/^main now \w+$/);
  expect(keys[1]).toMatch(new RegExp(`^${keys[0]} \\w+$`));
  expect(keys[2]).toBe(keys[0]);
  expect(sent.map(({ about }) => about)).toEqual(['trouble.begun', 'trouble.over', 'trouble.over']);
});

test('what was noted anew meanwhile does not end with what was before it', async () => {
  const { announcer, news, round, heard, store, group } = setUp();
  await round([news]);
  const [before] = await store.list('watchdog');
  if (before === undefined) throw new Error('nothing is kept');
  await store.change('watchdog', before.key, () => ({ ...before, key: 'another', id: before.key }));
  const over = { of: [{ announced: before, members: before.members }], words: () => 'Over.' };
  await announcer.end(group, { ...over, said: { text: 'over', fields: {} } });
  expect(await heard()).toEqual([['C1', 'C2']]);
});

test('what began too often stays unsaid for the rest of the hour, and where it stays wrong it is told then', async () => {
  const { told, news, round, end, redis, prefix } = setUp();
  for (let time = 0; time < 3; time += 1) {
    await round([{ ...news, key: `main ${time}` }]);
    await end('disk');
  }
  expect(told.filter((one) => one.startsWith('Full: disk.') && one.endsWith('to C1'))).toHaveLength(3);
  expect(told.filter((one) => one.includes('It comes and goes')).length).toBeGreaterThan(0);
  told.length = 0;
  await round([{ ...news, key: 'main 4' }]);
  await round([{ ...news, key: 'main 5' }]);
  expect(told).toEqual([]);
  // The hour is over.
  await redis.del(...(await redis.keys(`${prefix}:breaks:*`)));
  await round([{ ...news, key: 'main 6' }]);
  expect(told).toEqual(['Full: disk. to C1', 'Full: disk. to C2']);
});

test('what began long ago is told once, too: it is kept from when it was told', async () => {
  const { told, news, round, heard } = setUp();
  const old = { ...news, since: new Date(NOW - 40 * 86_400_000).toISOString() };
  await round([old]);
  expect(await heard()).toEqual([['C1', 'C2']]);
  await round([{ ...old, key: 'main later' }]);
  expect(told).toHaveLength(2);
});
