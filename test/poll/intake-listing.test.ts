import { expect, test } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { createListing, isHeld } from '../../src/poll/intake.ts';

const CHANGE = { added: ['Vault'], removed: [], missing: [] };
const HELD = new ServiceError('held', 'not asked');
const DOWN = new ServiceError('unreachable', 'no answer');

const setUp = ({
  error,
  unfinished,
  isUncompared,
  admitted = true,
}: {
  error?: unknown;
  unfinished?: ServiceError;
  isUncompared?: true;
  admitted?: boolean;
} = {}) => {
  const heard: unknown[] = [];
  const world = { error, unfinished, admitted, silentSince: Infinity, now: 0 };
  const ask = async () => {
    heard.push('asked');
    if (world.error !== undefined) throw world.error;
    const change = isUncompared ? { ...CHANGE, isUncompared } : CHANGE;
    return world.unfinished === undefined ? change : { ...change, unfinished: world.unfinished };
  };
  const listing = createListing({
    catalog: { refresh: ask, refreshAssets: async () => void (await ask()) },
    admission: {
      admit: async () => (world.admitted ? { admitted: true } : { admitted: false }),
      silentSince: () => world.silentSince,
      answered: (service, subject) => heard.push(`${service} ${subject} answered`),
      failed: async (service, subject) => {
        heard.push(`${service} ${subject} failed`);
        return undefined;
      },
    },
    onListed: (service, change) => heard.push([service, change]),
    onListUnfinished: (service, change, problem) => heard.push([service, change, problem]),
    onListMalformed: async (service, malformed) => {
      if (malformed.length > 0) heard.push([service, malformed]);
    },
    onListFailed: (service, problem) => heard.push([service, problem]),
    onAssetsListed: (service) => heard.push(`${service} has assets`),
    onAssetsFailed: (service, problem) => heard.push([service, problem]),
    monotonic: () => world.now,
  });
  const { signal } = new AbortController();
  return {
    world,
    heard,
    isOwed: () => listing.isOwed('main'),
    list: () => listing.list('main', signal),
    listAssets: listing.listAssets,
  };
};

test('a listing that came is reported with what it changed', async () => {
  const { heard, list } = setUp();
  expect(await list()).toBe(true);
  expect(heard).toEqual(['asked', 'main listing answered', ['main', CHANGE]]);
});

test('nothing is asked while the service is not to be asked', async () => {
  const { heard, list } = setUp({ admitted: false });
  expect(await list()).toBe(false);
  expect(heard).toEqual([]);
});

test('a failure counts against the service and is reported; a wait that the service named is no news', async () => {
  const down = setUp({ error: DOWN });
  expect(await down.list()).toBe(false);
  expect(down.heard).toEqual(['asked', 'main listing failed', ['main', DOWN]]);
  const held = setUp({ error: HELD });
  expect(await held.list()).toBe(false);
  expect(held.heard).toEqual(['asked', 'main listing failed']);
});

test('a listing in part is kept, and counts against the service', async () => {
  const part = setUp({ unfinished: DOWN });
  expect(await part.list()).toBe(true);
  expect(part.heard).toEqual(['asked', 'main listing failed', ['main', { ...CHANGE, unfinished: DOWN }, DOWN]]);
});

test('assets count neither for nor against the service', async () => {
  const { signal } = new AbortController();
  const fine = setUp();
  await fine.listAssets('main', signal);
  expect(fine.heard).toEqual(['asked', 'main has assets']);
  const down = setUp({ error: DOWN });
  await down.listAssets('main', signal);
  expect(down.heard).toEqual(['asked', ['main', DOWN]]);
  const held = setUp({ error: HELD });
  await held.listAssets('main', signal);
  const stopped = setUp({ error: DOWN });
  await stopped.listAssets('main', AbortSignal.abort());
  expect([held.heard, stopped.heard]).toEqual([['asked'], ['asked']]);
});

test('only a wait that the service named counts as held', () => {
  expect([HELD, DOWN, new Error('held')].map(isHeld)).toEqual([true, false, false]);
});

test('what failed, came in part or had to wait is asked for again as soon as the service answers', async () => {
  for (const trouble of [{ error: DOWN }, { unfinished: DOWN }, { error: HELD }, { admitted: false }]) {
    const { world, list, isOwed } = setUp(trouble);
    world.silentSince = 0;
    expect(isOwed()).toBe(false);
    await list();
    world.now += 60_000;
    expect(isOwed()).toBe(false);
    world.silentSince = Infinity;
    expect(isOwed()).toBe(true);
    Object.assign(world, { error: undefined, unfinished: undefined, admitted: true });
    await list();
    world.now += 60_000;
    expect(isOwed()).toBe(false);
  }
});

test('what fails by itself is asked for ever less often, and a bound of ours not before its turn', async () => {
  const { world, list, isOwed } = setUp({ error: DOWN });
  const waits: number[] = [];
  for (let times = 0; times < 12; times += 1) {
    await list();
    const failedAt = world.now;
    while (!isOwed()) world.now += 1000;
    waits.push((world.now - failedAt) / 1000);
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
  const bound = setUp({ unfinished: new ServiceError('unreadable', 'too many', { bound: 'protocols' }) });
  await bound.list();
  bound.world.now += 3_600_000;
  expect(bound.isOwed()).toBe(false);
});

test('where nothing could be compared, it is listed again soon', async () => {
  const { world, list, isOwed } = setUp({ isUncompared: true });
  await list();
  world.now += 1000;
  expect(isOwed()).toBe(true);
});
