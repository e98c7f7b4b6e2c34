import { describe, expect, test } from 'vitest';
import type { Alert } from '../../src/alert.ts';
import { createThreadStore } from '../../src/deliver/thread-store.ts';
import { createThreads } from '../../src/deliver/threads.ts';
import { parcelJob } from '../../src/queue/job.ts';
import {
  DESTINATION,
  type DeliveriesSetUp,
  failure,
  INCIDENT_WINDOW_MS,
  items,
  setUpDeliveries as setUp,
} from '../support/deliveries.ts';
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

  test('where the message cannot be changed any more, the next stands under it', async () => {
    const { add, run, sent, answers, states } = setUp();
    add([sameTransaction(1, 'A')]);
    await run();
    answers.C1 = [failure('bad-message')];
    add([sameTransaction(2, 'A')]);
    await run();
    expect(sent.slice(1)).toEqual([{ at: 0, to: 'C1', items: items(2), replyTo: 'handle-1' }]);
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

describe('what is new in a message that has grown', () => {
  const HASH = `0x${'a'.repeat(64)}`;
  const found = (
    n: number,
    protocol: string,
    { type = 'critical', detectors = ['flashLoan'], message = 'x', service = 'main' } = {},
  ): Alert =>
    makeAlert(n, {
      ...{ service, protocol, txHash: HASH, type: `inspection.${type}` },
      item: { detections: Object.fromEntries(detectors.map((id) => [id, { status: 'detected', message }])) },
    });

  /** Each so many milliseconds after the first; gives what made a sound, and when. */
  const soundsOf = async (
    steps: readonly (readonly [number, Alert])[],
    options: DeliveriesSetUp = {},
    before: (deliveries: ReturnType<typeof setUp>) => void = () => {},
  ) => {
    const deliveries = setUp(options);
    before(deliveries);
    for (const [at, alert] of steps) {
      await deliveries.run(at - 1);
      deliveries.time.now = deliveries.begun + at;
      deliveries.add([alert]);
    }
    await deliveries.run();
    const sounds = deliveries.sent.filter(({ amends }) => amends === undefined);
    return { ...deliveries, sounds: sounds.map(({ at, items: shown, replyTo }) => [at, shown, replyTo]) };
  };

  test('six protocols in twenty seconds make three sounds, and the message has all of them', async () => {
    const names = ['Decoy', 'Bridge', 'Margin', 'Perps', 'Dex', 'Staking'];
    const { sounds, sent, states, jobs } = await soundsOf(
      names.map((name, index) => [index * 4000, found(index + 1, name)] as const),
    );
    expect(sounds).toEqual([
      [0, items(1), undefined],
      [4000, items(2), 'handle-2'],
      [34_000, items(3, 4, 5, 6), 'handle-7'],
    ]);
    expect(sent.filter(({ amends }) => amends !== undefined).at(-1)).toMatchObject({
      at: 20_000,
      items: items(1, 2, 3, 4, 5, 6),
    });
    expect(await states(1, 2, 3, 4, 5, 6)).toEqual(Array(6).fill('delivered'));
    expect(jobs.size).toBe(0);
  });

  test.each<[string, Alert, boolean]>([
    ['another protocol', found(2, 'Other'), true],
    ['a protocol of the same name at another service', found(2, 'Vault', { service: 'other' }), true],
    ['another detector', found(2, 'Vault', { detectors: ['flashLoan', 'mixer'] }), true],
    ['the same detector with something else to say', found(2, 'Vault', { message: 'All funds left' }), true],
    ['nothing new', found(2, 'Vault'), false],
    ['something milder of the same', found(2, 'Vault', { type: 'suspecious' }), false],
  ])('%s', async (_what, alert, isHeard) => {
    const { sounds } = await soundsOf([
      [0, found(1, 'Vault')],
      [1000, alert],
    ]);
    expect(sounds.slice(1)).toEqual(isHeard ? [[1000, items(2), 'handle-2']] : []);
  });

  test.each(['ok', undefined])('what was taken back as %s, and comes again', async (is) => {
    const { add, run, sent, redis, prefix, ledger } = setUp();
    add([found(1, 'Vault')]);
    await run();
    const settings = { windowMs: INCIDENT_WINDOW_MS, replyWithinMs: 1, now: Date.now };
    const { noteReassessed } = createThreads(createThreadStore(redis, prefix), ledger, settings);
    const change = { of: makeAlert(1).id, txHash: HASH, was: 'critical' };
    await noteReassessed(DESTINATION, is === undefined ? change : { ...change, is });
    add([found(2, 'Vault')]);
    await run();
    expect(sent.slice(1)).toMatchObject([{ amends: 'handle-1' }, { items: items(2), replyTo: 'handle-2' }]);
  });

  test('findings that come again and again keep a message growing no longer than people remember it', async () => {
    const minutes = [0, 4, 8, 12, 16];
    const { sounds } = await soundsOf(minutes.map((at, index) => [at * 60_000, found(index + 1, 'Vault')] as const));
    expect(sounds).toEqual([
      [0, items(1), undefined],
      [12 * 60_000, items(4), undefined],
    ]);
  });

  test('a severity that is worse for its protocol, behind a decoy that is as bad', async () => {
    const { sounds } = await soundsOf([
      [0, found(1, 'Vault', { type: 'suspecious' })],
      [1000, found(2, 'Decoy')],
      [40_000, found(3, 'Vault')],
    ]);
    expect(sounds.slice(1).map(([at, shown]) => [at, shown])).toEqual([
      [1000, items(2)],
      [40_000, items(3)],
    ]);
  });

  test('whoever has acknowledged hears of anything more, at once, and then as before', async () => {
    const steps = [
      [0, found(1, 'Vault')],
      [1000, found(2, 'Other')],
      [3000, found(3, 'Vault')],
      [4000, found(4, 'Vault')],
      [5000, found(5, 'Third')],
    ] as const;
    const { sounds } = await soundsOf(steps, {}, ({ acknowledged, begun }) => {
      acknowledged.at = begun + 2000;
    });
    expect(sounds.map(([at, shown]) => [at, shown])).toEqual([
      [0, items(1)],
      [1000, items(2)],
      [3000, items(3)],
      [33_000, items(4, 5)],
    ]);
  });

  test('what stands below the message, as it could not be changed, is heard there; what was in it already is not forgotten', async () => {
    const { sounds } = await soundsOf(
      [
        [0, found(1, 'Vault')],
        [1000, found(2, 'Other')],
        [2000, found(3, 'Third')],
        [3000, found(4, 'Fourth')],
      ],
      { respond: ({ items: shown, amends }) => (amends && shown.length === 4 ? failure('bad-message') : undefined) },
    );
    expect(sounds.map(([at, shown]) => [at, shown])).toEqual([
      [0, items(1)],
      [1000, items(2)],
      [3000, items(4)],
      [33_000, items(3)],
    ]);
  });

  test('a daemon that was killed between the change and the reply: the next run of its job replies', async () => {
    const deliveries = setUp();
    const jobFor = (n: number, name: string) => parcelJob({ destination: DESTINATION, alerts: [found(n, name)] });
    await deliveries.start(jobFor(1, 'Vault'));
    await deliveries.start(jobFor(2, 'Other'));
    expect(deliveries.sent).toHaveLength(2);
    // The job is in the queue as it was.
    const again = await deliveries.start(jobFor(2, 'Other'));
    if (again.done) return expect.fail('a reply is owed');
    await deliveries.start(again.data);
    expect(deliveries.sent.at(-1)).toMatchObject({ items: items(2), replyTo: 'handle-2' });
    const [third, other] = [await deliveries.start(jobFor(2, 'Other')), await deliveries.start(again.data)];
    expect([third, other, deliveries.sent.length]).toEqual([{ done: true }, { done: true }, 3]);
  });

  test('two daemons at once reply once', async () => {
    const deliveries = setUp();
    const jobFor = (n: number, name: string) => parcelJob({ destination: DESTINATION, alerts: [found(n, name)] });
    await deliveries.start(jobFor(1, 'Vault'));
    const left = await deliveries.start(jobFor(2, 'Other'));
    if (left.done) return expect.fail('a reply is owed');
    const { data } = left;
    const both = await Promise.all([deliveries.start(data), deliveries.start(data)]);
    for (const one of both) if (!one.done) await deliveries.start(one.data);
    expect(deliveries.sent.map(({ items: shown }) => shown)).toEqual([items(1), items(1, 2), items(2)]);
  });

  test('a reply is tried as long as a delivery is, also when the message grows no more', async () => {
    let isDown = true;
    const { sounds, sent } = await soundsOf(
      [
        [0, found(1, 'Vault')],
        [1000, found(2, 'Other')],
        [7_200_000, makeAlert(9)],
      ],
      {
        respond: ({ at, amends, replyTo }) => {
          if (at > 7_000_000) isDown = false;
          return isDown && amends === undefined && replyTo !== undefined ? failure('unavailable') : undefined;
        },
      },
    );
    expect(sounds.map(([, shown]) => shown)).toContainEqual(items(2));
    expect(sent.find(({ replyTo }) => replyTo !== undefined)?.at).toBeGreaterThan(7_000_000);
  });

  test('a reply that is refused in every format ends, and it is said', async () => {
    const unchanged: unknown[] = [];
    const { sounds, jobs, dead } = await soundsOf(
      [
        [0, found(1, 'Vault')],
        [1000, found(2, 'Other')],
      ],
      {
        respond: ({ replyTo }) => (replyTo === undefined ? undefined : failure('bad-message')),
        onAfterwards: (_destination, what, why) => {
          if (why !== undefined) unchanged.push(what);
        },
      },
    );
    expect([sounds.length, jobs.size, await dead.count(), unchanged]).toEqual([1, 0, 0, [{ txHash: HASH }]]);
  });
});
