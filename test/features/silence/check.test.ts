/** The check with a real Redis and a service of plain functions: who is asked, what is learned, and what is told once. */
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { LIMITS } from '../../../src/app/context.ts';
import { ServiceError } from '../../../src/errors.ts';
import { createAnnouncer } from '../../../src/features/conditions/announcer.ts';
import { type Announced, createAnnouncedStore, GROUPS } from '../../../src/features/conditions/store.ts';
import { createSilenceCheck } from '../../../src/features/silence/check.ts';
import { createHabitStore } from '../../../src/features/silence/probe.ts';
import type { ItemPage } from '../../../src/item.ts';
import { createLocks } from '../../../src/redis/lock.ts';
import { DAY_MS } from '../../../src/time.ts';
import { destinationOf } from '../../support/alerts.ts';
import { openTestRedis } from '../../support/redis.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.parse('2026-11-20T00:00:00.000Z');
const ONCALL = destinationOf('email', 'oncall@example.com');
const PAGE = 100;

const inspectionOf = (protocol: string, at: number): ItemPage['items'][number] => ({
  source: 'inspections',
  protocol,
  itemId: `${protocol}-${at}`,
  assessment: 'ok',
  dates: { createdAt: at },
  raw: {},
});

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const told: { about: string; key: string; first: string; to: string[] }[] = [];
  const asked: string[] = [];
  const world = {
    now: START,
    dates: new Map<string, number[]>(),
    expected: new Map<string, number>(),
    fails: undefined as ServiceError | undefined,
    malformed: false,
    countFails: false,
    /** The service filters by a date that is so much earlier than the one it was written at. */
    filtersEarlier: 0,
  };
  const store = createAnnouncedStore(redis, prefix, () => world.now);
  const habits = createHabitStore(redis, prefix);
  const datesAfter = (protocol: string, since: number): number[] =>
    (world.dates.get(protocol) ?? []).filter((date) => date - world.filtersEarlier > since && date <= world.now);

  async function* pages(_service: string, protocol: string, since: number): AsyncGenerator<ItemPage> {
    const dates = datesAfter(protocol, since);
    for (let at = 0; at === 0 || at < dates.length; at += PAGE) {
      asked.push(protocol);
      if (world.fails) throw world.fails;
      const items = dates.slice(at, at + PAGE).map((date) => inspectionOf(protocol, date));
      yield { items, malformed: world.malformed ? [{ problem: 'not an object', raw: 1 }] : [] };
    }
  }

  const log = pino({ level: 'silent' });
  const now = () => world.now;
  const open = () => {
    const expectEvery = (protocol: string) => world.expected.get(protocol);
    const check = createSilenceCheck({
      pages,
      count: async (_service, protocol, since) => {
        if (world.countFails) throw new ServiceError('failed', 'HTTP 500');
        return datesAfter(protocol, since).length;
      },
      clock: () => world.now,
      habits,
      store,
      announcer: createAnnouncer({
        ...{ store, locks: createLocks(redis, prefix), operators: [], fallback: [ONCALL], log, now },
        announce: async ({ about, key, message }, _at, to) => {
          told.push({ about, key, first: message.split('\n')[0] ?? '', to: to.map(({ address }) => address) });
          return key;
        },
      }),
      destinationsOf: async () => [],
      ...{ requestsPerSecond: 4, leastMs: LIMITS.silenceProbeMs, expectEvery, monotonic: () => world.now },
      protocolsOf: async () => [...world.dates.keys()],
      ...{ log, now },
    });
    return () => check.round('main', new AbortController().signal);
  };
  /** Rounds of this length, for so long. */
  const pass = async (ms: number, ...rounds: (() => Promise<void>)[]): Promise<void> => {
    for (const end = world.now + ms; world.now < end; world.now += MINUTE) for (const round of rounds) await round();
  };
  return { world, told, asked, open, pass, store, habits };
};

const announced = (changes: Partial<Announced>): Announced => ({
  ...{ key: 'k', about: 'protocol.silent', text: '', said: { text: '', fields: {} } },
  since: new Date(START).toISOString(),
  ...{ members: [], announcedTo: [], isAnnounced: true },
  ...changes,
});

const every = (ms: number, from: number, to: number): number[] =>
  Array.from({ length: Math.floor((to - from) / ms) }, (_, n) => from + (n + 1) * ms);

test('a habit is learned from history with few requests; its silence is told once over two daemons, and so is its end', async () => {
  const { world, told, asked, open, pass } = setUp();
  world.dates.set('Vault', every(HOUR, START - 20 * DAY_MS, START));
  world.dates.set('Bridge', every(HOUR, START - 20 * DAY_MS, START + 9 * DAY_MS));
  const rounds = [open(), open()];
  await pass(HOUR, ...rounds);
  // The history of two weeks takes four pages, for the first of both to ask.
  expect(asked.filter((name) => name === 'Vault').length).toBeLessThan(20);
  expect(told).toEqual([]);
  await pass(3 * HOUR, ...rounds);
  expect(told).toEqual([
    {
      about: 'protocol.silent',
      key: expect.any(String),
      first: 'Protocol “Vault” has not been inspected for 2 h; usually it is every 60 min.',
      to: ['oncall@example.com'],
    },
  ]);
  world.dates.get('Vault')?.push(world.now);
  await pass(HOUR, ...rounds);
  expect(told.map(({ about }) => about)).toEqual(['protocol.silent', 'protocol.heard']);
});

test('a busy protocol is learned as it goes, and what cannot be answered or understood is no silence', async () => {
  const { world, told, asked, open, pass, habits } = setUp();
  world.dates.set('Vault', every(2 * MINUTE, START - 20 * DAY_MS, START + HOUR));
  const round = open();
  await pass(2 * HOUR, round);
  expect((await habits.read('main', ['Vault']))[0]?.habit.from).toBeGreaterThan(START - 2 * HOUR);
  expect(asked.length).toBeLessThan(18);
  await pass(10 * HOUR, round);
  expect(told).toEqual([]);
  world.expected.set('Vault', 4 * HOUR);
  world.malformed = true;
  await pass(2 * HOUR, round);
  world.malformed = false;
  world.fails = new ServiceError('unreachable', 'no answer');
  await pass(2 * HOUR, round);
  expect(told).toEqual([]);
  world.fails = undefined;
  await pass(2 * HOUR, round);
  expect(told).toHaveLength(1);
});

test('where the service does not answer, one request shows it; several silences of a round are one message', async () => {
  const { world, told, asked, open, pass } = setUp();
  for (let n = 0; n < 12; n += 1) {
    world.dates.set(`p${n}`, []);
    world.expected.set(`p${n}`, HOUR);
  }
  const round = open();
  await round();
  world.now += HOUR;
  world.fails = new ServiceError('unreachable', 'no answer');
  await round();
  expect(asked.length).toBeLessThanOrEqual(4);
  world.fails = undefined;
  await pass(HOUR, round);
  expect(told[0]?.first).toMatch(/^\d+ protocols have not been inspected for long\./);
  expect(told.length).toBeLessThan(6);
});

test('a service that is unread is announced as that; a protocol that is gone is not silent any more', async () => {
  const { world, told, open, pass, store } = setUp();
  world.dates.set('Vault', [START - HOUR]);
  world.dates.set('Bridge', every(MINUTE, START, START + DAY_MS));
  world.expected.set('Vault', 2 * HOUR);
  const round = open();
  const blind = announced({ about: 'service.unread', members: [] });
  await store.change(GROUPS.unread('main'), 'k', () => blind);
  await pass(3 * HOUR, round);
  expect(told).toEqual([]);
  await store.change(GROUPS.unread('main'), 'k', () => undefined);
  await pass(HOUR, round);
  expect(told.map(({ about }) => about)).toEqual(['protocol.silent']);
  world.dates.delete('Vault');
  await pass(HOUR, round);
  expect(told[1]).toMatchObject({
    about: 'protocol.heard',
    first: expect.stringContaining('Protocol “Vault” is not watched any more'),
  });
  expect(await store.list(GROUPS.silent('main'))).toEqual([]);
});

test('one that was announced and not told to its end is told by the next', async () => {
  const { world, told, open, pass, store } = setUp();
  world.dates.set('Vault', []);
  world.countFails = true;
  const cut = announced({ members: ['Vault'], text: 'Nothing.', announcedTo: [ONCALL], isAnnounced: false });
  await store.change(GROUPS.silent('main'), 'k', () => cut);
  await pass(HOUR, open());
  expect(told).toEqual([{ about: 'protocol.silent', key: 'k', first: 'Nothing.', to: ['oncall@example.com'] }]);
});

test('what the service hides behind an earlier date is found before anything is told', async () => {
  const { world, told, open, pass } = setUp();
  world.filtersEarlier = 30 * MINUTE;
  world.dates.set('Vault', [START, START + 20 * MINUTE, START + 155 * MINUTE]);
  world.expected.set('Vault', 2 * HOUR + 30 * MINUTE);
  const round = open();
  await pass(5 * HOUR, round);
  expect(told).toEqual([]);
  await pass(HOUR, round);
  expect(told.map(({ about }) => about)).toEqual(['protocol.silent']);
});

test('a protocol that the service lists now and then is not announced again and again', async () => {
  const { world, told, open, pass, store } = setUp();
  world.expected.set('Vault', 5 * MINUTE);
  const round = open();
  for (let n = 0; n < 10; n += 1) {
    world.dates.set('Vault', [START]);
    await pass(20 * MINUTE, round);
    world.dates.delete('Vault');
    world.dates.set('Other', []);
    await pass(20 * MINUTE, round);
  }
  expect(told.map(({ about }) => about)).toEqual(Array(3).fill(['protocol.silent', 'protocol.heard']).flat());
  expect(await store.list(GROUPS.silent('main'))).toEqual([]);
});
