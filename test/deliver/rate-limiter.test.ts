/** The pace of a destination, when what holds its slots comes late. */
import { expect, test } from 'vitest';
import { DESTINATION, failure, OTHER, range, setUpDeliveries } from '../support/deliveries.ts';
import { makeAlert } from '../support/numbered.ts';

/** Of times in milliseconds, the most within so long. */
const mostWithin = (ms: number, times: readonly number[]): number =>
  Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + ms).length));

test('what missed its slots while no daemon ran goes out at the pace', async () => {
  const { add, run, sent, time } = setUpDeliveries({ gathers: false, rate: { perSecond: 1 } });
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
  const { add, run, sent, time } = setUpDeliveries({ gathers: false, rate: { perMinute: 20, perSecond: 2 } });
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
  const { add, run, sent } = setUpDeliveries({
    gathers: false,
    rate: { perSecond: 1 },
    respond: ({ at }) => (at < 100_000 ? failure('retry') : undefined),
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

test('who comes late does not hold up those that have gone on meanwhile', async () => {
  const { rateLimiter, time } = setUpDeliveries();
  const rate = { perSecond: 1 };
  await rateLimiter.reserve(DESTINATION, rate);
  const missed = await rateLimiter.reserve(DESTINATION, rate);
  for (const _ of range(1, 60)) {
    time.now += 1000;
    await rateLimiter.take(DESTINATION, rate);
  }
  const late = await rateLimiter.reserve(DESTINATION, rate, missed);
  const next = await rateLimiter.reserve(DESTINATION, rate);
  expect([late.at, next.at].map((at) => at - time.now)).toEqual([1000, 2000]);
});

test('who waits for the sender does not miss its own slot meanwhile: both slow, they come to an end', async () => {
  const rate = { perMinute: 1 };
  const { add, run, sent } = setUpDeliveries({ gathers: false, rate, sender: { id: 'sender-slack', rate } });
  for (const n of range(1, 4)) add([makeAlert(n)], n === 1 ? OTHER : DESTINATION);
  await run();
  expect(sent.map(({ at }) => at)).toEqual([0, 60_500, 121_000, 181_500]);
});
