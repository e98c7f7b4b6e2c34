import { describe, expect, test } from 'vitest';
import type { Alert } from '../../src/alert.ts';
import type { Channel, Format } from '../../src/channels/channel.ts';
import { createPresentation } from '../../src/channels/content/presentation.ts';
import { mapSliced } from '../../src/chunks.ts';
import { createAddressChanges } from '../../src/deliver/destinations.ts';
import { createCircuits, createDestinationHealth } from '../../src/deliver/health.ts';
import type { Rate } from '../../src/deliver/rate-limit-rule.ts';
import { createRateLimiter, createRateStateStore } from '../../src/deliver/rate-limiter.ts';
import { createSendSlots } from '../../src/deliver/send-slot.ts';
import type { AttemptEvent } from '../../src/deliver/stage.ts';
import { createDeliver } from '../../src/deliver/worker.ts';
import { DeliveryError, type DeliveryReason } from '../../src/errors.ts';
import { createDeadLetters } from '../../src/ledger/dead-letters.ts';
import { createDestinationStats } from '../../src/ledger/destination-stats.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { parcelJob } from '../../src/queue/job.ts';
import { destinationOf as makeDestination } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';
import { openTestRedis } from '../support/redis.ts';

const DESTINATION = makeDestination('slack', 'C1');
type Answer = DeliveryError | Error | undefined;

interface SetUp {
  answers?: Answer[];
  rate?: Rate;
  cannotCompose?: (alert: Alert, format: Format) => boolean;
}

const setUp = ({ answers = [], rate = {}, cannotCompose = () => false }: SetUp = {}) => {
  const { redis, prefix } = openTestRedis();
  const time = { now: Date.parse('2026-11-20T12:00:00Z') };
  const now = () => time.now;
  const sent: { item: string; format: Format; to: string }[] = [];
  const tried: string[] = [];
  const events: AttemptEvent[] = [];
  const channel: Channel<Format> = {
    kind: 'slack',
    compose: ({ destination, alerts }, { format }) =>
      mapSliced(alerts, (alert) => {
        if (cannotCompose(alert, format)) throw new Error('not composable');
        return { destination, alerts: [alert], id: alert.id, body: format, isDigest: false };
      }),
    send: async ({ alerts: [alert], body, destination }, signal) => {
      signal.throwIfAborted();
      tried.push(`${alert?.itemId} ${body}`);
      const answer = answers.shift();
      if (answer) throw answer;
      sent.push({ item: alert?.itemId ?? '', format: body, to: destination.address });
      return { providerId: `ts-${sent.length}` };
    },
    verify: async () => 'fine',
    close: async () => {},
  };
  const ledger = createLedger(redis, prefix, now);
  const dead = createDeadLetters(redis, prefix);
  const destinationStats = createDestinationStats(redis, prefix);
  const health = createDestinationHealth({
    circuits: createCircuits(redis, prefix, now),
    senderOf: () => undefined,
    isSenders: async () => true,
    onBroken: async () => {},
    onRecovered: async () => {},
  });
  const process = createDeliver({
    channel,
    compose: (parcel, format, at) =>
      channel.compose(parcel, { sentAt: new Date(at).toISOString(), format, presentation: createPresentation() }),
    ledger,
    deadLetters: dead,
    destinationStats,
    sendSlots: createSendSlots({
      rateLimiter: createRateLimiter({ store: createRateStateStore(redis, prefix), now }),
      paceOf: ({ id }) => ({ id, rate }),
      senderOf: () => undefined,
      now,
    }),
    health,
    addressChanges: createAddressChanges(redis, prefix),
    onAttempt: (event) => events.push(event),
    scrub: (text) => text.replaceAll('hunter2', '[secret]'),
    concurrency: 20,
    timeoutMs: 5000,
    maxAgeMs: 3_600_000,
    now,
    random: () => 0.5,
  });
  const run = (alerts: Alert[], changes: object = {}, signal = new AbortController().signal) =>
    process({ ...parcelJob({ destination: DESTINATION, alerts }), ...changes }, signal);
  return { run, sent, tried, events, ledger, dead, destinationStats, time };
};

const failure = (reason: DeliveryReason, details: object = {}) =>
  new DeliveryError(reason, `refused with hunter2`, { code: reason, ...details });

describe('delivering a parcel', () => {
  test('sends each alert once, records it, and sends nothing on a repeat', async () => {
    const { run, sent, ledger, destinationStats } = setUp();
    const alerts = [makeAlert(1), makeAlert(2)];
    expect(await run(alerts)).toEqual({ done: true });
    expect(await run(alerts)).toEqual({ done: true });
    expect(sent.map(({ item }) => item)).toEqual(['item-1', 'item-2']);
    const record = await ledger.read(makeAlert(2).id);
    expect(record?.deliveries).toMatchObject([
      { state: 'delivered', providerId: 'ts-2', attempts: [{ outcome: 'delivered' }] },
    ]);
    expect(await ledger.byTransaction(makeAlert(2).txHash?.toUpperCase() ?? '')).toEqual([makeAlert(2).id]);
    await destinationStats.written();
    expect(await destinationStats.list()).toMatchObject([{ id: DESTINATION.id, delivered: 2 }]);
  });

  test('what is on its way is counted by destination, once however often it is expected', async () => {
    const { run, ledger } = setUp({ answers: [undefined, failure('destination-dead')] });
    const parcel = { destination: DESTINATION, alerts: [makeAlert(1), makeAlert(2), makeAlert(3)] };
    await ledger.recordWaiting([parcel]);
    await ledger.recordWaiting([parcel]);
    expect(await ledger.waitingByDestination()).toEqual({ [DESTINATION.id]: 3 });
    await run([makeAlert(1), makeAlert(2)]);
    expect(await ledger.waitingByDestination()).toEqual({ [DESTINATION.id]: 1 });
    await run([makeAlert(3)]);
    await ledger.recordWaiting([parcel]);
    expect(await ledger.waitingByDestination()).toEqual({});
  });

  test('after a passing fault only the rest is sent again', async () => {
    const { run, sent, events, time } = setUp({ answers: [undefined, failure('unavailable')] });
    const alerts = [makeAlert(1), makeAlert(2), makeAlert(3)];
    const verdict = await run(alerts);
    if (verdict.done) throw new Error('expected another run');
    expect(verdict.runAt).toBeGreaterThan(time.now);
    expect(verdict.data).toMatchObject({ attempt: 1, firstTriedAt: time.now });
    expect(await run(alerts, verdict.data)).toEqual({ done: true });
    expect(sent.map(({ item }) => item)).toEqual(['item-1', 'item-2', 'item-3']);
    expect(events.map(({ outcome }) => outcome)).toEqual(['delivered', 'retrying', 'delivered', 'delivered']);
  });

  test('a stated wait moves every slot of the destination, also those that wait already, and keeps their order', async () => {
    const { run, sent, time } = setUp({
      answers: [undefined, failure('rate-limited', { retryAfterMs: 9000 })],
      rate: { perSecond: 1 },
    });
    const begun = time.now;
    await run([makeAlert(1)]);
    const jobs = await Promise.all([2, 3, 4].map(async (n) => ({ n, verdict: await run([makeAlert(n)]) })));
    const order: string[] = [];
    while (jobs.length > 0) {
      jobs.sort((a, b) => (a.verdict.done ? 0 : a.verdict.runAt) - (b.verdict.done ? 0 : b.verdict.runAt));
      const [next] = jobs;
      if (!next || next.verdict.done) throw new Error('expected a job that waits');
      time.now = next.verdict.runAt;
      const before = sent.length;
      next.verdict = await run([makeAlert(next.n)], next.verdict.data);
      if (sent.length > before) order.push(`${next.n} at ${time.now - begun}`);
      if (next.verdict.done) jobs.shift();
    }
    expect(order).toEqual(['2 at 10500', '3 at 11500', '4 at 12500']);
  });

  test('a dead destination makes dead letters without secrets, and the ledger says dead', async () => {
    const { run, dead, ledger } = setUp({ answers: [failure('destination-dead')] });
    expect(await run([makeAlert(1)])).toEqual({ done: true });
    const [letter] = await dead.list();
    expect(letter).toMatchObject({
      alert: makeAlert(1),
      destination: DESTINATION,
      reason: 'destination-dead',
      attempts: 1,
    });
    expect(letter?.message).toBe('refused with [secret]');
    expect((await ledger.read(makeAlert(1).id))?.deliveries).toMatchObject([{ state: 'dead' }]);
  });

  test('a refused body is never sent again as it was: plainer twice, then dead; neighbours flow', async () => {
    const bad = () => failure('bad-message');
    const { run, sent, dead } = setUp({ answers: [bad(), undefined, bad(), bad()] });
    expect(await run([makeAlert(1), makeAlert(2)])).toEqual({ done: true });
    expect(sent).toEqual([{ item: 'item-2', format: 'rich', to: 'C1' }]);
    expect((await dead.list()).map(({ alert }) => alert.itemId)).toEqual(['item-1']);

    const mended = setUp({ answers: [bad()] });
    await mended.run([makeAlert(1)]);
    expect(mended.sent).toEqual([{ item: 'item-1', format: 'plain', to: 'C1' }]);
  });

  test('nor is it after the job had to wait for the slot of a neighbour', async () => {
    const bad = failure('bad-message');
    const { run, tried, sent, time } = setUp({ answers: [bad], rate: { perSecond: 1 } });
    const alerts = [1, 2, 3].map((n) => makeAlert(n));
    let job: object = {};
    for (let runs = 0; runs < 10; runs += 1) {
      const verdict = await run(alerts, job);
      if (verdict.done) break;
      time.now = verdict.runAt;
      job = verdict.data;
    }
    expect(sent.map(({ item }) => item).toSorted()).toEqual(['item-1', 'item-2', 'item-3']);
    expect(new Set(tried).size).toBe(tried.length);
  });

  test('a destination that moved is followed at once, under the same identity', async () => {
    const { run, sent } = setUp({ answers: [failure('re-address', { newAddress: 'C2' })] });
    const verdict = await run([makeAlert(1)]);
    if (verdict.done) throw new Error('expected another run');
    expect(await run([makeAlert(1)], verdict.data)).toEqual({ done: true });
    expect(sent).toEqual([{ item: 'item-1', format: 'rich', to: 'C2' }]);
  });

  test('a provider that sends us round in circles is followed slowly', async () => {
    const there = failure('re-address', { newAddress: 'C2' });
    const back = failure('re-address', { newAddress: 'C1' });
    const { run, time } = setUp({ answers: [there, back] });
    const first = await run([makeAlert(1)]);
    if (first.done) throw new Error('expected another run');
    expect(first.runAt).toBe(time.now);
    const second = await run([makeAlert(1)], first.data);
    if (second.done) throw new Error('expected another run');
    expect(second.runAt).toBe(time.now + 60_000);
  });

  test('an alert that cannot be composed takes no neighbour along and is sent more plainly', async () => {
    const { run, sent } = setUp({ cannotCompose: (alert, format) => alert.itemId === 'item-2' && format === 'rich' });
    expect(await run([makeAlert(1), makeAlert(2), makeAlert(3)])).toEqual({ done: true });
    expect(sent.map(({ item, format }) => `${item} ${format}`)).toEqual(['item-1 rich', 'item-3 rich', 'item-2 plain']);
  });

  test('one that fits no format is dead, behind its neighbours, and says why', async () => {
    const { run, sent, dead, ledger, events } = setUp({ cannotCompose: (alert) => alert.itemId !== 'item-2' });
    expect(await run([makeAlert(1), makeAlert(2), makeAlert(3)])).toEqual({ done: true });
    expect(sent.map(({ item }) => item)).toEqual(['item-2']);
    const message = 'no message could be made of it, not even the plainest: not composable';
    expect((await dead.list()).map(({ alert, reason }) => [alert.itemId, reason]).toSorted()).toEqual([
      ['item-1', 'uncomposable'],
      ['item-3', 'uncomposable'],
    ]);
    expect((await ledger.read(makeAlert(1).id))?.deliveries).toMatchObject([
      { state: 'dead', attempts: [{ message }] },
    ]);
    expect(events.at(-1)).toMatchObject({ outcome: 'dead', reason: 'uncomposable', message, attempt: 0 });
  });

  test('past its largest age a delivery is dead, and an error that is none of ours is retried', async () => {
    const { run, dead, events, time } = setUp({ answers: [new Error('boom'), failure('unavailable')] });
    const first = await run([makeAlert(1)]);
    if (first.done) throw new Error('expected another run');
    time.now += 3_700_000;
    expect(await run([makeAlert(1)], first.data)).toEqual({ done: true });
    const message = 'given up after 60 min (retry.maxAge): refused with [secret]';
    expect(await dead.list()).toMatchObject([{ reason: 'unavailable', message }]);
    expect(events.at(-1)).toMatchObject({ outcome: 'dead', reason: 'unavailable', message });
  });

  test('our own shutdown charges nothing', async () => {
    const { run, events } = setUp();
    const verdict = await run([makeAlert(1)], {}, AbortSignal.abort());
    expect(verdict).toMatchObject({ done: false, data: { attempt: 0 } });
    expect(events).toEqual([]);
  });

  test('slots keep the pace of a destination without spending tries, and each message takes one', async () => {
    const { run, sent, time } = setUp({ rate: { perSecond: 1, burst: 2 } });
    const alerts = [1, 2, 3, 4].map((n) => makeAlert(n));
    const begun = time.now;
    let job: object = {};
    for (let runs = 0; runs < 10; runs += 1) {
      const verdict = await run(alerts, job);
      if (verdict.done) break;
      expect(verdict.data.attempt).toBe(0);
      time.now = verdict.runAt;
      job = verdict.data;
    }
    expect(sent).toHaveLength(4);
    expect(time.now - begun).toBe(2000);
  });
});
