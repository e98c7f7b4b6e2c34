import { describe, expect, test } from 'vitest';
import { defer } from '../../src/deliver/message-stages.ts';
import type { ParcelJob } from '../../src/queue/job.ts';
import { type Handed, handed, jobOf, messageRun, NOW, now } from '../support/delivery-runs.ts';
import { makeAlert } from '../support/numbered.ts';

const SLOT = { at: NOW, shift: 0 };

const setUp = (changes: Handed = {}) => {
  const done: string[] = [];
  const slotOf = (job: ParcelJob) => ({ isNow: true, runAt: NOW, data: { ...job, slot: SLOT } });
  const dependencies = handed({
    sendSlots: {
      reserve: async (job) => {
        done.push('reserve');
        return slotOf(job);
      },
      take: async (job) => {
        done.push('take');
        return slotOf(job);
      },
    },
    health: {
      admit: async () => {
        done.push('admit');
        return undefined;
      },
    },
    ledger: { pending: async (_destination, alerts) => alerts.slice(1) },
    batching: {
      batches: {
        add: async (_destination, alerts) => {
          done.push(`add ${alerts.map(({ itemId }) => itemId).join()}`);
          return [1];
        },
        seal: async () => [],
      },
      enqueueBatch: async (_destination, number) => void done.push(`enqueue ${number}`),
    },
    maxAgeMs: 3_600_000,
    now,
    ...changes,
  });
  return { done, dependencies };
};

test('says how long a message waits for its rate limit', async () => {
  const waits: number[] = [];
  const { dependencies } = setUp({
    sendSlots: {
      reserve: async (job) => ({ isNow: false, runAt: NOW + 700, data: job }),
      take: async () => undefined,
    },
    onSlotWait: (ms) => waits.push(ms),
  });
  await defer(messageRun(jobOf([1], { attempt: 1 })), dependencies);
  expect(waits).toEqual([700]);
});

describe('a message that is sent now', () => {
  test('uses its slot: nothing of that is left in the job', async () => {
    const { done, dependencies } = setUp();
    const each = messageRun(jobOf([1], { slot: SLOT, senderSlot: SLOT }));
    expect(await defer(each, dependencies)).toBeUndefined();
    expect(done).toEqual(['reserve', 'admit']);
    expect(each.job).toEqual({ ...jobOf([1]), firstTriedAt: NOW });
    expect(each.run.job).toEqual(each.job);
  });

  test('goes on after its last part, and no other message does', async () => {
    const { dependencies } = setUp();
    const progress = { id: 'message of item-1', format: 'rich', after: '1', at: NOW } as const;
    const same = messageRun(jobOf([1], { progress }));
    await defer(same, dependencies);
    expect([same.job.progress, same.run.job.progress]).toEqual([progress, undefined]);
    const other = messageRun(jobOf([2], { progress }));
    await defer(other, dependencies);
    expect(other.job.progress).toBeUndefined();
  });
});

describe('a message that waits', () => {
  test('because the daemon stops costs nothing', async () => {
    const { done, dependencies } = setUp({ isStopping: () => true });
    const job = jobOf([1]);
    expect(await defer(messageRun(job), dependencies)).toEqual({ done: false, runAt: NOW, data: job });
    expect(done).toEqual([]);
  });

  test('for its send slot keeps it', async () => {
    const { dependencies } = setUp();
    const later = async (job: ParcelJob) => ({ isNow: false, runAt: NOW + 500, data: { ...job, slot: SLOT } });
    const job = jobOf([1], { attempt: 1 });
    const sendSlots = { ...dependencies.sendSlots, reserve: later, take: later };
    const verdict = await defer(messageRun(job), { ...dependencies, sendSlots });
    expect(verdict).toEqual({ done: false, runAt: NOW + 500, data: { ...job, slot: SLOT } });
  });

  test('joins the batch where no slot is free, with what is left of its job by then', async () => {
    const { done, dependencies } = setUp();
    const sendSlots = { ...dependencies.sendSlots, take: async () => undefined };
    const uncovered = async () => [makeAlert(3)];
    const job = jobOf([1, 2, 3]);
    expect(await defer(messageRun(job), { ...dependencies, sendSlots, uncovered })).toEqual({ done: true });
    const waited = messageRun({ ...job, unlessCovered: true });
    expect(await defer(waited, { ...dependencies, sendSlots, uncovered })).toEqual({ done: true });
    expect(done).toEqual(['add item-2,item-3', 'enqueue 1', 'add item-3', 'enqueue 1']);
  });

  test('after it was refused does not join one: the same body would go out again', async () => {
    const { done, dependencies } = setUp();
    const each = messageRun(jobOf([1, 2]));
    each.run.units.push({ alerts: [makeAlert(2)], format: 'plain' });
    await defer(each, dependencies);
    await defer(messageRun(jobOf([1], { format: 'plain' })), dependencies);
    expect(done).toEqual(['reserve', 'admit', 'reserve', 'admit']);
  });

  test('for a circuit joins the batch if its job is fresh, and keeps its slot if not', async () => {
    const { done, dependencies } = setUp({ health: { admit: async () => NOW + 9000 } });
    expect(await defer(messageRun(jobOf([1, 2])), dependencies)).toEqual({ done: true });
    expect(done).toEqual(['take', 'add item-2', 'enqueue 1']);
    const tried = jobOf([1], { attempt: 1, firstTriedAt: NOW - 5 });
    expect(await defer(messageRun(tried), dependencies)).toEqual({
      done: false,
      runAt: NOW + 9000,
      data: { ...tried, slot: SLOT },
    });
  });

  test('past its largest age has its last try: no circuit keeps it', async () => {
    const { done, dependencies } = setUp();
    const old = jobOf([1], { attempt: 5, firstTriedAt: NOW - 3_600_001 });
    expect(await defer(messageRun(old), dependencies)).toBeUndefined();
    expect(done).toEqual(['reserve']);
  });
});
