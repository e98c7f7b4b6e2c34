import { expect, test } from 'vitest';
import { createEndedSessions } from '../../../src/features/page/ended-sessions.ts';
import { openTestRedis } from '../../support/redis.ts';

const HOUR_MS = 3_600_000;

test('a session that was ended is so for every daemon, until it would have ended by itself, and is not kept for ever', async () => {
  const { redis, prefix } = openTestRedis();
  let now = Date.parse('2026-11-24T12:00:00Z');
  const [one, other] = [0, 1].map(() => createEndedSessions(redis, prefix, () => now));
  await one?.add('a', now + 12 * HOUR_MS);
  expect([await other?.has('a'), await other?.has('b')]).toEqual([true, false]);
  now += 11 * HOUR_MS;
  // The key lives as long as the newest of them, whatever was ended last.
  await other?.add('b', now + 12 * HOUR_MS);
  await other?.add('c', now + HOUR_MS);
  expect([await one?.has('a'), await one?.has('b')]).toEqual([true, true]);
  expect(await redis.pttl(`${prefix}:signed-out`)).toBeGreaterThan(12 * HOUR_MS);
  now += 3 * HOUR_MS;
  await one?.add('d', now + 12 * HOUR_MS);
  expect(await redis.zrange(`${prefix}:signed-out`, '0', '-1')).toEqual(['b', 'd']);
});
