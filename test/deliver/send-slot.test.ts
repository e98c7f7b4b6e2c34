import { describe, expect, test } from 'vitest';
import { TOCSIN } from '../../src/alert.ts';
import { kindFacts } from '../../src/channels/registry.ts';
import { destinationOf } from '../support/alerts.ts';
import { DESTINATION, failure, OTHER, range, setUpDeliveries as setUp } from '../support/deliveries.ts';
import { makeAlert } from '../support/numbered.ts';

describe('a sender', () => {
  test('has a pace of its own over all its destinations', async () => {
    const { add, run, sent } = setUp({ sender: { id: 'sender-slack', rate: { perSecond: 10 } } });
    for (const n of range(1, 20)) add([makeAlert(n)], destinationOf('slack', `C${n}`));
    await run();
    expect(sent).toHaveLength(20);
    expect(sent.map(({ at }) => at)).toEqual(range(0, 19).map((n) => n * 100));
  });
});

test('destinations that a platform counts as one share their slots', async () => {
  const { add, run, sent } = setUp({ rate: { perSecond: 1 }, shared: 'the chat' });
  add([makeAlert(1)]);
  add([makeAlert(2)], OTHER);
  await run();
  expect(sent.map(({ at, to }) => [at, to])).toEqual([
    [0, 'C1'],
    [1000, 'C2'],
  ]);
  expect(kindFacts('telegram').sharesRateWith?.('-1001234567890/7')).toBe('-1001234567890');
  expect(kindFacts('slack').sharesRateWith).toBeUndefined();
});

/** Of times in milliseconds, the most within so long. */
const mostWithin = (ms: number, times: readonly number[]): number =>
  Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + ms).length));

test('what missed its slots while no daemon ran goes out at the pace', async () => {
  const { add, run, sent, time } = setUp({ isBatched: false, rate: { perSecond: 1 } });
  for (const n of range(1, 40)) add([makeAlert(n)]);
  await run(5000);
  time.now += 60_000;
  await run();
  expect(sent).toHaveLength(40);
  expect(
    mostWithin(
      10_000,
      sent.map(({ at }) => at),
    ),
  ).toBeLessThanOrEqual(10 + 2);
});

test('the same of a minute', async () => {
  const { add, run, sent, time } = setUp({ isBatched: false, rate: { perMinute: 20, perSecond: 2 } });
  for (const n of range(1, 60)) add([makeAlert(n)]);
  await run(5000);
  time.now += 300_000;
  await run();
  expect(sent).toHaveLength(60);
  expect(
    mostWithin(
      60_000,
      sent.map(({ at }) => at),
    ),
  ).toBeLessThanOrEqual(20 + 4);
});

test('an outage of a receiver is no reason to flood it', async () => {
  const { add, run, sent } = setUp({
    isBatched: false,
    rate: { perSecond: 1 },
    respond: ({ at }) => (at < 100_000 ? failure('unavailable') : undefined),
  });
  for (const n of range(1, 60)) add([makeAlert(n)]);
  await run();
  expect(sent).toHaveLength(60);
  expect(
    mostWithin(
      10_000,
      sent.map(({ at }) => at),
    ),
  ).toBeLessThanOrEqual(10 + 2);
});

test('who waits for the sender does not miss its own slot meanwhile: both slow, they come to an end', async () => {
  const rate = { perMinute: 1 };
  const { add, run, sent } = setUp({ isBatched: false, rate, sender: { id: 'sender-slack', rate } });
  for (const n of range(1, 4)) add([makeAlert(n)], n === 1 ? OTHER : DESTINATION);
  await run();
  expect(sent.map(({ at }) => at)).toEqual([0, 60_500, 121_000, 181_500]);
});

test('replays hold up no alert that comes after them, announcements take turns with alerts, and all are sent in the end', async () => {
  const { add, run, sent } = setUp({ isBatched: false, rate: { perSecond: 1 } });
  for (const n of range(1, 30)) {
    add([makeAlert(n, { type: 'tocsin.destination.broken', service: TOCSIN, protocol: TOCSIN })]);
  }
  for (const n of range(31, 60)) add([makeAlert(n, { replay: true })]);
  await run(5000);
  for (const n of range(61, 70)) add([makeAlert(n)]);
  await run();
  const urgent = sent.filter(({ items: [item = ''] }) => Number(item.slice(5)) > 60);
  expect(Math.max(...urgent.map(({ at }) => at))).toBeLessThanOrEqual(5000 + 21_000);
  expect(new Set(sent.map(({ items: [item] }) => item)).size).toBe(70);
  expect(
    mostWithin(
      10_000,
      sent.map(({ at }) => at),
    ),
  ).toBeLessThanOrEqual(10 + 1);
});
