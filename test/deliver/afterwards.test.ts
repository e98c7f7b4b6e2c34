import { describe, expect, test } from 'vitest';
import type { Alert, FollowUp } from '../../src/alert.ts';
import { slice } from '../../src/chunks.ts';
import { afterwards } from '../../src/deliver/afterwards.ts';
import type { Remembered } from '../../src/deliver/thread-store.ts';
import { parcelJob } from '../../src/queue/job.ts';
import { DESTINATION, failure, items, setUpDeliveries as setUp } from '../support/deliveries.ts';
import { handed, jobOf, jobRun, messageOf, NO_THREADS, NOW, now } from '../support/delivery-runs.ts';
import { hashOf, makeAlert } from '../support/numbered.ts';

const HOUR_MS = 3_600_000;

const followUp = (n: number, first: Alert, change: Partial<FollowUp> = {}): Alert =>
  makeAlert(n, {
    txHash: first.txHash ?? '',
    type: 'inspection.downgraded',
    followUp: { of: first.id, was: 'critical', is: 'ok', ...change },
  });

const told = async (options: Parameters<typeof setUp>[0] = {}) => {
  const deliveries = setUp(options);
  deliveries.add([makeAlert(1)]);
  await deliveries.run();
  return deliveries;
};

describe('the message above a follow-up', () => {
  test('says the new assessment, after the follow-up was sent', async () => {
    const { add, run, sent, states } = await told();
    add([followUp(2, makeAlert(1))]);
    await run();
    expect(sent.slice(1)).toEqual([
      { at: 0, to: 'C1', items: items(2), replyTo: 'handle-1' },
      { at: 0, to: 'C1', items: items(1), amends: 'handle-1', now: ['item-1 ok, was critical'] },
    ]);
    expect(await states(1, 2)).toEqual(['delivered', 'delivered']);
  });

  test('keeps what else is in it, also when it no longer grows', async () => {
    const { add, run, sent, time } = await told();
    const other = makeAlert(2, { txHash: hashOf(1) });
    add([other]);
    await run();
    time.now += HOUR_MS;
    add([followUp(3, other)]);
    await run();
    expect(sent.at(-1)).toMatchObject({ items: items(1, 2), now: ['item-2 ok, was critical'] });
    add([makeAlert(4, { txHash: hashOf(1) })]);
    await run();
    expect(sent.at(-1)).toEqual({ at: HOUR_MS, to: 'C1', items: items(4) });
  });

  test('says the last of several changes, and that an inspection is gone', async () => {
    const { add, run, sent } = await told();
    add([followUp(2, makeAlert(1))]);
    await run();
    const { is: _is, ...gone }: FollowUp = { of: makeAlert(1).id, was: 'ok', is: '' };
    add([{ ...followUp(3, makeAlert(1)), followUp: gone }]);
    await run();
    expect(sent.at(-1)?.now).toEqual(['item-1 gone, was ok']);
  });

  test('says it also where a daemon was killed when it had sent the follow-up', async () => {
    const { start, sent } = await told();
    const job = parcelJob({ destination: DESTINATION, alerts: [followUp(2, makeAlert(1))] });
    await start(job);
    expect(sent).toHaveLength(2);
    // The job is in the queue as it was.
    const again = await start(job);
    if (again.done) return expect.fail('the title is left');
    await start(again.data);
    expect(sent.slice(2)).toMatchObject([{ items: items(1), now: ['item-1 ok, was critical'] }]);
  });

  test('waits for a send slot of its own', async () => {
    const { add, run, sent } = await told({ rate: { perSecond: 1 } });
    add([followUp(2, makeAlert(1))]);
    await run();
    expect(sent.map(({ at, amends }) => [at, amends])).toEqual([
      [0, undefined],
      [1000, undefined],
      [2000, 'handle-1'],
    ]);
  });

  test('is tried again after a rate limit, which holds the destination', async () => {
    const { add, run, sent, answers } = await told({ rate: { perSecond: 10 } });
    add([followUp(2, makeAlert(1))]);
    await run(100);
    answers.C1 = [failure('rate-limited', { retryAfterMs: 30_000 })];
    await run(200);
    add([makeAlert(3)]);
    await run();
    expect(sent.slice(2).map(({ items: shown }) => shown)).toEqual([items(1), items(3)]);
    expect(sent[2]?.at).toBeGreaterThanOrEqual(30_000);
  });

  test.each(['bad-message', 'destination-dead', 'unavailable', 'unknown'] as const)(
    'stays as it was where it cannot be changed (%s), and the follow-up counts as delivered',
    async (reason) => {
      const { add, run, sent, attempts, dead, states, jobs } = await told({
        respond: ({ amends }) => (amends === undefined ? undefined : failure(reason)),
      });
      add([followUp(2, makeAlert(1))]);
      await run();
      expect(sent).toHaveLength(2);
      expect(await states(2)).toEqual(['delivered']);
      expect(attempts.map(({ outcome }) => outcome)).toEqual(['delivered', 'delivered']);
      expect(await dead.count()).toBe(0);
      expect(jobs.size).toBe(0);
    },
  );

  test('is not changed where it is a digest, or not remembered any more', async () => {
    const { add, run, sent, redis, prefix } = setUp();
    add([1, 2, 3, 4, 5, 6].map((n) => makeAlert(n)));
    add([makeAlert(7)]);
    await run();
    await redis.del((await redis.keys(`${prefix}:thread:*`)).at(0) ?? '');
    add([followUp(8, makeAlert(1)), followUp(9, makeAlert(7))]);
    await run();
    expect(sent.filter(({ amends }) => amends !== undefined)).toEqual([]);
    expect(sent.slice(2).map(({ replyTo }) => replyTo)).toEqual(['handle-1', 'handle-2']);
  });
});

const remembered = (changes: Partial<Remembered> = {}): Remembered => ({
  ...{ handle: 'old', alerts: [makeAlert(1)], sentAt: NOW - 5, heard: 1, loudAt: NOW - 5 },
  ...changes,
});

test('a changed message keeps its buttons', async () => {
  const done: string[] = [];
  const run = jobRun(jobOf([], { afterwards: [{ of: 'first', txHash: '0x1', was: 'critical', is: 'ok' }] }));
  const verdict = await afterwards(
    run,
    handed({
      compose: ({ destination, alerts }) => slice(() => [messageOf({ ...jobOf([]), destination, alerts })]),
      withButtons: async (message, about, isChange) => ({
        message: { ...message, body: `${about.length} with buttons, ${isChange ? 'changed' : 'new'}` },
        sent: async (handle) => void done.push(`sent ${handle}`),
      }),
      threads: {
        ...NO_THREADS,
        claim: async () => async () => void done.push('unclaim'),
        reassess: async () => remembered({ alerts: [makeAlert(1), makeAlert(2)] }),
        noteReassessed: async () => void done.push('noted'),
      },
      sendSlots: {
        reserve: async (data) => ({ isNow: true, runAt: NOW, data }),
        hold: async () => ({ at: NOW, shift: 0 }),
      },
      channel: {
        send: async () => ({}),
        amend: async (handle, { body }) => {
          done.push(`amend ${handle}: ${String(body)}`);
          return { handle };
        },
      },
      ...{ timeoutMs: 5000, maxAgeMs: 5000, now, random: () => 0.5 },
    }),
  );
  expect(verdict).toEqual({ done: true });
  expect(done).toEqual(['amend old: 2 with buttons, changed', 'sent old', 'noted', 'unclaim']);
});

test('while it waits for its send slot, the message is neither recalled nor composed again', async () => {
  const job = jobOf([], { afterwards: [{ of: 'first', txHash: '0x1', was: 'critical', is: 'ok' }] });
  const done: string[] = [];
  const dependencies = handed({
    compose: () => expect.fail('composed without a slot'),
    threads: {
      ...NO_THREADS,
      claim: () => expect.fail('claimed without a slot'),
      reassess: async () => {
        done.push('recalled');
        return remembered();
      },
    },
    sendSlots: {
      reserve: async (data) => {
        done.push('asked');
        return { isNow: false, runAt: NOW + 5000, data: { ...data, ticket: { round: 1, number: 1, at: NOW + 5000 } } };
      },
      hold: async () => ({ at: NOW, shift: 0 }),
    },
    channel: { send: async () => ({}) },
    ...{ timeoutMs: 5000, maxAgeMs: 5000, now, random: () => 0.5 },
  });
  const verdict = await afterwards(jobRun(job), dependencies);
  expect(verdict).toMatchObject({ done: false, runAt: NOW + 5000, data: { ticket: { at: NOW + 5000 } } });
  expect(done).toEqual(['recalled', 'asked']);
  if (!verdict || verdict.done) return expect.fail('it waits');
  await afterwards(jobRun(verdict.data as typeof job), dependencies);
  expect(done).toEqual(['recalled', 'asked', 'asked']);
});
