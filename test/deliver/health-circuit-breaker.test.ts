/** Destinations and senders that do not work: who finds out that they do again, and what becomes of what waits. */
import { describe, expect, test } from 'vitest';
import type { DeliveryReason } from '../../src/errors.ts';
import { createOutageStore } from '../../src/features/conditions/outages.ts';
import { sampleAlert } from '../../src/features/sample/sample.ts';
import { createDestinationStats } from '../../src/ledger/destination-stats.ts';
import { parcelJob } from '../../src/queue/job.ts';
import { DESTINATION, failure, items, OTHER, range, setUpDeliveries } from '../support/deliveries.ts';
import { makeAlert } from '../support/numbered.ts';
import { TOLD } from '../support/outages.ts';

const HOUR = 3_600_000;
const SENDER = { id: 'sender-slack', rate: {} };

describe('a probe', () => {
  test('is sent every 30 s at the latest, also where a single alert waits', async () => {
    const tried: number[] = [];
    const { add, run } = setUpDeliveries({
      respond: ({ at }) => {
        tried.push(at);
        return at < HOUR ? failure('unavailable') : undefined;
      },
    });
    add([makeAlert(1)]);
    await run();
    const gaps = tried.slice(1).map((at, index) => at - (tried[index] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(30_000);
  });

  test('never comes before a wait that the provider named', async () => {
    const { add, run, sent, answers } = setUpDeliveries();
    answers.C1 = range(1, 4).map(() => failure('unavailable', { retryAfterMs: 120_000 }));
    add([makeAlert(1)]);
    await run();
    expect(sent[0]?.at).toBeGreaterThanOrEqual(480_000);
  });

  test('keeps the others waiting no longer than it takes to notice how it went', async () => {
    const { circuits, time } = setUpDeliveries();
    const ids = [DESTINATION.id];
    const fail = (retryInMs: number) => circuits.failed(DESTINATION.id, { reason: 'unavailable', retryInMs });
    for (const _ of range(1, 3)) await fail(2000);
    expect(await circuits.admit(ids)).toBe(time.now + 2000);
    time.now += 2000;
    expect(await circuits.admit(ids)).toBeUndefined();
    const whileProbed = [await circuits.admit(ids), await circuits.pausedUntil(ids)];
    expect(whileProbed).toEqual([time.now + 5000, time.now + 5000]);
    await fail(25_000);
    expect(await circuits.pausedUntil(ids)).toBe(time.now + 25_000);
    time.now += 25_000;
    expect(await circuits.admit(ids)).toBeUndefined();
    // It is never heard of again.
    time.now += 15_000;
    expect(await circuits.admit(ids)).toBe(time.now + 5000);
    time.now += 5000;
    expect(await circuits.admit(ids)).toBeUndefined();
  });

  test('is not spent by a job that has nothing to send', async () => {
    const { add, run, start, sent, answers, ledger, time, begun } = setUpDeliveries({ isBatched: false });
    answers.C1 = range(1, 3).map(() => failure('unavailable'));
    add(range(1, 3).map((n) => makeAlert(n)));
    await ledger.recordAttempt(DESTINATION, [makeAlert(4)], {
      state: 'delivered',
      attempt: { at: '2026-11-20T11:00:00.000Z', outcome: 'delivered', durationMs: 1 },
    });
    const idle = parcelJob({ destination: DESTINATION, alerts: [makeAlert(4)] });
    await run(0);
    for (let at = 500; sent.length === 0 && at < 60_000; at += 500) {
      time.now = begun + at;
      await start(idle);
      await run(at);
    }
    expect(sent[0]?.at).toBeLessThan(10_000);
  });

  test('is not spent by what joins a batch', async () => {
    const { add, run, start, sent, time, begun } = setUpDeliveries({
      rate: { perSecond: 1 },
      respond: ({ at }) => (at < 10_000 ? failure('unavailable') : undefined),
    });
    add(range(1, 3).map((n) => makeAlert(n)));
    for (let n = 4; sent.length === 0 && n < 400; n += 1) {
      time.now = Math.max(time.now, begun + n * 250);
      await start(parcelJob({ destination: DESTINATION, alerts: [makeAlert(n)] }));
      await run(time.now - begun);
    }
    expect(sent[0]?.at).toBeLessThan(30_000);
  });

  test('is not spent by a job whose slot is later', async () => {
    const { add, run, sent, circuits, rateLimiter, time } = setUpDeliveries({ rate: { perSecond: 1 }, sender: SENDER });
    await circuits.failed(SENDER.id, { reason: 'sender-misconfigured', retryInMs: 2000 });
    await rateLimiter.hold(DESTINATION, time.now + 5000);
    add([makeAlert(1)]);
    add([makeAlert(2)], OTHER);
    await run();
    expect(sent.map(({ at, to }) => [at, to])).toEqual([
      [2000, 'C2'],
      [5000, 'C1'],
    ]);
  });

  test('of a destination is not spent while its sender takes nothing', async () => {
    const { add, run, sent, circuits } = setUpDeliveries({ sender: SENDER });
    for (const _ of range(1, 3)) await circuits.failed(DESTINATION.id, { reason: 'unavailable', retryInMs: 1000 });
    await circuits.failed(SENDER.id, { reason: 'sender-misconfigured', retryInMs: 2000 });
    add([makeAlert(1)]);
    await run();
    expect(sent).toEqual([{ at: 2000, to: 'C1', items: items(1) }]);
  });

  test('that is sent more plainly, or elsewhere, goes on at once', async () => {
    const { add, run, sent, answers } = setUpDeliveries();
    answers.C1 = [
      ...range(1, 3).map(() => failure('unavailable')),
      failure('bad-message'),
      failure('re-address', { newAddress: 'C9' }),
    ];
    add([makeAlert(1)]);
    await run();
    expect(sent).toMatchObject([{ to: 'C9' }]);
    expect(sent[0]?.at).toBeLessThan(10_000);
  });
});

describe('what waits', () => {
  test('dies at once where a destination that did not answer turns out to be dead', async () => {
    const { add, run, dead, time, begun } = setUpDeliveries({
      isBatched: false,
      respond: ({ at }) => failure(at < 5000 ? 'unavailable' : 'destination-dead'),
    });
    for (const n of range(1, 30)) add([makeAlert(n)]);
    await run();
    expect(await dead.count()).toBe(30);
    expect(time.now - begun).toBeLessThan(60_000);
  });

  test('for hours is not given up for one odd answer', async () => {
    const { add, run, dead, sent } = setUpDeliveries({
      isBatched: false,
      respond: ({ at }) => {
        if (at < 2 * HOUR) return failure('unavailable');
        return at < 2 * HOUR + 60_000 ? failure('unknown') : undefined;
      },
    });
    for (const n of range(1, 20)) add([makeAlert(n)]);
    await run();
    expect(await dead.count()).toBe(0);
    expect(sent).toHaveLength(20);
  });

  test('is given up after an hour of odd answers and nothing else', async () => {
    const { add, run, dead, time, begun } = setUpDeliveries({ respond: () => failure('unknown') });
    add([makeAlert(1)]);
    await run();
    const message = 'given up after 60 min of undocumented answers: refused';
    expect(await dead.list()).toMatchObject([{ reason: 'unknown', message }]);
    expect(time.now - begun).toBeLessThan(HOUR);
  });
});

describe('a sample', () => {
  const sample = sampleAlert('main', 'Vault', 'test-1', 0);
  const failedWith = (reason: DeliveryReason) => ({ error: failure(reason), message: 'refused', retryInMs: 1000 });

  test('that fails opens no circuit, alerts nobody and does not count in the statistics', async () => {
    const { health, announced, add, run, redis, prefix, sent } = setUpDeliveries({
      sender: SENDER,
      respond: ({ at }) => (at < HOUR ? failure('unavailable') : undefined),
    });
    add([sample]);
    await run(HOUR / 2);
    for (const reason of ['unavailable', 'destination-dead', 'sender-misconfigured'] as const) {
      await health.failed(OTHER, [sample], failedWith(reason));
    }
    expect(await health.pausedUntil(DESTINATION)).toBeUndefined();
    expect(await health.pausedUntil(OTHER)).toBeUndefined();
    expect(announced).toEqual([]);
    expect(await createDestinationStats(redis, prefix).list()).toEqual([]);
    await run();
    expect(sent).toHaveLength(1);
    expect(announced).toEqual([]);
  });

  test('that fails leaves broken what is broken, and one that arrives ends it', async () => {
    const { health, announced, time } = setUpDeliveries();
    for (const _ of range(1, 3)) await health.failed(DESTINATION, [makeAlert(1)], failedWith('unavailable'));
    time.now += 1000;
    expect(await health.admit(DESTINATION)).toBeUndefined();
    await health.failed(DESTINATION, [sample], failedWith('unavailable'));
    expect(await health.pausedUntil(DESTINATION)).toBe(time.now + 1000);
    await health.worked(DESTINATION);
    expect(announced).toEqual(['C1 broken: unavailable', 'C1 well']);
  });
});

describe('the end of a break', () => {
  const breakIt = async ({ health }: Pick<ReturnType<typeof setUpDeliveries>, 'health'>) => {
    for (const _ of range(1, 4)) {
      await health.failed(DESTINATION, [], { error: failure('unavailable'), message: 'refused', retryInMs: 1000 });
    }
  };

  test('is announced by another where the daemon that noticed it ended first', async () => {
    const world = setUpDeliveries();
    await breakIt(world);
    expect(await world.circuits.worked(DESTINATION.id)).toBe(true);
    world.time.now += 61_000;
    await world.health.worked(DESTINATION);
    await world.health.worked(DESTINATION);
    expect(world.announced).toEqual(['C1 broken: unavailable', 'C1 well']);
  });

  test('of an outage that nobody has announced is not announced before that', async () => {
    const world = setUpDeliveries();
    const error = { reason: 'unavailable', retryInMs: 1000 } as const;
    for (const _ of range(1, 3)) await world.circuits.failed(DESTINATION.id, error);
    world.time.now += 61_000;
    await breakIt(world);
    await world.health.worked(DESTINATION);
    expect(world.announced).toEqual(['C1 broken: unavailable', 'C1 well']);
  });

  test('that comes while the outage is being announced is announced after it', async () => {
    let itWorks = async (): Promise<void> => {};
    const world = setUpDeliveries({ whileAnnouncing: () => itWorks() });
    itWorks = async () => void (await world.health.worked(DESTINATION));
    await breakIt(world);
    expect(world.announced.slice(-2)).toEqual(['C1 broken: unavailable', 'C1 well']);
  });
});

test('an open circuit is remembered as long as its announcement', async () => {
  const { redis, prefix, circuits } = setUpDeliveries();
  await circuits.failed(DESTINATION.id, { reason: 'destination-dead', retryInMs: 0 });
  const outageStore = createOutageStore(redis, prefix);
  await outageStore.note(DESTINATION.id, {
    ...TOLD,
    since: '',
    reason: 'destination-dead',
    message: '',
    announcedTo: [],
  });
  const [kept, announced] = await Promise.all([
    redis.pttl(`${prefix}:circuit:${DESTINATION.id}`),
    redis.pttl(`${prefix}:announced:broken`),
  ]);
  expect(kept).toBeGreaterThan(announced - 60_000);
});

describe('deliveries while a circuit is open', () => {
  test('pauses a destination that fails, probes it, and batches alerts meanwhile; nothing is discarded', async () => {
    const { add, run, sent, answers, announced, time } = setUpDeliveries();
    answers.C1 = Array.from({ length: 8 }, () => failure('unavailable'));
    for (const n of range(1, 3)) add([makeAlert(n)]);
    await run(0);
    expect(announced).toEqual(['C1 broken: unavailable']);
    for (const n of range(4, 40)) {
      time.now += 100;
      add([makeAlert(n)]);
      await run(time.now - Date.parse('2026-11-20T12:00:00Z'));
    }
    await run();
    expect(announced).toEqual(['C1 broken: unavailable', 'C1 well']);
    expect(sent.flatMap((message) => message.items).toSorted()).toEqual(items(...range(1, 40)).toSorted());
    expect(sent.filter((message) => message.items.length > 30)).toHaveLength(1);
    expect(answers.C1).toEqual([]);
  });

  test('of a refused token pauses every destination of it at once, and one of them finds out that it is mended', async () => {
    const { add, run, sent, answers, announced, broken, time, begun } = setUpDeliveries({
      sender: { id: 'sender-slack', rate: {} },
    });
    const refusals = Array.from({ length: 5 }, () => failure('sender-misconfigured'));
    answers.C1 = refusals;
    answers.C2 = refusals;
    add([makeAlert(1)]);
    for (const n of range(2, 10)) add([makeAlert(n)], OTHER);
    await run(0);
    expect(broken).toMatchObject([{ isSender: true, reason: 'sender-misconfigured', message: 'refused' }]);
    expect(refusals).toHaveLength(4);
    await run();
    expect(announced).toEqual(['sender broken: sender-misconfigured', 'sender well']);
    expect(sent.flatMap((message) => message.items).toSorted()).toEqual(items(...range(1, 10)).toSorted());
    expect(time.now - begun).toBeLessThan(600_000);
  });

  test('is broken by a dead destination, but lets what is for it die at once', async () => {
    const { add, run, answers, announced, dead } = setUpDeliveries();
    answers.C1 = [failure('destination-dead'), failure('destination-dead')];
    add([makeAlert(1)]);
    add([makeAlert(2)]);
    await run(0);
    expect(await dead.count()).toBe(2);
    add([makeAlert(3)]);
    await run(0);
    expect(announced).toEqual(['C1 broken: destination-dead', 'C1 well']);
  });

  test('says nothing of a message that was refused, or of a pace', async () => {
    const { add, run, answers, announced } = setUpDeliveries();
    answers.C1 = [
      ...Array.from({ length: 4 }, () => failure('rate-limited', { retryAfterMs: 1000 })),
      ...Array.from({ length: 3 }, () => failure('bad-message')),
    ];
    add([makeAlert(1)]);
    await run();
    expect(announced).toEqual([]);
  });
});

describe('a clock that is set back by an hour', () => {
  test('does not keep a probe waiting for longer than a circuit ever pauses', async () => {
    const { circuits, time } = setUpDeliveries();
    const ids = [DESTINATION.id];
    for (const _ of range(1, 3)) await circuits.failed(DESTINATION.id, { reason: 'unavailable', retryInMs: 20_000 });
    time.now -= HOUR;
    expect(await circuits.pausedUntil(ids)).toBe(time.now + 30_000);
    time.now += 10_000;
    expect(await circuits.admit(ids)).toBe(time.now + 20_000);
    time.now += 20_000;
    expect(await circuits.admit(ids)).toBeUndefined();
  });

  test('does not keep another daemon from announcing what the first one did not get to', async () => {
    const { circuits, time } = setUpDeliveries();
    const fail = () => circuits.failed(DESTINATION.id, { reason: 'unavailable', retryInMs: 1000 });
    for (const _ of range(1, 2)) await fail();
    expect(await fail()).toMatchObject({ isNews: true });
    time.now -= HOUR;
    expect(await fail()).toMatchObject({ isNews: true });
    expect(await circuits.worked(DESTINATION.id)).toBe(true);
    time.now -= HOUR;
    expect(await circuits.worked(DESTINATION.id)).toBe(true);
  });
});
