import { describe, expect, test } from 'vitest';
import type { Alert } from '../../src/alert.ts';
import { parcelJob } from '../../src/queue/job.ts';
import { DESTINATION, failure, items, setUpDeliveries as setUp } from '../support/deliveries.ts';
import { makeAlert } from '../support/numbered.ts';

describe('what belongs together', () => {
  const sameTransaction = (n: number, protocol: string): Alert => ({
    ...makeAlert(n),
    protocol,
    txHash: `0x${'a'.repeat(64)}`,
  });

  test('findings of one transaction take the place of the message about the first', async () => {
    const { add, run, sent, time, states } = setUp();
    add([sameTransaction(1, 'A')]);
    await run();
    time.now += 5000;
    add([sameTransaction(2, 'A')]);
    await run();
    time.now += 5000;
    add([sameTransaction(3, 'A')]);
    await run();
    expect(sent).toEqual([
      { at: 0, to: 'C1', items: items(1) },
      { at: 5000, to: 'C1', items: items(1, 2), amends: 'handle-1' },
      { at: 10_000, to: 'C1', items: items(1, 2, 3), amends: 'handle-2' },
    ]);
    expect(await states(1, 2, 3)).toEqual(['delivered', 'delivered', 'delivered']);
  });

  test('what is of another protocol, or worse, is sent by itself: nobody hears a message grow', async () => {
    const { add, run, sent } = setUp();
    const mild = (n: number, protocol: string): Alert => ({
      ...sameTransaction(n, protocol),
      type: 'inspection.suspecious',
    });
    const steps = [
      ...[sameTransaction(1, 'Decoy'), mild(2, 'Vault'), sameTransaction(3, 'Vault')],
      ...[sameTransaction(4, 'Decoy'), mild(5, 'Vault')],
    ];
    for (const alert of steps) {
      add([alert]);
      await run();
    }
    expect(sent.map(({ at: _at, to: _to, ...message }) => message)).toEqual([
      ...[{ items: items(1) }, { items: items(2) }, { items: items(3) }],
      { items: items(3, 4), amends: 'handle-3' },
      { items: items(3, 4, 5), amends: 'handle-4' },
    ]);
  });

  test('where the message cannot be changed any more, the next stands under it', async () => {
    const { add, run, sent, answers, states } = setUp();
    add([sameTransaction(1, 'A')]);
    await run();
    answers.C1 = [failure('bad-message')];
    add([sameTransaction(2, 'A')]);
    await run();
    expect(sent[1]).toEqual({ at: 0, to: 'C1', items: items(2), replyTo: 'handle-1' });
    expect(await states(2)).toEqual(['delivered']);
  });

  test('a follow-up stands under what it follows', async () => {
    const { add, run, sent } = setUp();
    add([makeAlert(1)]);
    await run();
    add([{ ...makeAlert(2), followUp: { of: makeAlert(1).id, was: 'critical', is: 'ok' } }]);
    await run();
    expect(sent[1]).toMatchObject({ items: items(2), replyTo: 'handle-1' });
  });

  test('an announcement about an alert stands under it, and what follows does not stand under the announcement', async () => {
    const { add, run, sent } = setUp();
    add([sameTransaction(1, 'A')]);
    await run();
    const { txHash, ...news } = sameTransaction(2, 'Tocsin');
    const below = makeAlert(1).id;
    const announced = { ...news, source: 'notifications', type: 'tocsin.alert.acknowledged', below } as const;
    add([{ ...announced, ...(txHash === undefined ? {} : { txHash }) }]);
    await run();
    expect(sent[1]).toMatchObject({ items: items(2), replyTo: 'handle-1' });
    expect(sent[1]).not.toHaveProperty('amends');
    add([sameTransaction(3, 'A')]);
    await run();
    expect(sent[2]).toMatchObject({ items: items(1, 3), amends: 'handle-1' });
  });
});

describe('a message that grows', () => {
  const sameTransaction = (n: number): Alert => ({ ...makeAlert(n), txHash: `0x${'a'.repeat(64)}` });
  const jobOf = (n: number) => parcelJob({ destination: DESTINATION, alerts: [sameTransaction(n)] });

  test('is changed by one at a time: what comes meanwhile waits for it, and nothing is undone', async () => {
    const begun = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const { start, sent } = setUp({
      respond: async ({ items: tried, amends }) => {
        if (amends === undefined || !tried.includes('item-2')) return undefined;
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
    const { add, run, sent, dead } = setUp({
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
