/** Jobs that run twice at the same time, and parcels that share alerts. */
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { parcelJob } from '../../src/queue/job.ts';
import { DESTINATION, failure, items, range, setUpDeliveries } from '../support/deliveries.ts';
import { makeAlert } from '../support/numbered.ts';

const parcelOf = (...numbers: number[]) =>
  parcelJob({ destination: DESTINATION, alerts: numbers.map((n) => makeAlert(n)) });

describe('a parcel', () => {
  test('that stood still on its way, and was sent by another run, sends no more than what it had begun', async () => {
    const resumed = Promise.withResolvers<void>();
    const stopped = Promise.withResolvers<void>();
    let tries = 0;
    const { start, sent } = setUpDeliveries({
      isBatched: false,
      respond: async () => {
        tries += 1;
        if (tries > 1) return undefined;
        stopped.resolve();
        await resumed.promise;
        return undefined;
      },
    });
    const first = start(parcelOf(...range(1, 10)));
    await stopped.promise;
    expect(await start(parcelOf(...range(1, 10)))).toEqual({ done: true });
    resumed.resolve();
    const verdict = await first;
    expect(sent).toHaveLength(11);
    if (!verdict.done) expect(await start(verdict.data)).toEqual({ done: true });
    expect(sent).toHaveLength(11);
  });

  test('that another one overlaps steps back after one repeat, and ends', async () => {
    const { start, sent } = setUpDeliveries({
      isBatched: false,
      respond: () => delay(5, undefined),
    });
    const both = [start(parcelOf(...range(1, 20))), start(parcelOf(...range(1, 18)))];
    for (const verdict of await Promise.all(both)) {
      if (!verdict.done) expect(await start(verdict.data)).toEqual({ done: true });
    }
    expect(new Set(sent.flatMap((message) => message.items))).toEqual(new Set(items(...range(1, 20))));
    expect(sent.length).toBeLessThanOrEqual(22);
  });
});

describe('a job that runs twice', () => {
  /** The first run stands still in its request until the second has ended. */
  const runTwice = async (first: 'refused' | 'taken', second: 'refused' | 'taken') => {
    const resumed = Promise.withResolvers<void>();
    const stopped = Promise.withResolvers<void>();
    const answer = (how: 'refused' | 'taken') => (how === 'refused' ? failure('destination-dead') : undefined);
    let tries = 0;
    const world = setUpDeliveries({
      isBatched: false,
      respond: async () => {
        tries += 1;
        if (tries > 1) return answer(second);
        stopped.resolve();
        await resumed.promise;
        return answer(first);
      },
    });
    await world.ledger.recordWaiting([parcelOf(1)]);
    const slow = world.start(parcelOf(1));
    await stopped.promise;
    expect(await world.start(parcelOf(1))).toEqual({ done: true });
    resumed.resolve();
    await slow;
    return world;
  };

  test('and fails for good after the other run delivered: it stays delivered, and nothing is dead', async () => {
    const { states, dead, died, attempts, statistics } = await runTwice('refused', 'taken');
    expect(await states(1)).toEqual(['delivered']);
    expect(await dead.list()).toEqual([]);
    expect(died).toEqual([]);
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['delivered']);
    expect(await statistics()).toMatchObject([{ delivered: 1 }]);
  });

  test('and delivers after the other run failed for good: it is delivered, and its dead letter goes', async () => {
    const { states, dead, statistics } = await runTwice('taken', 'refused');
    expect(await states(1)).toEqual(['delivered']);
    expect(await dead.list()).toEqual([]);
    expect(await statistics()).toMatchObject([{ delivered: 1 }]);
  });

  test('and delivers twice counts once', async () => {
    const { states, statistics } = await runTwice('taken', 'taken');
    expect(await states(1)).toEqual(['delivered']);
    expect(await statistics()).toMatchObject([{ delivered: 1 }]);
  });
});

test('a refused message is not sent as it was where the daemon ends before it is sent more plainly', async () => {
  const stopping = new AbortController();
  let tries = 0;
  const { start } = setUpDeliveries({
    respond: () => {
      tries += 1;
      if (tries === 2) stopping.abort();
      return failure('bad-message');
    },
  });
  expect(await start(parcelOf(1), stopping.signal)).toMatchObject({
    done: false,
    data: { format: 'plain', attempt: 0 },
  });
});

test('a ledger that cannot be written is no failure of the receiver', async () => {
  const world: ReturnType<typeof setUpDeliveries> = setUpDeliveries({
    respond: async () => {
      // What is written after a delivery meets something else there.
      await world.redis.set(`${world.prefix}:waiting`, 'no counts');
      return undefined;
    },
  });
  const { start, redis, prefix, ledger, sent } = world;
  await ledger.recordWaiting([parcelOf(1)]);
  await redis.del(`${prefix}:waiting`);
  await expect(start(parcelOf(1))).rejects.toThrow('WRONGTYPE');
  await redis.del(`${prefix}:waiting`);
  expect(await start(parcelOf(1))).toEqual({ done: true });
  expect(sent).toHaveLength(1);
  const [delivery] = (await ledger.read(makeAlert(1).id))?.deliveries ?? [];
  expect(delivery?.attempts.map(({ outcome }) => outcome)).toEqual(['delivered']);
});
