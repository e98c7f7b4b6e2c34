import { describe, expect, onTestFinished, test } from 'vitest';
import { createLostDeliveries, type LostDependencies } from '../../../src/features/audit/lost-deliveries.ts';
import { createDeadLetters } from '../../../src/ledger/dead-letters.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { createParcelQueues } from '../../../src/queue/queues.ts';
import { createJobScan } from '../../../src/queue/scan.ts';
import { destinationOf } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';

const DESTINATION = destinationOf('slack', 'C1');
const MINUTE = 60_000;
const ALERT = makeAlert(1);

const setUp = (changes: Partial<LostDependencies> = {}) => {
  const { redis, prefix } = openTestRedis();
  const time = { now: Date.parse('2026-11-20T12:00:00Z') };
  const now = (): number => time.now;
  const queues = createParcelQueues({ redis, prefix, onError: () => {} });
  onTestFinished(() => queues.close());
  const ledger = createLedger(redis, prefix, now);
  const dead = createDeadLetters(redis, prefix);
  const jobScan = createJobScan(redis, prefix);
  const lost = createLostDeliveries({
    jobScan,
    ledger,
    dead,
    enqueue: queues.enqueue,
    destinationsOf: async () => [destinationOf('slack', 'C2'), DESTINATION],
    itemOf: async () => ALERT.item,
    lostAfterMs: 10 * MINUTE,
    now,
    ...changes,
  });
  const find = async () => {
    const record = await ledger.read(ALERT.id);
    return lost.lostOf(record ? lost.overdueOf(record) : []);
  };
  return { time, queues, ledger, dead, jobScan, find, heal: lost.heal };
};

const PARCEL = { destination: DESTINATION, alerts: [ALERT] };
const CARRIED = { alert: ALERT.id, destination: DESTINATION.id };

describe('a lost delivery', () => {
  test('has waited for long without a job', async () => {
    const { time, queues, ledger, find } = setUp();
    await ledger.recordWaiting([PARCEL]);
    expect(await find()).toEqual([]);
    time.now += 11 * MINUTE;
    expect(await find()).toMatchObject([CARRIED]);
    await queues.enqueue([PARCEL]);
    expect(await find()).toEqual([]);
  });

  test('is none once it has ended', async () => {
    const { time, ledger, find } = setUp();
    await ledger.recordWaiting([PARCEL]);
    const attempt = { at: new Date(time.now).toISOString(), outcome: 'delivered', durationMs: 1 } as const;
    await ledger.recordAttempt(DESTINATION, [ALERT], { state: 'delivered', attempt });
    time.now += 11 * MINUTE;
    expect(await find()).toEqual([]);
  });

  test('that ends while it is looked for is none', async () => {
    const context = setUp();
    const { time, ledger, jobScan } = context;
    const withoutJob: typeof jobScan.withoutJob = async (kind, deliveries) => {
      const found = await jobScan.withoutJob(kind, deliveries);
      const attempt = { at: new Date(time.now).toISOString(), outcome: 'delivered', durationMs: 1 } as const;
      await ledger.recordAttempt(DESTINATION, [ALERT], { state: 'delivered', attempt });
      return found;
    };
    const { overdueOf, lostOf } = createLostDeliveries({
      jobScan: { withoutJob },
      ledger,
      dead: context.dead,
      enqueue: context.queues.enqueue,
      destinationsOf: async () => [],
      itemOf: async () => undefined,
      lostAfterMs: 0,
      now: () => time.now + 1,
    });
    await ledger.recordWaiting([PARCEL]);
    const record = await ledger.read(ALERT.id);
    const suspects = record ? overdueOf(record) : [];
    expect(suspects).toMatchObject([CARRIED]);
    expect(await lostOf(suspects)).toEqual([]);
  });

  test('is queued again, to its own destination only, and then found no more', async () => {
    const { time, queues, ledger, jobScan, find, heal } = setUp();
    await ledger.recordWaiting([PARCEL]);
    time.now += 11 * MINUTE;
    for (const suspect of await find()) await heal(suspect);
    expect(await find()).toEqual([]);
    const elsewhere = { alert: ALERT.id, destination: destinationOf('slack', 'C2').id };
    expect(await jobScan.withoutJob('slack', [elsewhere])).toEqual([elsewhere]);
    expect((await queues.counts()).find(({ name }) => name === 'deliver-slack')?.waiting).toBe(1);
  });

  test('that leads nowhere any more ends as dead, and is kept', async () => {
    const { time, ledger, dead, find, heal } = setUp({ destinationsOf: async () => [], itemOf: async () => undefined });
    await ledger.recordWaiting([PARCEL]);
    time.now += 11 * MINUTE;
    for (const suspect of await find()) await heal(suspect);
    expect((await ledger.read(ALERT.id))?.deliveries).toMatchObject([
      { state: 'dead', destination: { id: DESTINATION.id } },
    ]);
    expect(await ledger.oldestOpen(ALERT)).toBeUndefined();
    expect(await ledger.waitingByDestination()).toEqual({});
    const { itemId, txHash } = ALERT;
    expect(await dead.list()).toMatchObject([{ reason: 'lost', alert: { itemId, item: { _id: itemId, txHash } } }]);
  });
});
