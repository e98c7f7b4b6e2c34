import { describe, expect, test } from 'vitest';
import { batch, dropBatch } from '../../src/deliver/job-stages.ts';
import { DESTINATION, failure, items, OTHER, range, setUpDeliveries as setUp } from '../support/deliveries.ts';
import { handed, jobOf, jobRun, NOW } from '../support/delivery-runs.ts';
import { hashOf, makeAlert } from '../support/numbered.ts';

describe('alerts that wait for a destination', () => {
  test('are sent as one message at its next slot, each once, and the ledger says delivered of all', async () => {
    const { add, run, sent, states } = setUp({ rate: { perSecond: 1 } });
    for (const n of range(1, 30)) add([makeAlert(n)]);
    await run();
    expect(sent).toEqual([
      { at: 0, to: 'C1', items: items(1) },
      { at: 1000, to: 'C1', items: items(...range(2, 30)) },
    ]);
    expect(new Set(await states(...range(1, 30)))).toEqual(new Set(['delivered']));
  });

  test('stay single messages while they are few, each with a slot of its own', async () => {
    const { add, run, sent } = setUp({ rate: { perSecond: 1 } });
    add(range(1, 3).map((n) => makeAlert(n)));
    await run();
    expect(sent.map(({ at, items: sentItems }) => [at, ...sentItems])).toEqual([
      [0, 'item-1'],
      [1000, 'item-2'],
      [2000, 'item-3'],
    ]);
  });

  test('come as digests that keep a growing distance, and the last alerts have their slot', async () => {
    const { add, run, sent, time, begun } = setUp({ rate: { perSecond: 1, perMinute: 20 } });
    for (let second = 0; second < 40; second += 1) {
      time.now = begun + second * 1000;
      add(range(second * 10, second * 10 + 9).map((n) => makeAlert(n)));
      await run(second * 1000);
    }
    await run();
    expect(sent.map(({ at }) => at)).toEqual([0, 1000, 3000, 7000, 15_000, 25_000, 35_000, 45_000]);
    expect(sent.flatMap((message) => message.items).toSorted()).toEqual(items(...range(0, 399)).toSorted());
  });

  test('come as one digest and one more, of however many pages: no digest takes the next slot of a burst', async () => {
    const { add, run, sent } = setUp({ rate: { perSecond: 1, burst: 5 } });
    for (let page = 0; page < 20; page += 1) add(range(page * 100, page * 100 + 99).map((n) => makeAlert(n)));
    await run();
    expect(sent.map(({ at, items: { length } }) => [at, length])).toEqual([
      [0, 100],
      [1000, 1900],
    ]);
  });

  test('are no digest as six findings of one transaction: the next alert does not wait', async () => {
    const { add, run, sent } = setUp();
    add(range(1, 6).map((n) => ({ ...makeAlert(n), txHash: hashOf(1) })));
    add([makeAlert(7)]);
    await run();
    expect(sent).toEqual([
      { at: 0, to: 'C1', items: items(...range(1, 6)) },
      { at: 0, to: 'C1', items: items(7) },
    ]);
  });

  test('are a digest as six alerts of six transactions: the next alert waits', async () => {
    const { add, run, sent } = setUp();
    add(range(1, 6).map((n) => makeAlert(n)));
    add([makeAlert(7)]);
    await run();
    expect(sent).toEqual([
      { at: 0, to: 'C1', items: items(...range(1, 6)) },
      { at: 1000, to: 'C1', items: items(7) },
    ]);
  });

  test('are sealed when they are first tried: what comes later is another message', async () => {
    const { add, run, sent, answers, states } = setUp({ rate: { perSecond: 1 } });
    for (const n of range(1, 10)) add([makeAlert(n)]);
    await run(0);
    answers.C1 = [failure('rate-limited', { retryAfterMs: 5000 })];
    await run(1000);
    for (const n of range(11, 20)) add([makeAlert(n)]);
    await run();
    expect(sent.map((message) => message.items)).toEqual([items(1), items(...range(2, 10)), items(...range(11, 20))]);
    expect(sent[1]?.at).toBeGreaterThanOrEqual(6000);
    expect(await states(2, 20)).toEqual(['delivered', 'delivered']);
  });

  test('do not hold up another destination', async () => {
    const { add, run, sent } = setUp({ rate: { perSecond: 1 } });
    for (const n of range(1, 100)) add([makeAlert(n)]);
    add([makeAlert(101)], OTHER);
    await run();
    expect(sent.find(({ to }) => to === 'C2')).toEqual({ at: 0, to: 'C2', items: items(101) });
  });

  test('survive a crash at any step: the same parcels again send nothing twice', async () => {
    const { add, run, sent, jobs, batches } = setUp({ rate: { perSecond: 1 } });
    const alerts = range(1, 10).map((n) => makeAlert(n));
    for (const alert of alerts) add([alert]);
    // Added to a batch whose job was never queued.
    await batches.add(DESTINATION, alerts.slice(5));
    await run(0);
    const [id, job] = [...jobs][0] ?? [];
    await run();
    // The job ran again, as if its end had not been written.
    if (id !== undefined && job) jobs.set(id, job);
    for (const alert of alerts) add([alert]);
    await run();
    expect(sent.flatMap((message) => message.items).toSorted()).toEqual(items(...range(1, 10)).toSorted());
  });
});

describe('alerts of a kind that waits for more', () => {
  const WAIT = { groupWaitMs: 2000 };
  const finding = (n: number, transaction: number) => ({ ...makeAlert(n), txHash: hashOf(transaction) });

  test('are one message where they are of one transaction and come within the wait', async () => {
    const { add, run, sent, time, begun, states } = setUp(WAIT);
    for (const n of range(1, 6)) {
      time.now = begun + n * 300;
      add([finding(n, 1)]);
      await run(n * 300);
    }
    await run();
    expect(sent).toEqual([{ at: 2300, to: 'C1', items: items(...range(1, 6)) }]);
    expect(new Set(await states(...range(1, 6)))).toEqual(new Set(['delivered']));
  });

  test('do not wait where programs read', async () => {
    const { add, run, sent } = setUp({ ...WAIT, isForPeople: ({ id }) => id !== OTHER.id });
    add([finding(1, 1)]);
    add([finding(2, 1)], OTHER);
    await run();
    expect(sent).toEqual([
      { at: 0, to: 'C2', items: items(2) },
      { at: 2000, to: 'C1', items: items(1) },
    ]);
  });

  test('wait no longer for those that come meanwhile; what comes later waits for its own time', async () => {
    const { add, run, sent, time, begun } = setUp(WAIT);
    for (const n of range(0, 4)) {
      await run(n * 900 - 1);
      time.now = begun + n * 900;
      add([finding(n, n)]);
      await run(n * 900);
    }
    await run();
    const byTime = Object.fromEntries(Map.groupBy(sent, ({ at }) => at));
    const itemsAt = (at: number) => byTime[at]?.flatMap((message) => message.items).toSorted();
    expect(Object.keys(byTime)).toEqual(['2000', '4700']);
    expect([itemsAt(2000), itemsAt(4700)]).toEqual([items(0, 1, 2), items(3, 4)]);
  });

  test('wait for each destination by itself', async () => {
    const { add, run, sent, time, begun } = setUp(WAIT);
    add([finding(1, 1)]);
    await run(0);
    time.now = begun + 1000;
    add([finding(2, 1)], OTHER);
    await run();
    expect(sent.map(({ at, to }) => [at, to])).toEqual([
      [2000, 'C1'],
      [3000, 'C2'],
    ]);
  });

  test('of a retry do not wait again', async () => {
    const { add, run, sent, answers } = setUp(WAIT);
    answers.C1 = [failure('rate-limited', { retryAfterMs: 5000 })];
    add([finding(1, 1)]);
    await run();
    // The five seconds, and half of the second by which retries are spread.
    expect(sent).toEqual([{ at: 7500, to: 'C1', items: items(1) }]);
  });

  test('are not waited for by a sample', async () => {
    const { add, run, sent } = setUp(WAIT);
    add([{ ...makeAlert(1), type: 'test.sample' }]);
    await run();
    expect(sent).toEqual([{ at: 0, to: 'C1', items: items(1) }]);
  });

  test('survive a crash at any step, and nothing is sent twice', async () => {
    const { add, run, sent, jobs, batches } = setUp(WAIT);
    const alerts = range(1, 4).map((n) => finding(n, 1));
    // Added to a batch whose job was never queued.
    await batches.add(DESTINATION, alerts);
    for (const alert of alerts) add([alert]);
    await run(1000);
    expect([...jobs.values()].map(({ data }) => data.batchNumber)).toEqual([1]);
    for (const alert of alerts) add([alert]);
    await run(3000);
    for (const alert of alerts) add([alert]);
    await run();
    expect(sent).toEqual([{ at: 2000, to: 'C1', items: items(...range(1, 4)) }]);
  });
});

describe('the stage', () => {
  const setUpStage = (isNow: boolean) => {
    const done: string[] = [];
    const dependencies = handed({
      batching: {
        batches: {
          add: async (_destination, alerts) => {
            done.push(`add ${alerts.length}`);
            return [3];
          },
          seal: async (_destination, number) => {
            done.push(`seal ${number}`);
            return [makeAlert(1), makeAlert(2)];
          },
          drop: async (_destination, number) => void done.push(`drop ${number}`),
        },
        enqueueBatch: async (_destination, number) => void done.push(`enqueue ${number}`),
      },
      sendSlots: { reserve: async (job) => ({ isNow, runAt: NOW + 50, data: { ...job, slot: SLOT } }) },
      ledger: { pending: async (_destination, alerts) => alerts.slice(1) },
    });
    return { done, dependencies };
  };
  const SLOT = { at: NOW, shift: 0 };

  test('lets a fresh job pass where no batch is open, and join where one is', async () => {
    const { done, dependencies } = setUpStage(true);
    expect(await batch(jobRun(jobOf([1]), { alerts: [makeAlert(1)] }), dependencies)).toBeUndefined();
    expect(done).toEqual([]);
    const joining = jobRun(jobOf([1]), { alerts: [makeAlert(1)], hasOpenBatch: true });
    expect(await batch(joining, dependencies)).toEqual({ done: true });
    expect(done).toEqual(['add 1', 'enqueue 3']);
  });

  test('adds nothing where nothing is left', async () => {
    const { done, dependencies } = setUpStage(true);
    expect(await batch(jobRun(jobOf([1]), { hasOpenBatch: true }), dependencies)).toEqual({ done: true });
    expect(done).toEqual([]);
  });

  test('seals a batch only when its send slot has come, and then goes on with what is pending in it', async () => {
    const job = jobOf([], { batchNumber: 3 });
    const early = setUpStage(false);
    const data = { ...job, slot: SLOT };
    expect(await batch(jobRun(job), early.dependencies)).toEqual({ done: false, runAt: NOW + 50, data });
    expect(early.done).toEqual([]);
    const due = setUpStage(true);
    const run = jobRun(job);
    expect(await batch(run, due.dependencies)).toBeUndefined();
    expect(due.done).toEqual(['seal 3']);
    expect(run).toMatchObject({ job: data, alerts: [makeAlert(2)] });
  });

  test('a batch is dropped at the end of its own job, not of any other', async () => {
    const { done, dependencies } = setUpStage(true);
    await dropBatch(jobOf([1]), dependencies);
    await dropBatch(jobOf([], { batchNumber: 3 }), dependencies);
    expect(done).toEqual(['drop 3']);
  });
});
