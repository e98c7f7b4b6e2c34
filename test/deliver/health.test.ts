/** What a daemon knows of circuits without asking for each message, with real circuits in Redis. */
import { describe, expect, test } from 'vitest';
import { createCircuits, createDestinationHealth } from '../../src/deliver/health.ts';
import { DeliveryError } from '../../src/errors.ts';
import { senderId } from '../../src/item.ts';
import { destinationOf } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';
import { openTestRedis } from '../support/redis.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const [ONE, TWO] = [destinationOf('slack', 'C1'), destinationOf('slack', 'C2')];

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const clock = { monotonic: 0 };
  const asked = { looked: 0, admitted: 0, worked: 0 };
  const open = () => {
    const circuits = createCircuits(redis, prefix, () => NOW);
    const admit = (ids: readonly string[]) => {
      asked.admitted += 1;
      return circuits.admit(ids);
    };
    const areClean = (ids: readonly string[]) => {
      asked.looked += 1;
      return circuits.areClean(ids);
    };
    const worked = (id: string) => {
      asked.worked += 1;
      return circuits.worked(id);
    };
    return createDestinationHealth({
      circuits: { ...circuits, areClean, admit, worked },
      senderOf: ({ kind }) => ({ id: senderId(kind), rate: {} }),
      isSenders: async () => true,
      onBroken: async () => {},
      onRecovered: async () => {},
      monotonic: () => clock.monotonic,
    });
  };
  return { clock, asked, open };
};

const fail = (health: ReturnType<ReturnType<typeof setUp>['open']>, reason: 'sender-misconfigured' | 'unavailable') =>
  health.failed(ONE, [makeAlert(1)], {
    error: new DeliveryError(reason, 'no', { code: 'no' }),
    message: 'no',
    retryInMs: 1000,
  });

test('where nothing failed, one look is enough for the messages of a second', async () => {
  const { clock, asked, open } = setUp();
  const health = open();
  expect(await health.pausedUntil(ONE)).toBeUndefined();
  for (let n = 0; n < 20; n += 1) {
    expect(await health.admit(ONE)).toBeUndefined();
    await health.worked(ONE);
  }
  expect(await health.pausedUntil(ONE)).toBeUndefined();
  expect(asked).toEqual({ looked: 1, admitted: 0, worked: 0 });
  clock.monotonic += 1000;
  await health.admit(ONE);
  await health.worked(ONE);
  expect(asked).toEqual({ looked: 2, admitted: 0, worked: 0 });
});

test('once an outage is over, one look is enough again', async () => {
  const { asked, open } = setUp();
  const health = open();
  for (let n = 0; n < 3; n += 1) await fail(health, 'unavailable');
  expect(await health.admit(ONE)).toBeGreaterThan(NOW);
  await health.worked(ONE);
  Object.assign(asked, { looked: 0, admitted: 0, worked: 0 });
  for (let n = 0; n < 20; n += 1) {
    expect(await health.admit(ONE)).toBeUndefined();
    await health.worked(ONE);
  }
  expect(asked).toEqual({ looked: 1, admitted: 0, worked: 0 });
});

test('what failed here is known at once, and so is what failed for all of its sender', async () => {
  const { open } = setUp();
  const health = open();
  await health.pausedUntil(ONE);
  await health.pausedUntil(TWO);
  for (let n = 0; n < 3; n += 1) await fail(health, 'unavailable');
  expect(await health.admit(ONE)).toBeGreaterThan(NOW);
  expect(await health.admit(TWO)).toBeUndefined();
  await fail(health, 'sender-misconfigured');
  expect(await health.admit(TWO)).toBeGreaterThan(NOW);
});

test('what failed in another daemon is known at the next look, or a second later', async () => {
  const { clock, open } = setUp();
  const [here, there] = [open(), open()];
  await here.pausedUntil(ONE);
  for (let n = 0; n < 3; n += 1) await fail(there, 'unavailable');
  expect(await here.admit(ONE)).toBeUndefined();
  clock.monotonic += 1000;
  expect(await here.admit(ONE)).toBeGreaterThan(NOW);
  expect(await here.pausedUntil(ONE)).toBeGreaterThan(NOW);
});

test('a success takes a failure back, wherever that was', async () => {
  const { open } = setUp();
  const [here, there] = [open(), open()];
  for (let n = 0; n < 2; n += 1) await fail(there, 'unavailable');
  await here.pausedUntil(ONE);
  await here.worked(ONE);
  await fail(there, 'unavailable');
  expect(await here.admit(ONE)).toBeUndefined();
});

test('a message for which nothing had to be sent takes no failure back', async () => {
  const { open } = setUp();
  const health = open();
  for (let n = 0; n < 2; n += 1) await fail(health, 'unavailable');
  await health.unasked(ONE);
  await fail(health, 'unavailable');
  expect(await health.admit(ONE)).toBeGreaterThan(NOW);
});

describe('an announcement that failed does not count', () => {
  const MINUTE_MS = 60_000;
  const play = () => {
    const { redis, prefix } = openTestRedis();
    const time = { now: NOW };
    const said: string[] = [];
    const failing = { broken: true, recovered: true };
    const say = async (what: 'broken' | 'recovered'): Promise<void> => {
      said.push(what);
      if (failing[what]) throw new Error('it could not be announced');
    };
    const health = createDestinationHealth({
      circuits: createCircuits(redis, prefix, () => time.now),
      senderOf: () => undefined,
      isSenders: async () => false,
      onBroken: () => say('broken'),
      onRecovered: () => say('recovered'),
    });
    const breakIt = async (): Promise<void> => {
      for (let n = 0; n < 3; n += 1) await fail(health, 'unavailable');
    };
    return { time, said, failing, health, breakIt };
  };

  test('of the beginning: a later failure announces it', async () => {
    const { time, said, failing, breakIt } = play();
    await breakIt();
    expect(said).toEqual(['broken']);
    time.now += MINUTE_MS;
    failing.broken = false;
    await breakIt();
    time.now += MINUTE_MS;
    await breakIt();
    expect(said).toEqual(['broken', 'broken']);
  });

  test('of the end: a later success announces it, and meanwhile nothing waits', async () => {
    const { time, said, failing, health, breakIt } = play();
    failing.broken = false;
    await breakIt();
    await health.worked(ONE);
    expect(said).toEqual(['broken', 'recovered']);
    expect(await health.pausedUntil(ONE)).toBeUndefined();
    time.now += MINUTE_MS;
    failing.recovered = false;
    await health.worked(ONE);
    time.now += MINUTE_MS;
    await health.worked(ONE);
    expect(said).toEqual(['broken', 'recovered', 'recovered']);
  });
});

test('where no connection came about it is the sender of all that fails, whoever of them found it', async () => {
  const { redis, prefix } = openTestRedis();
  const broken: object[] = [];
  const health = createDestinationHealth({
    circuits: createCircuits(redis, prefix, () => NOW),
    senderOf: ({ kind }) => (kind === 'slack' ? { id: senderId(kind), rate: {} } : undefined),
    isSenders: async () => false,
    onBroken: async ({ destination: { id }, isSender }) => void broken.push({ id, isSender }),
    onRecovered: async () => {},
  });
  const refuse = (destination: typeof ONE) =>
    health.failed(destination, [makeAlert(1)], {
      error: new DeliveryError('unavailable', 'refuses connections', { code: 'ECONNREFUSED', unreached: true }),
      message: 'refuses connections',
      retryInMs: 1000,
    });
  const hook = destinationOf('webhook', 'https://hooks.example.com/x');
  for (const one of [ONE, TWO, ONE, hook, hook, hook]) await refuse(one);
  expect(broken).toEqual([
    { id: ONE.id, isSender: true },
    { id: hook.id, isSender: false },
  ]);
  expect(await health.admit(TWO)).toBeGreaterThan(NOW);
});
