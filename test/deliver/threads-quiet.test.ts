import { describe, expect, test, vi } from 'vitest';
import type { Alert } from '../../src/alert.ts';
import { type DeliveriesSetUp, items, range, setUpDeliveries } from '../support/deliveries.ts';
import { hashOf, makeAlert } from '../support/numbered.ts';

/** Seconds between two findings of an incident that grows from one to six protocols in 20 s. */
const STEP_MS = 4000;

describe('an incident that grows where a message cannot be changed', () => {
  const setUp = (options: DeliveriesSetUp = {}) => {
    const world = setUpDeliveries({ canAmend: false, groupWaitMs: 2000, ...options });
    const { begun, time, add, run } = world;
    /** One protocol each; read when it is added. */
    const found = (n: number, txHash = hashOf(1)): Alert => ({
      ...makeAlert(n),
      protocol: `P${n}`,
      txHash,
      readAt: new Date(time.now).toISOString(),
    });
    const grow = async (from: number, to: number): Promise<void> => {
      for (const n of range(from, to)) {
        const at = (n - 1) * STEP_MS;
        await run(at);
        time.now = begun + at;
        add([found(n)]);
      }
    };
    return { ...world, found, grow };
  };

  test.each([
    ['waits for more', 2000],
    ['does not', 0],
  ])(
    'makes three sounds where a message %s: the last says all that was found since the second',
    async (_what, groupWaitMs) => {
      const { grow, run, sent, states } = setUp({ groupWaitMs });
      await grow(1, 6);
      await run();
      const [first, second] = [groupWaitMs, STEP_MS + groupWaitMs];
      expect(sent).toEqual([
        { at: first, to: 'C1', items: items(1) },
        { at: second, to: 'C1', items: items(2), replyTo: 'handle-1', shows: items(1, 2) },
        {
          at: second + 30_000 + Math.max(groupWaitMs, 1000),
          to: 'C1',
          items: items(3, 4, 5, 6),
          replyTo: 'handle-2',
          shows: items(1, 2, 3, 4, 5, 6),
        },
      ]);
      expect(new Set(await states(...range(1, 6)))).toEqual(new Set(['delivered']));
    },
  );

  test('holds up nothing of another transaction, also where that waits in the same batch', async () => {
    const { grow, add, run, sent, found } = setUp();
    await grow(1, 3);
    add([found(7, hashOf(2))]);
    add([found(8, hashOf(1))]);
    await run();
    expect(sent.map(({ at, items: own }) => [at, ...own])).toEqual([
      [2000, 'item-1'],
      [6000, 'item-2'],
      [10_000, 'item-7'],
      [38_000, 'item-3', 'item-8'],
    ]);
  });

  test('takes no send slot from others while it waits', async () => {
    const { grow, add, run, sent, found } = setUp({ rate: { perSecond: 0.33, burst: 3 } });
    await grow(1, 3);
    add([found(7, hashOf(2)), found(8, hashOf(3)), found(9, hashOf(4))]);
    await run(25_000);
    expect(
      sent
        .slice(2)
        .flatMap(({ items: own }) => own)
        .toSorted(),
    ).toEqual(items(7, 8, 9));
    await run();
    expect(sent.at(-1)?.items).toEqual(items(3));
  });

  test('asks Redis no more than before: once before the first message is sent, and once after it', async () => {
    const { grow, run, redis } = setUp();
    const asked = vi.spyOn(redis, 'mget');
    await grow(1, 1);
    await run();
    expect(asked.mock.calls.filter(([key]) => String(key).includes(':thread:'))).toHaveLength(2);
  });

  test('is heard at once where somebody has acknowledged it since', async () => {
    const { grow, run, sent, acknowledged, time } = setUp();
    await grow(1, 2);
    await run();
    acknowledged.at = time.now + 1;
    await grow(3, 3);
    await run();
    expect(sent.map(({ at }) => at)).toEqual([2000, 6000, 10_000]);
  });

  test('is put off once: what has waited goes out whatever was sent meanwhile', async () => {
    const { grow, add, run, sent, found, time, begun, acknowledged } = setUp();
    await grow(1, 3);
    await run(33_000);
    time.now = begun + 33_500;
    add([found(4)]);
    // So this one goes at once, just before the one that waits.
    acknowledged.at = time.now;
    await run();
    expect(sent.map(({ at, items: own }) => [at, ...own])).toEqual([
      [2000, 'item-1'],
      [6000, 'item-2'],
      [35_500, 'item-4'],
      [38_000, 'item-3'],
    ]);
  });

  test('loses nothing and doubles nothing where a daemon is killed at any step after it was put off', async () => {
    const { grow, run, start, sent, jobs, begun, time, states } = setUp();
    await grow(1, 4);
    await run(20_000);
    const waiting = [...jobs.values()];
    expect(waiting).toHaveLength(2);
    time.now = begun + 36_000;
    // The run was killed before its end was noted: the queue gives the same job again.
    for (const { data } of waiting) expect(await start(data)).toEqual({ done: true });
    await run();
    expect(sent.slice(2).map(({ items: own }) => own)).toEqual([items(3, 4)]);
    expect(await states(3, 4)).toEqual(['delivered', 'delivered']);
  });
});
