/** Decoys that fill a rate which another protocol shares: jobs that come, wait and come again, without a wait. */
import { describe, expect, test } from 'vitest';
import { TOCSIN } from '../../src/alert.ts';
import { pacingOf } from '../../src/channels/registry.ts';
import { EMPTY_STATE, type RateState } from '../../src/deliver/rate-limit-rule.ts';
import { createRateLimiter, createRateStateStore } from '../../src/deliver/rate-limiter.ts';
import { createSendSlots } from '../../src/deliver/send-slot.ts';
import { queue } from '../../src/deliver/slot-turns.ts';
import { batchJob, type Ticket } from '../../src/queue/job.ts';
import { destinationOf } from '../support/alerts.ts';
import { range } from '../support/deliveries.ts';
import { makeAlert } from '../support/numbered.ts';
import { openTestRedis } from '../support/redis.ts';

/** A group in Telegram. */
const RATE = { perSecond: 1, perMinute: 20 };
/** At twenty a minute, with the margin of each minute. */
const SLOT_MS = 3025;
const START = Date.parse('2026-07-01');

interface Job {
  line: string;
  at: number;
  /** How late it comes when it asks for the second time. */
  lateMs?: number;
  listedSince?: string;
  ticket?: Ticket;
}

/** Who was sent, one after the other. */
const simulate = (jobs: readonly Job[], isOver: (sent: readonly string[]) => boolean = () => false) => {
  let state: RateState = EMPTY_STATE;
  let runs = 0;
  let mostRounds = 0;
  const rounds = new Map<string, number>();
  const waiting = [...jobs];
  const sent: string[] = [];
  while (waiting.length > 0 && !isOver(sent)) {
    const at = waiting.reduce((least, job) => Math.min(least, job.at), Number.POSITIVE_INFINITY);
    const index = waiting.findIndex((one) => one.at === at);
    const job = waiting[index] as Job;
    const last = rounds.get(job.line);
    const found = queue(state, START + at, RATE, { ...job, ...(last !== undefined && { last }) });
    state = found.state;
    if (found.joined !== undefined) rounds.set(job.line, found.joined);
    runs += 1;
    mostRounds = Math.max(mostRounds, state.rounds.length);
    const { ticket } = found.slot;
    const lateMs = job.ticket ? 0 : (job.lateMs ?? 0);
    if (ticket) waiting.splice(index, 1, { ...job, ticket, at: ticket.at - START + lateMs });
    else sent.push(...waiting.splice(index, 1).map(({ line }) => line));
  }
  return { sent, runs, mostRounds };
};

const decoys = (count: number, each: number, listedSince: string): Job[] =>
  range(1, each).flatMap(() => range(1, count).map((n) => ({ line: `decoy ${n}`, at: 0, listedSince })));

/** How many messages are sent in the time before the victim's comes: those of a minute. */
const BEFORE = 20;
const victim: Job = { line: 'victim', at: 20_000, listedSince: '2026-01-01T00:00:00.000Z' };
const isHeard = (sent: readonly string[]): boolean => sent.includes('victim');

describe('a message of a protocol that has little waiting', () => {
  test.each([
    ['are listed longer', '2024-01-01', 140],
    ['are listed as long', '2026-01-01', 140],
    ['are younger', '2026-06-01', 1],
    ['are younger, and the job is late, as after a restart', '2026-06-01', 1 + 15, 15_000],
  ])('is among the next, behind 140 decoys with 30 messages each that %s', (_which, since, next, lateMs = 0) => {
    const { sent } = simulate([...decoys(140, 30, since), { ...victim, lateMs }], isHeard);
    expect(sent.length).toBeLessThanOrEqual(BEFORE + next);
  });

  test('is next, behind decoys with one message each that were listed later, a hundred a second', () => {
    const crowd = decoys(3000, 1, '2026-06-01').map((job, n) => ({ ...job, at: 10 * n }));
    const { sent } = simulate([...crowd, victim], isHeard);
    expect(sent.length).toBeLessThanOrEqual(BEFORE + 1);
  });

  test('holds back none of the others for good, and none of them asks often', () => {
    const jobs = [...decoys(140, 10, '2026-06-01'), victim];
    const { sent, runs, mostRounds } = simulate(jobs);
    expect(sent).toHaveLength(jobs.length);
    expect(runs).toBeLessThan(5 * jobs.length);
    expect(mostRounds).toBeLessThanOrEqual(10 + 1);
  });
});

const CHAT = '-1001234567890';

/** Jobs of batches for one chat and its topics, at a daemon's send slots in Redis; the clock stands still by itself. */
const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const time = { now: 1_800_000_000_000 };
  const now = () => time.now;
  const store = createRateStateStore(redis, prefix);
  const counts = { commands: 0 };
  const compareAndSet: typeof store.compareAndSet = (...all) => {
    counts.commands += 1;
    return store.compareAndSet(...all);
  };
  const rateLimiter = createRateLimiter({ store: { compareAndSet }, now });
  const { paceOf } = pacingOf({ rateLimit: RATE });
  const { reserve } = createSendSlots({ rateLimiter, paceOf, senderOf: () => undefined, now });
  const jobOf = (protocol: string, topic: number, context: { listedSince?: string } = {}, service = 'main') =>
    batchJob(destinationOf('telegram', topic === 0 ? CHAT : `${CHAT}/${topic}`), 1, [
      makeAlert(topic, { service, protocol, context }),
    ]);
  return { time, counts, reserve, jobOf, slotsUntil: (runAt: number) => Math.ceil((runAt - now()) / SLOT_MS) };
};

test('in Redis: decoys with all topics of a chat hold up neither another protocol there nor what Tocsin says', async () => {
  const { counts, reserve, jobOf, slotsUntil } = setUp();
  for (const topic of range(1, 1500))
    await reserve(jobOf(`decoy ${topic % 150}`, topic, { listedSince: '2026-12-01' }));
  const heard = [
    await reserve(jobOf('victim', 2000, { listedSince: '2026-01-01' })),
    await reserve(jobOf(TOCSIN, 2001, {}, TOCSIN)),
    await reserve(jobOf('victim', 0, { listedSince: '2026-01-01' })),
  ];
  for (const topic of range(3000, 3200)) await reserve(jobOf(`decoy ${topic}`, topic, { listedSince: '2026-12-01' }));
  for (const { data, isNow, runAt } of heard) {
    expect(isNow).toBe(false);
    expect(slotsUntil(runAt)).toBeLessThanOrEqual(3);
    expect((await reserve(data)).data.ticket).toMatchObject({ number: data.ticket?.number });
  }
  const before = counts.commands;
  await reserve(jobOf('another', 5000));
  expect(counts.commands - before).toBe(1);
});

test('in Redis: a decoy with all topics of a chat, and the chat last, holds up no alert that joins its batch there', async () => {
  const { reserve, jobOf, slotsUntil } = setUp();
  for (const topic of range(1, 300)) await reserve(jobOf('decoy', topic));
  expect(slotsUntil((await reserve(jobOf('decoy', 0))).runAt)).toBeLessThanOrEqual(2);
});

test('in Redis: who is late is next, also where a decoy far behind has had a slot meanwhile', async () => {
  const { time, reserve, jobOf } = setUp();
  const decoys = [];
  for (const topic of range(1, 1500)) decoys.push(await reserve(jobOf(`decoy ${topic % 150}`, topic)));
  const heard = [await reserve(jobOf('victim', 0)), await reserve(jobOf(TOCSIN, 2001, {}, TOCSIN))];
  time.now += 120_000;
  expect(await reserve(decoys.at(-1)?.data ?? expect.unreachable())).toMatchObject({ isNow: true });
  for (const { data } of heard) {
    time.now += 1000;
    expect(await reserve(data)).toMatchObject({ isNow: true });
  }
});

test('in Redis: decoys with plus addresses of a mailbox count to its rate, and take turns with who writes to the mailbox', async () => {
  const { redis, prefix } = openTestRedis();
  const now = () => 1_800_000_000_000;
  const rateLimiter = createRateLimiter({ store: createRateStateStore(redis, prefix), now });
  const { reserve, hold } = createSendSlots({
    ...{ rateLimiter, now },
    ...pacingOf({ rateLimit: { perSecond: 0.5, burst: 5 } }),
    senderOf: () => undefined,
  });
  const reserveAt = (protocol: string, address: string) =>
    reserve(batchJob(destinationOf('email', address), 1, [makeAlert(1, { protocol })]));
  const decoys = await Promise.all(range(1, 300).map((n) => reserveAt('decoy', `vault+${n}@example.com`)));
  expect(decoys.filter(({ isNow }) => isNow)).toHaveLength(5);
  expect((await reserveAt('victim', 'vault@example.com')).runAt - now()).toBeLessThanOrEqual(2 * 2000);
  // The provider takes no more for now: what waits for any of these addresses waits, and nothing else.
  await hold(destinationOf('email', 'vault+7@example.com'), now() + 60_000);
  expect((await reserveAt('late', 'vault@example.com')).runAt - now()).toBeGreaterThanOrEqual(60_000);
  expect((await reserveAt('victim', 'other@example.com')).isNow).toBe(true);
});
