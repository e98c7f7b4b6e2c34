/** Who gets a sender's slots, counted in messages; `test/queue/fairness.test.ts` has the same of a worker's places. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Destination } from '../../src/alert.ts';
import { createRateLimiter, createRateStateStore } from '../../src/deliver/rate-limiter.ts';
import { createSenderTurns, createSendSlots } from '../../src/deliver/send-slot.ts';
import { createPlaces } from '../../src/queue/places.ts';
import { createParcelQueues } from '../../src/queue/queues.ts';
import { destinationOf } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const SENDER = { id: 'sender-telegram', rate: { perSecond: 25 } };

describe('the slots of a sender', () => {
  const setUp = () => {
    const slots: (() => void)[] = [];
    const turns = createSenderTurns({
      reserve: async () => ({ at: 0 }),
      now: () => 0,
      sleep: (_ms, signal) =>
        new Promise((resolve) => {
          slots.push(resolve);
          if (signal.aborted) resolve();
          signal.addEventListener('abort', () => resolve());
        }),
    });
    const got: string[] = [];
    const take = (share: string) => turns.take(SENDER, share).then((hasSlot) => got.push(hasSlot ? share : 'none'));
    const slot = async (): Promise<void> => {
      await until('somebody waits', () => slots.length > 0);
      slots.shift()?.();
      const before = got.length;
      await until('somebody has it', () => got.length > before);
    };
    return { turns, got, take, slot };
  };

  test('go to protocols in turns, however many of one wait', async () => {
    const { got, take, slot } = setUp();
    for (let n = 0; n < 40; n += 1) void take('busy');
    await slot();
    void take('quiet');
    void take('other');
    void take('quiet');
    for (let n = 0; n < 5; n += 1) await slot();
    expect(got).toEqual(['busy', 'quiet', 'other', 'busy', 'quiet', 'busy']);
  });

  test('belong to whoever comes first when they come, not when they were reserved', async () => {
    const { got, take, slot } = setUp();
    void take('busy');
    void take('busy');
    await slot();
    void take('quiet');
    await slot();
    expect(got).toEqual(['busy', 'quiet']);
  });

  test('are for nobody once the daemon stops', async () => {
    const { turns, got, take } = setUp();
    void take('busy');
    turns.close();
    await take('quiet');
    expect(got).toContain('none');
  });
});

test('a failure to reserve one is the failure of one job', async () => {
  let asked = 0;
  const turns = createSenderTurns({
    reserve: async () => {
      asked += 1;
      if (asked === 1) throw new Error('no Redis');
      return { at: 0 };
    },
    now: () => 0,
  });
  const found = await Promise.allSettled([turns.take(SENDER, 'a'), turns.take(SENDER, 'b')]);
  expect(found.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
});

test('a clock that is set back while a slot is reserved keeps nobody waiting until its old moment', async () => {
  let wall = 7_200_000;
  const waits: number[] = [];
  const turns = createSenderTurns({
    reserve: async () => {
      const at = wall + 40;
      wall -= 3_600_000;
      return { at };
    },
    now: () => wall,
    sleep: async (ms) => void waits.push(ms),
  });
  expect(await turns.take(SENDER, 'a')).toBe(true);
  expect(Math.max(...waits)).toBeLessThanOrEqual(40);
});

test('one protocol has 3,000 chats: another waits for hardly any of them', async () => {
  const { redis, prefix } = openTestRedis();
  const queues = createParcelQueues({ redis, prefix, onError: () => {} });
  onTestFinished(() => queues.close());
  const rateLimiter = createRateLimiter({ store: createRateStateStore(redis, prefix), now: Date.now });
  const turns = createSenderTurns({
    reserve: (sender) => rateLimiter.reserve(sender, sender.rate),
    now: Date.now,
  });
  const slots = createSendSlots({
    rateLimiter,
    paceOf: ({ id }: Destination) => ({ id, rate: { perSecond: 1 } }),
    senderOf: () => SENDER,
    senderTurns: turns,
    now: Date.now,
  });
  const sent: string[] = [];
  const parcel = (protocol: string, n: number) => ({
    destination: destinationOf('telegram', `${protocol} ${n}`),
    alerts: [makeAlert(n, { protocol })],
  });
  await queues.enqueue(Array.from({ length: 3000 }, (_, n) => parcel('Busy', n)));
  const worker = queues.work(
    'telegram',
    createPlaces(50),
    async (job) => {
      const slot = await slots.take(job);
      if (!slot?.isNow) return { done: false, runAt: slot?.runAt ?? Date.now(), data: slot?.data ?? job };
      sent.push(job.fairnessKey ?? '');
      return { done: true };
    },
    () => {},
  );
  onTestFinished(async () => {
    turns.close();
    await worker.stop(0);
  });
  await until('some are sent', () => sent.length >= 10);
  const before = sent.length;
  await queues.enqueue([parcel('Quiet', 1)]);
  await until('the quiet one', () => sent.includes('main/Quiet'));
  // 25 a second: two seconds are 50.
  expect(sent.indexOf('main/Quiet') - before).toBeLessThan(15);
});
