/** Who hears of what, where only the people of protocols can: each of their own protocol. */
import { expect, test } from 'vitest';
import type { Destination } from '../../../src/alert.ts';
import { type Beginning, createAnnouncer, type Group } from '../../../src/features/conditions/announcer.ts';
import { createAnnouncedStore } from '../../../src/features/conditions/store.ts';
import { createLocks } from '../../../src/redis/lock.ts';
import { createLines } from '../../ops/lines.ts';
import { destinationOf } from '../../support/alerts.ts';
import { openTestRedis } from '../../support/redis.ts';

const AT = '2026-11-20T12:00:00.000Z';
const [ANN, BOB, OPS] = ['ann', 'bob', 'ops'].map((name) => destinationOf('email', `${name}@example.com`)) as [
  Destination,
  Destination,
  Destination,
];
const PEOPLE: Record<string, Destination[]> = { Vault: [ANN], Bridge: [BOB, ANN] };

const play = async (members: string[], operators: Destination[] = []) => {
  const { redis, prefix } = openTestRedis();
  const sent: string[] = [];
  const announcer = createAnnouncer({
    store: createAnnouncedStore(redis, prefix),
    locks: createLocks(redis, prefix),
    announce: async ({ message }, _at, to) => {
      sent.push(`${message} > ${to.map(({ label }) => label.split('@')[0]).join(' ')}`);
      return 'id';
    },
    ...{ operators, fallback: [], log: createLines().log, now: () => Date.parse(AT) },
  });
  const group: Group = {
    name: 'unread:main',
    about: { begun: 'service.unread', over: 'service.read' },
    people: async ({ members: of }) => (of.length === 0 ? Object.keys(PEOPLE) : of).flatMap((one) => PEOPLE[one] ?? []),
  };
  const begun: Beginning = {
    ...{ key: 'main', since: AT, members, isOneThing: true },
    words: (some) => (some.length === 0 ? 'all' : some.join(' and ')),
    said: { text: 'unread', fields: {} },
  };
  await announcer.round(group, (announced) => ({ begun: announced.length === 0 ? [begun] : [], ended: [] }));
  await announcer.round(group, () => ({ begun: [], ended: [] }));
  return sent;
};

test('people hear of their own protocol only, operators of all of it at once', async () => {
  expect(await play(['Vault', 'Bridge'])).toEqual(['Vault > ann', 'Bridge > bob ann']);
  expect(await play(['Vault', 'Bridge'], [OPS])).toEqual(['Vault and Bridge > ops']);
  // Of the whole service nobody else is named.
  expect(await play([])).toEqual(['all > ann bob']);
});
