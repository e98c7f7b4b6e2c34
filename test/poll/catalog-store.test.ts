import { expect, test } from 'vitest';
import { byName, type CatalogEntry, createCatalogStore } from '../../src/poll/catalog-store.ts';
import { openTestRedis } from '../support/redis.ts';

const entry = (name: string, changes: Partial<CatalogEntry> = {}): CatalogEntry => ({
  name,
  channels: [],
  notifyOn: [],
  missed: 0,
  ...changes,
});
const KEY = 'catalog:main';
const HOUR = 3_600_000;

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  return {
    redis,
    prefix,
    one: createCatalogStore(redis, prefix, Date.now),
    other: createCatalogStore(redis, prefix, Date.now),
  };
};

test('what one daemon keeps another reads, and the same map again while nothing changes', async () => {
  const { one, other } = setUp();
  expect(await one.load('main')).toEqual(new Map());
  const entries = byName([entry('Vault'), entry('Bridge', { missed: 1 })]);
  await one.keep('main', await one.load('main'), entries);
  const loaded = await other.load('main');
  expect(loaded).toEqual(entries);
  expect(await other.load('main')).toBe(loaded);
  expect(await other.load('second')).toEqual(new Map());
});

test('what was read a moment ago is not asked for again; what this daemon kept is known at once, what others kept soon', async () => {
  const { redis, prefix, other } = setUp();
  const clock = { now: 1_000_000 };
  const one = createCatalogStore(redis, prefix, () => clock.now);
  const names = async () => [...(await one.recent('main')).keys()];
  await one.keep('main', await one.load('main'), byName([entry('Vault')]));
  expect(await names()).toEqual(['Vault']);
  await other.keep('main', await other.load('main'), byName([entry('Bridge')]));
  expect(await names()).toEqual(['Vault']);
  clock.now += 1000;
  expect(await names()).toEqual(['Bridge']);
  await other.keep('main', await other.load('main'), byName([entry('Tower')]));
  clock.now -= HOUR;
  expect(await names()).toEqual(['Tower']);
});

test('a listing that changed nothing makes no new version', async () => {
  const { redis, prefix, one } = setUp();
  const entries = byName([entry('Vault')]);
  await one.keep('main', new Map(), entries);
  const version = await redis.hget(`${prefix}:${KEY}`, 'version');
  await one.keep('main', entries, byName([entry('Vault')]));
  expect(await redis.hget(`${prefix}:${KEY}`, 'version')).toBe(version);
  await one.keep('main', entries, byName([entry('Vault', { missed: 1 })]));
  expect(await redis.hget(`${prefix}:${KEY}`, 'version')).not.toBe(version);
});

test('what a Redis lost is put back by a daemon that knows it', async () => {
  const { redis, prefix, one, other } = setUp();
  const entries = byName([entry('Vault')]);
  await one.keep('main', new Map(), entries);
  await redis.del(`${prefix}:${KEY}`);
  expect(await one.load('main')).toEqual(entries);
  expect(await other.load('main')).toEqual(entries);
});

test('after a loss a protocol is owed since the Redis before it was last seen, unless it had just appeared', async () => {
  const { redis, prefix } = openTestRedis();
  const time = { now: 400 * HOUR };
  const store = createCatalogStore(redis, prefix, () => time.now);
  const old = entry('Vault', { owedSince: HOUR });
  const fresh = entry('Bridge', { owedSince: 400 * HOUR - 1000 });
  await store.keep('main', new Map(), byName([old, fresh, entry('Unwatched')]));
  time.now += 60_000;
  await store.load('main');
  await redis.del(`${prefix}:${KEY}`);
  time.now += 600_000;
  const lastSeen = 400 * HOUR + 60_000;
  const expected = byName([{ ...old, owedSince: lastSeen }, fresh, entry('Unwatched')]);
  expect(await store.load('main')).toEqual(expected);
  expect(await createCatalogStore(redis, prefix, () => time.now).load('main')).toEqual(expected);
});

test('the first question is remembered until a listing came', async () => {
  const { one } = setUp();
  await one.begin('main', 1000);
  await one.begin('main', 2000);
  expect(await one.listedAt('main')).toBe(1000);
  await one.setListedAt('main', 3000);
  expect(await one.listedAt('main')).toBe(3000);
});
