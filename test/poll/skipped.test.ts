import { expect, test } from 'vitest';
import type { Track } from '../../src/poll/cursor.ts';
import { createSkipped, replayOf } from '../../src/poll/skipped.ts';
import { T0 } from '../support/items.ts';
import { openTestRedis } from '../support/redis.ts';

const TRACK: Track = { service: 'main', source: 'inspections', protocol: "Bob's Vault" };

test('what was skipped is known for a day, once for each track', async () => {
  const { redis, prefix } = openTestRedis();
  const time = { now: T0 };
  const skipped = createSkipped(redis, prefix, () => time.now);
  await skipped.note(TRACK, T0 - 9000, T0 - 5000);
  await skipped.note(TRACK, T0 - 5000, T0);
  time.now += 80_000_000;
  await skipped.note({ ...TRACK, protocol: 'Bridge' }, T0, T0 + 1000);
  expect((await skipped.list()).toSorted((a, b) => a.from - b.from)).toMatchObject([
    { ...TRACK, from: T0 - 5000, to: T0 },
    { protocol: 'Bridge' },
  ]);
  time.now += 10_000_000;
  expect((await skipped.list()).map(({ protocol }) => protocol)).toEqual(['Bridge']);
  expect(await redis.hlen(`${prefix}:skipped`)).toBe(1);
});

test('the command that brings it can be pasted into a shell', () => {
  const period = { from: Date.UTC(2026, 10, 20, 10), to: Date.UTC(2026, 10, 21, 10) };
  const options = '--since 2026-11-20T10:00:00.000Z --until 2026-11-21T10:00:00.000Z';
  expect(replayOf({ ...period, protocol: 'Vault' })).toBe(`tocsin replay --protocol Vault ${options}`);
  expect(replayOf({ ...period, protocol: "Bob's Vault" })).toBe(
    `tocsin replay --protocol 'Bob'\\''s Vault' ${options}`,
  );
  expect(replayOf(period)).toBe(`tocsin replay ${options}`);
});
