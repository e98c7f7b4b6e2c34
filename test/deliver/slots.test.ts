/** The pace of a destination, when what holds its slots comes late. */
import { expect, test } from 'vitest';
import { failure, range, setUpDeliveries } from '../support/deliveries.ts';
import { makeAlert } from '../support/numbered.ts';

/** Of times in milliseconds, the most within a second. */
const mostInASecond = (times: readonly number[]): number =>
  Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1000).length));

test('what missed its slots while no daemon ran goes out at the pace, in its order', async () => {
  const { add, run, sent, time } = setUpDeliveries({ gathers: false, rate: { perSecond: 1 } });
  for (const n of range(1, 40)) add([makeAlert(n)]);
  await run(5000);
  time.now += 60_000;
  await run();
  expect(mostInASecond(sent.map(({ at }) => at))).toBe(1);
  expect(sent.map(({ items: [item] }) => item)).toEqual(range(1, 40).map((n) => `item-${n}`));
});

test('the same of a minute', async () => {
  const { add, run, sent, time } = setUpDeliveries({ gathers: false, rate: { perMinute: 20, perSecond: 2 } });
  for (const n of range(1, 60)) add([makeAlert(n)]);
  await run(5000);
  time.now += 300_000;
  await run();
  const times = sent.map(({ at }) => at);
  expect(sent).toHaveLength(60);
  expect(Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 60_000).length))).toBe(20);
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
  expect(mostInASecond(sent.map(({ at }) => at))).toBeLessThanOrEqual(2);
});
