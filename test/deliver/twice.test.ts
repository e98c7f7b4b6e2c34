/** The same in two places at once: jobs that run twice, parcels that share alerts, messages that two would change. */
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Alert } from '../../src/alert.ts';
import { parcelJob } from '../../src/queue/job.ts';
import { DESTINATION, failure, items, range, setUpDeliveries } from '../support/deliveries.ts';
import { makeAlert } from '../support/numbered.ts';

const parcelOf = (...numbers: number[]) =>
  parcelJob({ destination: DESTINATION, alerts: numbers.map((n) => makeAlert(n)) });

describe('a parcel', () => {
  test('that was frozen on its way, and was told by another run, tells no more than what it had begun', async () => {
    const thawed = Promise.withResolvers<void>();
    const frozen = Promise.withResolvers<void>();
    let tries = 0;
    const { start, sent } = setUpDeliveries({
      gathers: false,
      respond: async () => {
        tries += 1;
        if (tries > 1) return undefined;
        frozen.resolve();
        await thawed.promise;
        return undefined;
      },
    });
    const first = start(parcelOf(...range(1, 10)));
    await frozen.promise;
    expect(await start(parcelOf(...range(1, 10)))).toEqual({ done: true });
    thawed.resolve();
    const verdict = await first;
    expect(sent).toHaveLength(11);
    if (!verdict.done) expect(await start(verdict.data)).toEqual({ done: true });
    expect(sent).toHaveLength(11);
  });

  test('that another one overlaps steps back after one repeat, and ends', async () => {
    const { start, sent } = setUpDeliveries({
      gathers: false,
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

test('the books keep an end that comes in the same moment as a setback', async () => {
  const { ledger, states } = setUpDeliveries();
  const alert = makeAlert(1);
  const at = '2026-11-20T12:00:00.000Z';
  await ledger.recordWaiting([{ destination: DESTINATION, alerts: [alert] }]);
  const delivered = { state: 'delivered', attempt: { at, outcome: 'delivered', durationMs: 1 } } as const;
  const waiting = { state: 'waiting', attempt: { at, outcome: 'retrying', durationMs: 1 } } as const;
  await Promise.all([
    ledger.recordAttempt(DESTINATION, [alert], delivered),
    ledger.recordAttempt(DESTINATION, [alert], waiting),
  ]);
  expect(await states(1)).toEqual(['delivered']);
  expect(await ledger.waitingByDestination()).toEqual({});
});

describe('a message that grows', () => {
  const sameTransaction = (n: number): Alert => ({ ...makeAlert(n), txHash: `0x${'a'.repeat(64)}` });
  const jobOf = (n: number) => parcelJob({ destination: DESTINATION, alerts: [sameTransaction(n)] });

  test('is changed by one at a time: what comes meanwhile waits for it, and nothing is undone', async () => {
    const begun = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const { start, sent } = setUpDeliveries({
      respond: async ({ items: told, amends }) => {
        if (amends === undefined || !told.includes('item-2')) return undefined;
        begun.resolve();
        await answered.promise;
        return undefined;
      },
    });
    await start(jobOf(1));
    const slow = start(jobOf(2));
    await begun.promise;
    const waiting = await start(jobOf(3));
    answered.resolve();
    await slow;
    if (waiting.done) throw new Error('expected another run');
    await start(waiting.data);
    await start(jobOf(4));
    expect(sent.map(({ at: _at, to: _to, ...message }) => message)).toEqual([
      { items: items(1) },
      { items: items(1, 2), amends: 'handle-1' },
      { items: items(1, 2, 3), amends: 'handle-2' },
      { items: items(1, 2, 3, 4), amends: 'handle-3' },
    ]);
  });

  test('and that cannot be changed, in words that nobody knows, does not keep what belongs to it waiting', async () => {
    const { add, run, sent, dead } = setUpDeliveries({
      respond: ({ amends }) => (amends === undefined ? undefined : failure('unknown')),
    });
    add([sameTransaction(1)]);
    await run();
    add([sameTransaction(2)]);
    await run();
    expect(sent[1]).toMatchObject({ items: items(2), replyTo: 'handle-1' });
    expect(sent[1]?.at).toBeLessThan(60_000);
    expect(await dead.count()).toBe(0);
  });
});

describe('a destination that moved', () => {
  test('is announced also where the daemon ended before it could say so', async () => {
    const announced: string[] = [];
    const { start } = setUpDeliveries({
      respond: ({ to }) => (to === 'C9' ? undefined : failure('re-address', { newAddress: 'C9' })),
      onMoved: async (_destination, address) => {
        announced.push(address);
        if (announced.length === 1) throw new Error('ended');
      },
    });
    await expect(start(parcelOf(1))).rejects.toThrow('ended');
    await start(parcelOf(1));
    await start(parcelOf(2));
    expect(announced).toEqual(['C9', 'C9']);
  });
});

test('what was refused is not told as it was where the daemon ends before it is told more plainly', async () => {
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

test('books that cannot be written are no failure of the receiver', async () => {
  const world: ReturnType<typeof setUpDeliveries> = setUpDeliveries({
    respond: async () => {
      // What is written after a delivery meets something else there.
      await world.redis.set(`${world.prefix}:circuit:${DESTINATION.id}`, 'no circuit');
      return undefined;
    },
  });
  const { start, redis, prefix, ledger, sent } = world;
  await expect(start(parcelOf(1))).rejects.toThrow('WRONGTYPE');
  await redis.del(`${prefix}:circuit:${DESTINATION.id}`);
  expect(await start(parcelOf(1))).toEqual({ done: true });
  expect(sent).toHaveLength(1);
  const [delivery] = (await ledger.read(makeAlert(1).id))?.deliveries ?? [];
  expect(delivery?.attempts.map(({ outcome }) => outcome)).toEqual(['delivered']);
});
