import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { slice } from '../../src/chunks.ts';
import { send } from '../../src/deliver/send.ts';
import type { AttemptInput, AttemptResult } from '../../src/deliver/stage.ts';
import type { Earlier } from '../../src/deliver/thread-store.ts';
import type { Threads } from '../../src/deliver/threads.ts';
import type { ParcelJob } from '../../src/queue/job.ts';
import { type Handed, handed, jobOf, messageOf, messageRun, NO_THREADS, NOW, now } from '../support/delivery-runs.ts';
import { makeAlert } from '../support/numbered.ts';

const DELIVERED: AttemptResult = { kind: 'delivered', receipt: { handle: 'new' }, isRepeat: false };
const EARLIER: Earlier = { handle: 'old', alerts: [makeAlert(1)] };

interface SetUp {
  earlier?: Earlier;
  isTaken?: boolean;
  answers?: (AttemptResult | Error)[];
  changes?: Handed;
}

const setUp = ({ earlier, isTaken = false, answers = [], changes = {} }: SetUp = {}) => {
  const done: string[] = [];
  const tried: AttemptInput[] = [];
  const threads: Threads = {
    ...NO_THREADS,
    find: async () => earlier,
    remember: async (_destination, alerts, { handle }) =>
      void done.push(`remember ${handle}: ${alerts.map(({ itemId }) => itemId).join()}`),
    claim: async () => (isTaken ? 'taken' : async () => void done.push('unclaim')),
  };
  const dependencies = handed({
    compose: ({ destination, alerts }) => slice(() => [messageOf({ ...jobOf([]), destination, alerts })]),
    attempt: async (input) => {
      tried.push(input);
      const { amends, message } = input;
      const place = amends ?? message.replyTo;
      done.push(`${amends === undefined ? 'send' : 'amend'} ${message.id}${place === undefined ? '' : ` at ${place}`}`);
      const answer = answers.shift() ?? DELIVERED;
      if (answer instanceof Error) throw answer;
      return answer;
    },
    threads,
    canAmend: true,
    now,
    ...changes,
  });
  const run = async (job: ParcelJob = jobOf([2])) => {
    const each = messageRun(job);
    expect(await send(each, dependencies)).toBeUndefined();
    return each.result;
  };
  return { done, tried, run, dependencies };
};

test('sends nothing where another run has the job by now', async () => {
  const { done, dependencies } = setUp();
  const each = messageRun(jobOf([2]));
  each.run.holdsLock = async () => false;
  expect(await send(each, dependencies)).toBeUndefined();
  expect(each.result).toBeUndefined();
  expect(done).toEqual(['unclaim']);
});

const fails = () => {
  throw new Error('not composable');
};

test('sends a message by itself, and remembers how to find it', async () => {
  const { done, tried, run } = setUp();
  expect(await run(jobOf([2], { attempt: 2, firstTriedAt: NOW - 5, unknownSince: NOW - 3 }))).toEqual(DELIVERED);
  expect(done).toEqual(['send message of item-2', 'remember new: item-2', 'unclaim']);
  expect(tried).toMatchObject([{ attempt: 3, firstTriedAt: NOW - 5, unknownSince: NOW - 3, canBePlainer: true }]);
});

test('whether somebody has acknowledged is asked once the message is recorded: whoever does so later finds it', async () => {
  const recorded = Promise.withResolvers<boolean>();
  const order: string[] = [];
  const { run } = setUp({
    answers: [{ ...DELIVERED, isRepeat: recorded.promise } as AttemptResult],
    changes: {
      withButtons: async (message) => ({ message, sent: async (handle) => void order.push(`sent ${handle}`) }),
    },
  });
  const running = run();
  await setImmediate();
  order.push('recorded');
  recorded.resolve(false);
  await running;
  expect(order).toEqual(['recorded', 'sent new']);
});

test('several alerts can always be sent more plainly, a single one until no format is left', async () => {
  const { tried, run } = setUp();
  await run(jobOf([1], { format: 'minimal' }));
  await run(jobOf([1, 2], { format: 'minimal' }));
  expect(tried.map(({ canBePlainer }) => canBePlainer)).toEqual([false, true]);
});

test('a message in parts goes on after the last one', async () => {
  const { tried, run } = setUp();
  await run(jobOf([1], { progress: { id: 'x', format: 'rich', after: '2', at: NOW } }));
  expect(tried[0]?.message.progress).toBe('2');
});

describe('where an earlier message is about the same transaction', () => {
  test('that message grows, and only the new alerts are delivered by it', async () => {
    const { done, tried, run } = setUp({ earlier: EARLIER });
    await run();
    expect(done).toEqual(['amend message of item-1,item-2 at old', 'remember new: item-2', 'unclaim']);
    expect(tried[0]?.message.alerts).toEqual([makeAlert(2)]);
  });

  test.each<[string, SetUp, Partial<ParcelJob>]>([
    ['cannot be changed', { answers: [{ kind: 'plainer' }] }, {}],
    ['is of a kind that cannot change messages', { changes: { canAmend: false } }, {}],
    ['was not changed in two tries', {}, { attempt: 2 }],
    ['has nothing that could grow', { earlier: { handle: 'old', alerts: [] } }, {}],
    ['would not stay one message', { changes: { compose: () => slice(() => []) } }, {}],
    ['cannot be composed any more', { changes: { compose: fails } }, {}],
    ['is changed by another job for too long', { isTaken: true }, { yields: 5 }],
  ])('and %s, the new one is sent below it', async (_what, setting, job) => {
    const { done, run } = setUp({ earlier: EARLIER, ...setting });
    expect(await run(jobOf([2], job))).toEqual(DELIVERED);
    expect(done.find((step) => step.startsWith('send'))).toBe('send message of item-2 at old');
  });

  test('and another job changes it now, nothing is sent yet', async () => {
    const { done, run } = setUp({ earlier: EARLIER, isTaken: true });
    expect(await run()).toEqual({ kind: 'claimed' });
    expect(done).toEqual([]);
  });
});

test('where no message can be found again, nothing is asked, claimed or remembered', async () => {
  const { done, run } = setUp({ earlier: EARLIER, changes: { givesHandle: () => false } });
  await run();
  expect(done).toEqual(['send message of item-2']);
});

test('the claim ends also where the attempt throws', async () => {
  const { done, run } = setUp({ answers: [new Error('no Redis')] });
  await expect(run()).rejects.toThrow('no Redis');
  expect(done).toEqual(['send message of item-2', 'unclaim']);
});
