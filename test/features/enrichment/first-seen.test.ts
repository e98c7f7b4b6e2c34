/** What a protocol was alerted about before, in a real Redis and with a clock of the test's own. */
import { expect, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import { createFirstSeen } from '../../../src/features/enrichment/first-seen.ts';
import { makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';

const T0 = Date.parse('2026-11-20T10:00:00.000Z');
const HOUR = 3_600_000;

const setUp = (settings = { keptMs: 24 * HOUR, mostFacts: 100 }) => {
  const { redis, prefix } = openTestRedis();
  const time = { now: T0 };
  const open = () => createFirstSeen(redis, prefix, () => time.now, settings);
  const firstSeen = open();
  const note = (alert: Alert, origin: string, detectors = 'a') => firstSeen.note(alert, { origin, detectors });
  return { redis, prefix, time, open, firstSeen, note };
};

const iso = (at: number): string => new Date(at).toISOString();

test('a fact is new with the alert that came with it first, however often that is asked', async () => {
  const { note, time, open } = setUp();
  expect(await note(makeAlert(1), '0x1')).toEqual({ since: iso(T0), origin: true, detectors: true });
  time.now += HOUR;
  expect(await note(makeAlert(2), '0x2')).toEqual({ since: iso(T0), origin: true, detectors: false });
  expect(await note(makeAlert(3), '0x1', 'b')).toEqual({ since: iso(T0), origin: false, detectors: true });
  expect(await open().note(makeAlert(1), { origin: '0x1', detectors: 'a' })).toMatchObject({
    origin: true,
    detectors: true,
  });
  expect(await open().note(makeAlert(4), { origin: '0x9' })).toEqual({ since: iso(T0), origin: true });
});

test('two that ask at once are not both the first', async () => {
  const { open } = setUp();
  const answers = await Promise.all([1, 2, 3].map((n) => open().note(makeAlert(n), { origin: '0x1' })));
  expect(answers.filter(({ origin }) => origin)).toHaveLength(1);
});

test('each protocol of each service has a memory of its own', async () => {
  const { note } = setUp();
  await note(makeAlert(1), '0x1');
  expect(await note(makeAlert(2, { protocol: 'Bridge' }), '0x1')).toMatchObject({ origin: true });
  expect(await note(makeAlert(3, { service: 'other' }), '0x1')).toMatchObject({ origin: true });
  expect(await note(makeAlert(4), '0x1')).toMatchObject({ origin: false });
});

test('what was not alerted for long is new again, and how far back that goes is said', async () => {
  const { note, time } = setUp();
  await note(makeAlert(1), '0x1', 'a');
  time.now += 20 * HOUR;
  await note(makeAlert(2), '0x2', 'a');
  time.now += 20 * HOUR;
  const since = iso(time.now - 24 * HOUR);
  expect(await note(makeAlert(3), '0x3', 'a')).toEqual({ since, origin: true, detectors: false });
  expect(await note(makeAlert(4), '0x1', 'a')).toEqual({ since, origin: true, detectors: false });
});

test('it is bounded: the oldest go, and it remembers no further back than that', async () => {
  const { note, time, redis, prefix } = setUp({ keptMs: 24 * HOUR, mostFacts: 5 });
  for (let n = 0; n < 10; n += 1) {
    time.now = T0 + n * 1000;
    await note(makeAlert(n), `0x${n}`);
  }
  // The detectors are always there; four origins are left, and the sixth was the last to go.
  expect(await note(makeAlert(9), '0x9')).toEqual({ since: iso(T0 + 5000), origin: true, detectors: false });
  expect(await note(makeAlert(20), '0x6')).toMatchObject({ origin: false });
  expect(await note(makeAlert(21), '0x0')).toMatchObject({ origin: true });
  const keys = await redis.keys(`${prefix}*`);
  expect(keys).toHaveLength(2);
  for (const key of keys) expect(await redis.pttl(key)).toBeGreaterThan(24 * HOUR);
});

test('history is asked, and makes nothing known', async () => {
  const { note, firstSeen } = setUp();
  expect(await firstSeen.recall(makeAlert(1), { origin: '0x1' })).toBeUndefined();
  await note(makeAlert(1), '0x1');
  expect(await firstSeen.recall(makeAlert(1), { origin: '0x1', detectors: 'z' })).toEqual({
    since: iso(T0),
    origin: true,
  });
  expect(await firstSeen.recall(makeAlert(2), { origin: '0x1', detectors: 'a' })).toEqual({
    since: iso(T0),
    origin: false,
    detectors: false,
  });
  expect(await note(makeAlert(3), '0x3', 'z')).toMatchObject({ detectors: true });
});
