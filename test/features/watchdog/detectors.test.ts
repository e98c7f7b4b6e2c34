/** What is looked for now and then: the disk, the clocks, and what Redis would lose. */
import { expect, test } from 'vitest';
import { createDetectors } from '../../../src/features/watchdog/detectors.ts';
import { createConditions } from '../../../src/ops/conditions.ts';
import { lookAtRedis } from '../../../src/redis/check.ts';
import { createLines } from '../../ops/lines.ts';
import { openTestRedis } from '../../support/redis.ts';

const WELL = { free: 50e9, size: 100e9 };

const setUp = () => {
  const state = {
    elapsed: 0,
    space: WELL as typeof WELL | Error,
    redis: { findings: [] } as Awaited<ReturnType<typeof lookAtRedis>>,
    aheadMs: 0,
  };
  const conditions = createConditions({ now: () => 0 });
  const { lines, log } = createLines();
  const look = createDetectors({
    conditions,
    lookAtRedis: async () => state.redis,
    config: { dataDir: './data', services: [{ name: 'main' }] },
    spaceOf: async () => {
      if (state.space instanceof Error) throw state.space;
      return state.space;
    },
    serviceAheadMs: () => state.aheadMs,
    log,
    everyMs: 60_000,
    monotonic: () => state.elapsed,
  });
  const found = async (): Promise<string[]> => {
    await look();
    state.elapsed += 60_000;
    return conditions.current().map(({ name, of }) => `${name} ${of}`.trim());
  };
  return { state, conditions, lines, look, found };
};

test('each is found when it breaks, and over when it is mended', async () => {
  const { state, found } = setUp();
  expect(await found()).toEqual([]);
  state.space = { free: 50e6, size: 100e9 };
  expect(await found()).toEqual(['disk']);
  state.space = WELL;
  state.redis = { findings: [], aheadMs: -45_000 };
  expect(await found()).toEqual(['clock']);
  state.redis = {
    findings: [{ name: 'append-only', message: 'appendonly is off: much is lost. Set it.' }],
    aheadMs: 0,
  };
  expect(await found()).toEqual(['durability append-only']);
  state.redis = { findings: [] };
  state.aheadMs = 31_000;
  expect(await found()).toEqual(['clock']);
  state.aheadMs = 0;
  expect(await found()).toEqual([]);
});

test('a Redis that does not answer says nothing new, and a disk that cannot be seen is in the log', async () => {
  const { state, conditions, found, lines } = setUp();
  state.redis = { findings: [{ name: 'eviction', message: 'maxmemory-policy is allkeys-lru: jobs go. Set it.' }] };
  await found();
  state.redis = undefined;
  state.space = new Error('ENOENT');
  expect(await found()).toEqual(['durability eviction']);
  expect(conditions.current()[0]).toMatchObject({ what: 'maxmemory-policy is allkeys-lru', why: 'jobs go. Set it' });
  expect(lines).toHaveLength(1);
});

test('disk and Redis are looked at once a minute, the clocks of the services at every round', async () => {
  const { state, conditions, look } = setUp();
  await look();
  Object.assign(state, { elapsed: 59_999, space: { free: 0, size: 1e9 }, aheadMs: 40_000 });
  await look();
  expect(conditions.current().map(({ name }) => name)).toEqual(['clock']);
  state.elapsed += 1;
  await look();
  expect(conditions.current().map(({ name }) => name)).toEqual(['clock', 'disk']);
});

test('a real Redis names its settings and its time in INFO, which our user may ask for', async () => {
  const { redis } = openTestRedis();
  const seen = await lookAtRedis(redis, Date.now);
  expect(seen?.findings).toMatchObject([{ name: 'append-only' }]);
  expect(Math.abs(seen?.aheadMs ?? Number.NaN)).toBeLessThan(10_000);
  const skewed = await lookAtRedis(redis, () => Date.now() - 3_600_000);
  expect(Math.round((skewed?.aheadMs ?? 0) / 60_000)).toBe(60);
});
