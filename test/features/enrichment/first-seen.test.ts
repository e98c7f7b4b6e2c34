/** What a protocol was alerted about before, in a real Redis and with a clock of the test's own. */
import { expect, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import { createFirstSeen, type Facts } from '../../../src/features/enrichment/first-seen.ts';
import { makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';

const T0 = Date.parse('2026-11-20T10:00:00.000Z');
const HOUR = 3_600_000;

const setUp = (settings = { keptMs: 24 * HOUR, mostFacts: 100 }) => {
  const { redis, prefix } = openTestRedis();
  const time = { now: T0 };
  const open = () => createFirstSeen(redis, prefix, () => time.now, settings);
  const firstSeen = open();
  const noteFacts = async (alert: Alert, facts: Facts, by = firstSeen) => (await by.note([{ alert, facts }]))[0];
  const note = (alert: Alert, origin: string, detectors = 'a') => noteFacts(alert, { origin, detectors });
  return { noteFacts, redis, prefix, time, open, firstSeen, note };
};

const iso = (at: number): string => new Date(at).toISOString();

test('a fact is new with the alert that came with it first, however often that is asked', async () => {
  const { note, noteFacts, time, open } = setUp();
  expect(await note(makeAlert(1), '0x1')).toEqual({ since: iso(T0), origin: true, detectors: true });
  time.now += HOUR;
  expect(await note(makeAlert(2), '0x2')).toEqual({ since: iso(T0), origin: true, detectors: false });
  expect(await note(makeAlert(3), '0x1', 'b')).toEqual({ since: iso(T0), origin: false, detectors: true });
  expect(await noteFacts(makeAlert(1), { origin: '0x1', detectors: 'a' }, open())).toMatchObject({
    origin: true,
    detectors: true,
  });
  expect(await noteFacts(makeAlert(4), { origin: '0x9' }, open())).toEqual({ since: iso(T0), origin: true });
});

test('two that ask at once are not both the first', async () => {
  const { open, noteFacts } = setUp();
  const answers = await Promise.all([1, 2, 3].map((n) => noteFacts(makeAlert(n), { origin: '0x1' }, open())));
  expect(answers.filter((first) => first?.origin)).toHaveLength(1);
});

test('of alerts that come together the first one has the news', async () => {
  const { firstSeen } = setUp();
  const noted = Array.from({ length: 450 }, (_, n) => ({
    alert: makeAlert(n),
    facts: { origin: `0x${Math.floor(n / 2) % 2}`, ...(n === 3 ? {} : { detectors: 'a' }) },
  }));
  const found = await firstSeen.note(noted);
  expect(found.slice(0, 4)).toEqual([
    { since: iso(T0), origin: true, detectors: true },
    { since: iso(T0), origin: false, detectors: false },
    { since: iso(T0), origin: true, detectors: false },
    { since: iso(T0), origin: false },
  ]);
  expect(found).toHaveLength(450);
  expect(found.filter(({ origin, detectors }) => origin || detectors)).toHaveLength(2);
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
  expect(await firstSeen.recall({ alert: makeAlert(1), facts: { origin: '0x1' } })).toBeUndefined();
  await note(makeAlert(1), '0x1');
  expect(await firstSeen.recall({ alert: makeAlert(1), facts: { origin: '0x1', detectors: 'z' } })).toEqual({
    since: iso(T0),
    origin: true,
  });
  expect(await firstSeen.recall({ alert: makeAlert(2), facts: { origin: '0x1', detectors: 'a' } })).toEqual({
    since: iso(T0),
    origin: false,
    detectors: false,
  });
  expect(await note(makeAlert(3), '0x3', 'z')).toMatchObject({ detectors: true });
});
