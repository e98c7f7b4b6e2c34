import { describe, expect, test } from 'vitest';
import type { Alert } from '../../src/alert.ts';
import { pacedAs } from '../../src/channels/registry.ts';
import { destinationOf } from '../support/alerts.ts';
import { DESTINATION, failure, items, OTHER, range, setUpDeliveries as setUp } from '../support/deliveries.ts';
import { hashOf, makeAlert } from '../support/numbered.ts';

describe('what waits for a destination', () => {
  test('is told as one message at its next turn, each alert once, and every alert ends in the books', async () => {
    const { add, run, sent, states } = setUp({ rate: { perSecond: 1 } });
    for (const n of range(1, 30)) add([makeAlert(n)]);
    await run();
    expect(sent).toEqual([
      { at: 0, to: 'C1', items: items(1) },
      { at: 1000, to: 'C1', items: items(...range(2, 30)) },
    ]);
    expect(new Set(await states(...range(1, 30)))).toEqual(new Set(['delivered']));
  });

  test('few of them stay single messages, each with a turn of its own', async () => {
    const { add, run, sent } = setUp({ rate: { perSecond: 1 } });
    add(range(1, 3).map((n) => makeAlert(n)));
    await run();
    expect(sent.map(({ at, items: told }) => [at, ...told])).toEqual([
      [0, 'item-1'],
      [1000, 'item-2'],
      [2000, 'item-3'],
    ]);
  });

  test('digests keep a growing distance, and the last word has its turn', async () => {
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

  test('six findings of one transaction are one message but no digest: the next alert does not wait', async () => {
    const { add, run, sent } = setUp();
    add(range(1, 6).map((n) => ({ ...makeAlert(n), txHash: hashOf(1) })));
    add([makeAlert(7)]);
    await run();
    expect(sent).toEqual([
      { at: 0, to: 'C1', items: items(...range(1, 6)) },
      { at: 0, to: 'C1', items: items(7) },
    ]);
  });

  test('six alerts of six transactions are a digest: the next alert waits', async () => {
    const { add, run, sent } = setUp();
    add(range(1, 6).map((n) => makeAlert(n)));
    add([makeAlert(7)]);
    await run();
    expect(sent).toEqual([
      { at: 0, to: 'C1', items: items(...range(1, 6)) },
      { at: 1000, to: 'C1', items: items(7) },
    ]);
  });

  test('is frozen when it is first tried: what comes later is another message', async () => {
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

  test('does not hold up another destination', async () => {
    const { add, run, sent } = setUp({ rate: { perSecond: 1 } });
    for (const n of range(1, 100)) add([makeAlert(n)]);
    add([makeAlert(101)], OTHER);
    await run();
    expect(sent.find(({ to }) => to === 'C2')).toEqual({ at: 0, to: 'C2', items: items(101) });
  });

  test('survives a crash at any step: the same parcels again tell nothing twice', async () => {
    const { add, run, sent, jobs, batches } = setUp({ rate: { perSecond: 1 } });
    const alerts = range(1, 10).map((n) => makeAlert(n));
    for (const alert of alerts) add([alert]);
    // Gathered, but its job was never queued.
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

describe('a circuit', () => {
  test('pauses a destination that fails, probes it, and gathers meanwhile; nothing is discarded', async () => {
    const { add, run, sent, answers, told, time } = setUp();
    answers.C1 = Array.from({ length: 8 }, () => failure('retry'));
    for (const n of range(1, 3)) add([makeAlert(n)]);
    await run(0);
    expect(told).toEqual(['C1 broken: retry']);
    for (const n of range(4, 40)) {
      time.now += 100;
      add([makeAlert(n)]);
      await run(time.now - Date.parse('2026-11-20T12:00:00Z'));
    }
    await run();
    expect(told).toEqual(['C1 broken: retry', 'C1 well']);
    expect(sent.flatMap((message) => message.items).toSorted()).toEqual(items(...range(1, 40)).toSorted());
    expect(sent.filter((message) => message.items.length > 30)).toHaveLength(1);
    expect(answers.C1).toEqual([]);
  });

  test('of a refused token pauses every destination of it at once, and one of them finds out that it is mended', async () => {
    const { add, run, sent, answers, told, broken, time, begun } = setUp({ sender: { id: 'sender-slack', rate: {} } });
    const refusals = Array.from({ length: 5 }, () => failure('sender-misconfigured'));
    answers.C1 = refusals;
    answers.C2 = refusals;
    add([makeAlert(1)]);
    for (const n of range(2, 10)) add([makeAlert(n)], OTHER);
    await run(0);
    expect(broken).toMatchObject([{ isSender: true, reason: 'sender-misconfigured', message: 'refused' }]);
    expect(refusals).toHaveLength(4);
    await run();
    expect(told).toEqual(['sender broken: sender-misconfigured', 'sender well']);
    expect(sent.flatMap((message) => message.items).toSorted()).toEqual(items(...range(1, 10)).toSorted());
    expect(time.now - begun).toBeLessThan(600_000);
  });

  test('is broken by a dead destination, but lets what is for it die at once', async () => {
    const { add, run, answers, told, dead } = setUp();
    answers.C1 = [failure('destination-dead'), failure('destination-dead')];
    add([makeAlert(1)]);
    add([makeAlert(2)]);
    await run(0);
    expect(await dead.count()).toBe(2);
    add([makeAlert(3)]);
    await run(0);
    expect(told).toEqual(['C1 broken: destination-dead', 'C1 well']);
  });

  test('says nothing of a message that was refused, or of a pace', async () => {
    const { add, run, answers, told } = setUp();
    answers.C1 = [
      ...Array.from({ length: 4 }, () => failure('rate-limited', { retryAfterMs: 1000 })),
      ...Array.from({ length: 3 }, () => failure('bad-message')),
    ];
    add([makeAlert(1)]);
    await run();
    expect(told).toEqual([]);
  });
});

test('a message in parts takes a turn for each, goes on where it was, and holds up nobody else', async () => {
  const refusals = [undefined, undefined, failure('rate-limited', { retryAfterMs: 2000 })];
  const { add, run, sent, states } = setUp({
    rate: { perSecond: 1 },
    partsOf: ({ itemId }) => (itemId === 'item-1' ? 4 : 1),
    respond: () => refusals.shift(),
  });
  add([makeAlert(1)]);
  await run(0);
  add([makeAlert(2)]);
  await run();
  expect(sent.filter(({ items: [item] }) => item === 'item-1')).toHaveLength(4);
  expect(sent.find(({ items: [item] }) => item === 'item-2')?.at).toBeLessThan(8000);
  expect(await states(1, 2)).toEqual(['delivered', 'delivered']);
});

test('a message in parts of which one is refused begins again more plainly, and what follows is sent at its own time', async () => {
  const refusals = [undefined, failure('bad-message')];
  const { add, run, sent, states } = setUp({
    rate: { perSecond: 1 },
    partsOf: ({ itemId }) => (itemId === 'item-1' ? 3 : 1),
    respond: () => refusals.shift(),
  });
  add([makeAlert(1)]);
  await run();
  // One part before the refusal, and then all three of them.
  expect(sent.map(({ items: told }) => told)).toEqual([items(1), items(1), items(1), items(1)]);
  expect(await states(1)).toEqual(['delivered']);
});

test('a digest that is refused for one alert is cut smaller until that one dies alone', async () => {
  const { add, run, sent, states, dead } = setUp({
    rate: { perSecond: 1 },
    respond: ({ items: told }) => (told.includes('item-13') ? failure('bad-message') : undefined),
  });
  add(range(1, 40).map((n) => makeAlert(n)));
  await run();
  expect((await dead.list()).map(({ alert }) => alert.itemId)).toEqual(['item-13']);
  expect(sent.flatMap((message) => message.items).toSorted()).toEqual(
    items(...range(1, 40).filter((n) => n !== 13)).toSorted(),
  );
  expect(sent.length).toBeLessThan(16);
  expect(Math.max(...sent.map(({ at }) => at))).toBeLessThan(25_000);
  expect(new Set(await states(1, 12, 14, 40))).toEqual(new Set(['delivered']));
});

describe('a sender', () => {
  test('has a pace of its own over all its destinations', async () => {
    const { add, run, sent } = setUp({ sender: { id: 'sender-slack', rate: { perSecond: 10 } } });
    for (const n of range(1, 20)) add([makeAlert(n)], destinationOf('slack', `C${n}`));
    await run();
    expect(sent).toHaveLength(20);
    expect(sent.map(({ at }) => at)).toEqual(range(0, 19).map((n) => n * 100));
  });
});

test('destinations that a platform counts as one share their slots', async () => {
  const { add, run, sent } = setUp({ rate: { perSecond: 1 }, shared: 'the chat' });
  add([makeAlert(1)]);
  add([makeAlert(2)], OTHER);
  await run();
  expect(sent.map(({ at, to }) => [at, to])).toEqual([
    [0, 'C1'],
    [1000, 'C2'],
  ]);
  expect(pacedAs('telegram', '-1001234567890/7')).toBe('-1001234567890');
  expect(pacedAs('slack', 'C024BE91L')).toBe('C024BE91L');
});

describe('what belongs together', () => {
  const sameTransaction = (n: number, protocol: string): Alert => ({
    ...makeAlert(n),
    protocol,
    txHash: `0x${'a'.repeat(64)}`,
  });

  test('findings of one transaction take the place of the message that told the first', async () => {
    const { add, run, sent, time, states } = setUp();
    add([sameTransaction(1, 'A')]);
    await run();
    time.now += 5000;
    add([sameTransaction(2, 'B')]);
    await run();
    time.now += 5000;
    add([sameTransaction(3, 'C')]);
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
    add([sameTransaction(2, 'B')]);
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
});
