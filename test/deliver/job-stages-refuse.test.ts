/** What is for a destination that its receiver disabled ends at once, and is kept. */
import { describe, expect, test } from 'vitest';
import type { Alert, Destination } from '../../src/alert.ts';
import { createDisabled } from '../../src/deliver/destinations.ts';
import { refuse } from '../../src/deliver/job-stages.ts';
import type { AttemptEvent } from '../../src/deliver/stage.ts';
import { createDeadLetters } from '../../src/ledger/dead-letters.ts';
import { createDestinationStats } from '../../src/ledger/destination-stats.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { parcelJob } from '../../src/queue/job.ts';
import { destinationOf, inspectionAlert } from '../support/alerts.ts';
import { handed, jobRun } from '../support/delivery-runs.ts';
import { openTestRedis } from '../support/redis.ts';

const GONE = destinationOf('webhook', 'https://hooks.example/s3cr3t', 'hooks.example (ab12)');
const OTHER = destinationOf('webhook', 'https://hooks.example/other');
const AT = '2026-11-20T12:00:00.000Z';
const ALERTS = ['a', 'b', 'c'].map((_id) => inspectionAlert({ item: { _id } }));

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const now = () => Date.parse('2026-11-20T13:00:00.000Z');
  const disabled = createDisabled(redis, prefix);
  const ledger = createLedger(redis, prefix, now);
  const dead = createDeadLetters(redis, prefix);
  const destinationStats = createDestinationStats(redis, prefix);
  const announced: { to: string; items: string[]; why: string }[] = [];
  const events: AttemptEvent[] = [];
  const dependencies = {
    ledger,
    deadLetters: dead,
    destinationStats,
    onDead: async ({ id }: Destination, alerts: readonly Alert[], why: string) =>
      void announced.push({ to: id, items: alerts.map((one) => one.itemId), why }),
    onAttempt: (event: AttemptEvent) => void events.push(event),
    now,
  };
  const run = async (destination = GONE) => {
    const [found, alerts] = [await disabled.find(destination.id), await ledger.pending(destination, ALERTS)];
    return refuse(
      jobRun(parcelJob({ destination, alerts: ALERTS }), { alerts, disabled: found }),
      handed(dependencies),
    );
  };
  return { disabled, ledger, dead, destinationStats, announced, events, run };
};

describe('what is for it', () => {
  test('dies at once, is kept and counted, and says why', async () => {
    const { disabled, ledger, dead, destinationStats, announced, events, run } = setUp();
    await disabled.disable(GONE, AT, 'it answered 410');
    const [first] = ALERTS;
    if (first === undefined) throw new Error('no alert');
    const receipt = { at: AT, outcome: 'delivered', durationMs: 1 } as const;
    await ledger.recordAttempt(GONE, [first], { state: 'delivered', attempt: receipt });
    expect(await run()).toEqual({ done: true });
    const letters = await dead.list();
    expect(letters.map(({ alert, reason, attempts }) => [alert.itemId, reason, attempts]).toSorted()).toEqual([
      ['b', 'disabled', 0],
      ['c', 'disabled', 0],
    ]);
    expect(letters[0]?.message).toBe(
      `disabled since ${AT}, when it answered 410; tocsin destinations enable ${GONE.id}`,
    );
    expect(announced).toEqual([{ to: GONE.id, items: ['b', 'c'], why: letters[0]?.message }]);
    const [, second] = ALERTS;
    const record = await ledger.read(second?.id ?? '');
    expect(record?.deliveries[0]).toMatchObject({ state: 'dead', attempts: [{ reason: 'disabled', outcome: 'dead' }] });
    expect(await destinationStats.list()).toMatchObject([{ id: GONE.id }]);
    expect(events).toMatchObject([{ outcome: 'dead', reason: 'disabled', attempt: 0, alerts: [{}, {}] }]);
  });

  test('goes out again once it is enabled; others never notice', async () => {
    const { disabled, dead, events, run } = setUp();
    await disabled.disable(GONE, AT, 'it answered 410');
    expect(await run(OTHER)).toBeUndefined();
    await disabled.enable(GONE.id);
    expect(await run()).toBeUndefined();
    expect(await dead.list()).toEqual([]);
    expect(events).toEqual([]);
  });

  test('is nothing where all of it was delivered before', async () => {
    const { disabled, ledger, announced, events, run } = setUp();
    const receipt = { at: AT, outcome: 'delivered', durationMs: 1 } as const;
    await ledger.recordAttempt(GONE, ALERTS, { state: 'delivered', attempt: receipt });
    await disabled.disable(GONE, AT, 'it answered 410');
    expect(await run()).toEqual({ done: true });
    expect({ announced, events }).toEqual({ announced: [], events: [] });
  });
});
