/** Who gets the slots of a destination that several protocols share, counted in messages. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Alert, type ChannelKind, TOCSIN } from '../../src/alert.ts';
import { createRateLimiter, createRateStateStore } from '../../src/deliver/rate-limiter.ts';
import { createSendSlots } from '../../src/deliver/send-slot.ts';
import { createPlaces } from '../../src/queue/places.ts';
import { createParcelQueues } from '../../src/queue/queues.ts';
import { destinationOf } from '../support/alerts.ts';
import { failure, range, setUpDeliveries } from '../support/deliveries.ts';
import { makeAlert } from '../support/numbered.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const HOOK = destinationOf('webhook', 'https://shared.example');
const RATE = { perSecond: 20 };

/** Daemons on one Redis, each with a worker for the jobs of one webhook with a rate. */
const setUp = (daemons = 1, kind: ChannelKind = 'webhook') => {
  const { redis, prefix } = openTestRedis();
  const queues = createParcelQueues({ redis, prefix, onError: () => {} });
  onTestFinished(() => queues.close());
  const sent: string[] = [];
  const slots: number[] = [];
  const counts = { runs: 0 };
  for (const _ of range(1, daemons)) {
    const rateLimiter = createRateLimiter({ store: createRateStateStore(redis, prefix), now: Date.now });
    const paceOf = ({ id }: { id: string }) => ({ id, rate: RATE });
    const sendSlots = createSendSlots({ rateLimiter, paceOf, senderOf: () => undefined, now: Date.now });
    const worker = queues.work(
      kind,
      createPlaces(50),
      async (job) => {
        counts.runs += 1;
        const slot = await sendSlots.reserve(job);
        if (!slot.isNow) return { done: false, runAt: slot.runAt, data: slot.data };
        slots.push(slot.data.slot?.at ?? 0);
        sent.push(job.alerts.map(({ protocol, itemId }) => `${protocol} ${itemId}`).join());
        return { done: true };
      },
      () => {},
    );
    onTestFinished(() => worker.stop(0));
  }
  const enqueue = (alerts: readonly Alert[]) =>
    queues.enqueue(alerts.map((alert) => ({ destination: HOOK, alerts: [alert] })));
  return { enqueue, sent, slots, counts };
};

const alertsOf = (protocol: string, from: number, to: number, changes: Partial<Alert> = {}) =>
  range(from, to).map((n) => makeAlert(n, { protocol, ...changes }));

describe('a webhook with a rate', () => {
  test('60 alerts of one protocol wait: that of another is among the next few', async () => {
    const { enqueue, sent } = setUp();
    await enqueue(alertsOf('Busy', 1, 60));
    await until('some are sent', () => sent.length >= 10);
    const before = sent.length;
    await enqueue(alertsOf('Quiet', 61, 61));
    await until('all are sent', () => sent.length === 61);
    expect(sent.indexOf('Quiet item-61') - before).toBeLessThan(5);
    expect(new Set(sent).size).toBe(61);
  });

  test('several with a backlog take turns, at two daemons within the one rate, and nothing is lost', async () => {
    const { enqueue, sent, slots, counts } = setUp(2);
    await enqueue(alertsOf('Busy', 1, 40));
    await until('some are sent', () => sent.length >= 5);
    const before = sent.length;
    await enqueue(alertsOf('Second', 101, 110));
    await enqueue(alertsOf('Third', 201, 210));
    await until('all are sent', () => sent.length === 60);
    expect(new Set(sent).size).toBe(60);
    // Ten turns of three, and some that were on their way: each daemon remembers for itself which turn was a protocol's last.
    const others = sent.slice(before, before + 40).filter((text) => !text.startsWith('Busy'));
    expect(others).toHaveLength(20);
    const ordered = slots.toSorted((a, b) => a - b);
    expect(Math.min(...ordered.slice(1).map((at, n) => at - (ordered[n] ?? 0)))).toBeGreaterThanOrEqual(50);
    // No busy waiting: each job comes when its turn is likely, and again where others came meanwhile.
    expect(counts.runs).toBeLessThan(60 * 6);
  });

  test('alerts that come later go before replays of another protocol', async () => {
    const { enqueue, sent } = setUp();
    await enqueue(alertsOf('Busy', 1, 60, { replay: true }));
    await until('some are sent', () => sent.length >= 2);
    const before = sent.length;
    await enqueue(alertsOf('Quiet', 61, 70));
    await until('the urgent ones', () => sent.filter((text) => text.startsWith('Quiet')).length === 10);
    expect(sent.length - before).toBeLessThan(10 + 5);
  });

  test('what Tocsin says has its turn among the alerts of a protocol that has many', async () => {
    const { enqueue, sent } = setUp();
    await enqueue(alertsOf('Busy', 1, 60));
    await until('some are sent', () => sent.length >= 10);
    const before = sent.length;
    const own = { service: TOCSIN, type: 'tocsin.protocol.changed' } as const;
    await enqueue(alertsOf(TOCSIN, 61, 61, own));
    await until('all are sent', () => sent.length === 61);
    expect(sent.indexOf(`${TOCSIN} item-61`) - before).toBeLessThan(5);
  });
});

test('through all stages of a delivery: with retries and a wait that the receiver names, each protocol has its turn', async () => {
  const refused = new Set(['item-3', 'item-5']);
  const { add, run, sent } = setUpDeliveries({
    isBatched: false,
    rate: { perSecond: 1 },
    respond: ({ items: [item = ''] }) =>
      refused.delete(item) ? failure('rate-limited', { retryAfterMs: 4000 }) : undefined,
  });
  const alert = (protocol: string, n: number) => [makeAlert(n, { protocol, txHash: `0x${n}` })];
  for (const n of range(1, 60)) add(alert('Busy', n));
  await run(9500);
  const before = sent.length;
  for (const n of range(61, 63)) add(alert('Quiet', n));
  await run();
  const order = sent.flatMap(({ items }) => items).map((item) => Number(item.slice(5)));
  expect(new Set(order).size).toBe(63);
  // What was refused goes first after its wait.
  expect([61, 62, 63].map((n) => order.indexOf(n) - before)).toEqual([1, 3, 5]);
  const gaps = sent.slice(1).map(({ at }, n) => at - (sent[n]?.at ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1000);
  expect(sent.at(-1)?.at).toBeLessThanOrEqual(62_000 + 2 * 5000);
});

/** A chat with one message a second, one job after the other. */
const setUpChat = () => {
  const deliveries = setUpDeliveries({ rate: { perSecond: 1 } });
  const { add, sent } = deliveries;
  const alert = (protocol: string, n: number) => makeAlert(n, { protocol, txHash: `0x${n}` });
  const messageWith = (n: number): number => sent.findIndex(({ items }) => items.includes(`item-${n}`));
  return {
    ...deliveries,
    add: (protocol: string, ...numbers: number[]) => add(numbers.map((n) => alert(protocol, n))),
    messageWith,
  };
};

describe('a chat', () => {
  test('where one protocol has a batch waiting: the alert of another joins it, and is told with the next message', async () => {
    const { add, run, sent, messageWith } = setUpChat();
    for (const n of range(1, 60)) add('Busy', n);
    await run(500);
    const before = sent.length;
    add('Quiet', 61);
    await run();
    expect(messageWith(61)).toBe(before);
    expect(new Set(sent.flatMap(({ items }) => items)).size).toBe(61);
  });

  test('where a batch is being sent message by message: the alert of another is told before the last of them', async () => {
    const { add, run, sent, messageWith } = setUpChat();
    // The first is sent at once; the others are a batch of five messages.
    for (const n of range(1, 6)) add('Busy', n);
    await run(1500);
    const before = sent.length;
    expect(before).toBe(2);
    add('Quiet', 61);
    await run();
    expect(messageWith(61) - before).toBeLessThan(2);
    expect(sent).toHaveLength(7);
  });
});
