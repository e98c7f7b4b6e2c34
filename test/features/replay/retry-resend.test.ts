/** Sending again by hand: nothing is lost between ledger, queue and dead letters, and the counts stay true. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Alert, Destination, Parcel } from '../../../src/alert.ts';
import { createResend } from '../../../src/features/replay/retry.ts';
import { createCorrections } from '../../../src/ledger/corrections.ts';
import { createDeadLetters, type DeadDelivery } from '../../../src/ledger/dead-letters.ts';
import { createLedger, type DeliveryState } from '../../../src/ledger/ledger.ts';
import { NO_DESTINATION } from '../../../src/ledger/record.ts';
import { parcelJobId } from '../../../src/queue/job.ts';
import { destinationOf } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';

const SLACK = destinationOf('slack', 'C1');
const EMAIL = destinationOf('email', 'a@example.com');
const AT = '2026-11-20T12:00:00.000Z';

const setUp = ({ redis, prefix } = openTestRedis()) => {
  const now = () => Date.parse(AT);
  const ledger = createLedger(redis, prefix, now);
  const dead = createDeadLetters(redis, prefix);
  const corrections = createCorrections(redis, prefix, now);
  const queued: { parcel: Parcel; nonce: string }[] = [];
  /** Alerts that a job is on its way with. */
  const carried = new Set<string>();
  const hooks: { enqueue(): Promise<void>; held: number } = { enqueue: async () => {}, held: 0 };
  const resend = createResend({
    corrections,
    deadLetters: dead,
    enqueueApproved: async (parcels, nonce) => {
      await hooks.enqueue();
      queued.push(...parcels.map((parcel) => ({ parcel, nonce })));
      return hooks.held;
    },
    queuedOrHeld: { withoutJob: async (_kind, all) => all.filter(({ alert }) => !carried.has(alert)) },
    enable: async () => {},
  });
  const end = (alert: Alert, state: DeliveryState, destination = SLACK, at = AT) =>
    ledger.recordAttempt(destination, [alert], { state, attempt: { at, outcome: 'delivered', durationMs: 1 } });
  const bury = (alert: Alert, destination = SLACK, at = AT) =>
    dead.add({ alert, destination, reason: 'destination-dead', message: 'gone', attempts: 1, at });
  const die = async (alert: Alert, destination = SLACK, at = AT): Promise<void> => {
    await bury(alert, destination, at);
    await end(alert, 'dead', destination, at);
  };
  const stateOf = async (alert: Alert, destination = SLACK) =>
    (await ledger.read(alert.id))?.deliveries.find((one) => one.destination.id === destination.id);
  return { ledger, dead, corrections, queued, carried, hooks, resend, end, bury, die, stateOf };
};

const parcel = (...numbers: number[]): Parcel => ({ destination: SLACK, alerts: numbers.map((n) => makeAlert(n)) });
const names = ({ alerts }: Parcel): string[] => alerts.map(({ itemId }) => itemId);

describe('a retry of dead deliveries', () => {
  test('puts them back on their way, keeps their attempts, and takes the letter away', async () => {
    const { ledger, dead, queued, resend, die, stateOf } = setUp();
    await ledger.recordWaiting([parcel(1, 2)]);
    await die(makeAlert(1));
    await die(makeAlert(2));
    expect(await ledger.waitingByDestination()).toEqual({});
    expect(await resend([parcel(1)], 'retried', 'n')).toEqual({ sent: 1, held: 0, waiting: 0, delivered: 0 });
    expect(queued.map(({ parcel: one, nonce }) => [names(one), nonce])).toEqual([[['item-1'], 'n']]);
    expect(await ledger.waitingByDestination()).toEqual({ [SLACK.id]: 1 });
    expect(await ledger.pending(SLACK, parcel(1, 2).alerts)).toEqual([makeAlert(1)]);
    expect(await stateOf(makeAlert(1))).toMatchObject({
      state: 'waiting',
      attempts: [{ at: AT }],
      acts: [{ at: AT, act: 'retried' }],
    });
    expect((await dead.list()).map(({ alert }) => alert.itemId)).toEqual(['item-2']);
  });

  test('cut short before the queue has them, it can be repeated', async () => {
    const { dead, queued, hooks, resend, die } = setUp();
    await die(makeAlert(1));
    hooks.enqueue = () => Promise.reject(new Error('Redis went away'));
    await expect(resend([parcel(1)], 'retried', 'n')).rejects.toThrow('Redis went away');
    expect(await dead.count()).toBe(1);
    hooks.enqueue = async () => {};
    hooks.held = 1;
    expect(await resend([parcel(1)], 'retried', 'n')).toEqual({ sent: 0, held: 1, waiting: 0, delivered: 0 });
    expect(queued).toHaveLength(1);
    expect(await dead.count()).toBe(0);
  });

  test('what dies again before the letter is taken away keeps its letter', async () => {
    const { dead, hooks, resend, die } = setUp();
    await die(makeAlert(1));
    hooks.enqueue = () => die(makeAlert(1), SLACK, '2026-11-20T12:00:01.000Z');
    await resend([parcel(1)], 'retried', 'n');
    expect((await dead.list()).map(({ at }) => at)).toEqual(['2026-11-20T12:00:01.000Z']);
  });

  test('what is dying at this moment keeps its letter', async () => {
    const { ledger, dead, queued, carried, resend, bury } = setUp();
    await ledger.recordWaiting([parcel(1)]);
    carried.add(makeAlert(1).id);
    await bury(makeAlert(1));
    expect(await resend([parcel(1)], 'retried', 'n')).toEqual({ sent: 0, held: 0, waiting: 1, delivered: 0 });
    expect(queued).toEqual([]);
    expect(await dead.count()).toBe(1);
  });

  test('what was delivered meanwhile is not sent, and its letter goes', async () => {
    const { dead, queued, resend, end, bury } = setUp();
    await bury(makeAlert(1));
    await end(makeAlert(1), 'delivered');
    expect(await resend([parcel(1)], 'retried', 'n')).toEqual({ sent: 0, held: 0, waiting: 0, delivered: 1 });
    expect(queued).toEqual([]);
    expect(await dead.count()).toBe(0);
  });

  test('works after the ledger has forgotten the alert', async () => {
    const { ledger, queued, resend, bury } = setUp();
    await bury(makeAlert(1));
    expect(await resend([parcel(1)], 'retried', 'n')).toMatchObject({ sent: 1 });
    expect(queued).toHaveLength(1);
    expect(await ledger.waitingByDestination()).toEqual({ [SLACK.id]: 1 });
  });
});

describe('a replay', () => {
  test('sends what was delivered once more, under the same ids, and never what is on its way', async () => {
    const { ledger, queued, carried, resend, end } = setUp();
    await ledger.recordWaiting([parcel(1, 2)]);
    carried.add(makeAlert(2).id);
    await end(makeAlert(1), 'delivered');
    expect(await resend([parcel(1, 2, 3)], 'replayed', 'n')).toEqual({ sent: 2, held: 0, waiting: 1, delivered: 0 });
    expect(queued.map(({ parcel: one }) => names(one))).toEqual([['item-1', 'item-3']]);
    expect(await ledger.waitingByDestination()).toEqual({ [SLACK.id]: 3 });
    expect(await ledger.pending(SLACK, parcel(1, 3).alerts)).toHaveLength(2);
  });

  test('cut short before the queue has it, it can be repeated', async () => {
    const { ledger, queued, hooks, resend, end } = setUp();
    await end(makeAlert(1), 'delivered');
    hooks.enqueue = () => Promise.reject(new Error('Redis went away'));
    await expect(resend([parcel(1)], 'replayed', 'n')).rejects.toThrow('Redis went away');
    hooks.enqueue = async () => {};
    expect(await resend([parcel(1)], 'replayed', 'm')).toEqual({ sent: 1, held: 0, waiting: 0, delivered: 0 });
    expect(queued).toHaveLength(1);
    expect(await ledger.waitingByDestination()).toEqual({ [SLACK.id]: 1 });
  });

  test('does not hold back the copy of the cursors', async () => {
    const { ledger, resend, end } = setUp();
    await ledger.recordWaiting([parcel(1)]);
    expect(await ledger.oldestOpen(makeAlert(1))).toBe(Date.parse(makeAlert(1).at));
    await end(makeAlert(1), 'delivered');
    await resend([parcel(1)], 'replayed', 'n');
    expect(await ledger.oldestOpen(makeAlert(1))).toBeUndefined();
  });

  test('that arrives does not close an alert whose other deliveries are still on their way', async () => {
    const { ledger, resend, end } = setUp();
    await ledger.recordWaiting([parcel(1), { ...parcel(1), destination: EMAIL }]);
    await end(makeAlert(1), 'delivered');
    await resend([parcel(1)], 'replayed', 'n');
    await end(makeAlert(1), 'delivered');
    expect(await ledger.oldestOpen(makeAlert(1))).toBe(Date.parse(makeAlert(1).at));
  });

  test('takes the letter of what had died', async () => {
    const { dead, resend, die } = setUp();
    await die(makeAlert(1));
    await die(makeAlert(1), EMAIL);
    await resend([parcel(1)], 'replayed', 'n');
    expect((await dead.list()).map(({ destination }) => destination?.id)).toEqual([EMAIL.id]);
  });
});

describe('dead letters', () => {
  test('a dropped delivery stays dead, and the ledger says who gave it up; what is on its way cannot be dropped', async () => {
    const { ledger, corrections, die, stateOf } = setUp();
    await ledger.recordWaiting([parcel(1, 2)]);
    await die(makeAlert(1));
    expect(await corrections.drop(SLACK, parcel(1, 2).alerts)).toEqual(['dead', 'waiting']);
    expect(await stateOf(makeAlert(1))).toMatchObject({ state: 'dead', acts: [{ act: 'dropped' }] });
    expect((await stateOf(makeAlert(2)))?.acts).toBeUndefined();
    expect(await ledger.waitingByDestination()).toEqual({ [SLACK.id]: 1 });
  });

  test('an alert without a destination has a page, until it has one', async () => {
    const { ledger, corrections } = setUp();
    const attempt = { at: AT, outcome: 'dead', durationMs: 0, reason: 'no-destination' } as const;
    await ledger.recordAttempt(NO_DESTINATION, [makeAlert(1)], { state: 'dead', attempt });
    expect((await ledger.read(makeAlert(1).id))?.deliveries).toMatchObject([
      { state: 'dead', destination: NO_DESTINATION },
    ]);
    await corrections.clearUnroutable([makeAlert(1)]);
    expect((await ledger.read(makeAlert(1).id))?.deliveries).toEqual([]);
  });

  test('are found by id, and taken away only as they were read', async () => {
    const { dead, bury } = setUp();
    await bury(makeAlert(1));
    await bury(makeAlert(2));
    const ids = await dead.ids();
    const letters = await dead.get([...ids, 'msg_unknown']);
    expect(letters.map(({ id }) => id)).toEqual(ids);
    const [first, second] = letters as [DeadDelivery, DeadDelivery];
    await dead.remove([first, { ...second, at: 'earlier' }]);
    expect(await dead.ids()).toEqual([second.id]);
  });
});

type Reconciler = ReturnType<typeof setUp>;
interface Step {
  verb: 'expect' | 'delivered' | 'dead' | 'waiting' | 'retried' | 'replayed' | 'dropped';
  alert: Alert;
  destination: Destination;
}

/** A delivery is booked only where it was expected. */
const play = async ({ ledger, corrections, resend, end, stateOf }: Reconciler, { verb, alert, destination }: Step) => {
  const one = { destination, alerts: [alert] };
  switch (verb) {
    case 'expect':
      return ledger.recordWaiting([one]);
    case 'dropped':
      return corrections.drop(destination, [alert]);
    case 'retried':
    case 'replayed':
      return resend([one], verb, 'n');
    default:
      return (await stateOf(alert, destination)) && end(alert, verb, destination);
  }
};

const countWaiting = async ({ ledger }: Reconciler, alerts: readonly Alert[]) => {
  const records = await Promise.all(alerts.map(({ id }) => ledger.read(id)));
  const waiting = records.flatMap((record) => record?.deliveries ?? []).filter(({ state }) => state === 'waiting');
  const byId = Object.groupBy(waiting, ({ destination }) => destination.id);
  return Object.fromEntries(Object.entries(byId).map(([id, deliveries = []]) => [id, deliveries.length]));
};

test('whatever happens in whatever order, the counts of what is on its way are those of the ledger', async () => {
  const alerts = [1, 2].map((n) => makeAlert(n));
  const destinations = [SLACK, EMAIL];
  const step: fc.Arbitrary<Step> = fc.record({
    verb: fc.constantFrom('expect', 'delivered', 'dead', 'waiting', 'retried', 'replayed', 'dropped'),
    alert: fc.constantFrom(...alerts),
    destination: fc.constantFrom(...destinations),
  });
  const { redis, prefix } = openTestRedis();
  let runs = 0;
  const prove = async (steps: readonly Step[]): Promise<void> => {
    runs += 1;
    const replayer = setUp({ redis, prefix: `${prefix}:${runs}` });
    for (const each of steps) await play(replayer, each);
    expect(await replayer.ledger.waitingByDestination()).toEqual(await countWaiting(replayer, alerts));
    for (const alert of alerts) for (const one of destinations) await replayer.end(alert, 'delivered', one);
    expect(await replayer.ledger.waitingByDestination()).toEqual({});
    for (const alert of alerts) expect(await replayer.ledger.oldestOpen(alert)).toBeUndefined();
  };
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 25 }), prove), { numRuns: 60 });
});

test('a nonce makes a retry another job than the one that died', () => {
  expect(parcelJobId(parcel(1), 'n')).not.toBe(parcelJobId(parcel(1)));
  expect(parcelJobId(parcel(1), 'n')).toBe(parcelJobId(parcel(1), 'n'));
});
