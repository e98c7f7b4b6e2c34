import { expect, test } from 'vitest';
import { lookUp } from '../../src/deliver/job-stages.ts';
import { handed, jobOf, jobRun, NOW, now } from '../support/delivery-runs.ts';
import { makeAlert } from '../support/numbered.ts';

const HOUR = 3_600_000;
const DISABLED = { id: 'slack-1', kind: 'slack', label: 'C1', at: '2026-11-20T12:00:00.000Z', message: 'it is gone' };

/** Answers only once everything has been asked. */
const setUp = (expected: number) => {
  const asked: string[] = [];
  const all = Promise.withResolvers<void>();
  const answer = async <T>(question: string, value: T): Promise<T> => {
    asked.push(question);
    if (asked.length === expected) all.resolve();
    await all.promise;
    return value;
  };
  const dependencies = handed({
    disabled: { find: () => answer('disabled', DISABLED) },
    addressChanges: { follow: (destination) => answer('address', { ...destination, address: 'C9' }) },
    health: { pausedUntil: () => answer('circuit', NOW + 5) },
    batching: { batches: { hasOpenBatch: () => answer('batch', true) } },
    ledger: { pending: (_destination, alerts) => answer('ledger', alerts.slice(1)) },
    sendSlots: { look: () => answer('slot', undefined) },
    maxAgeMs: HOUR,
    now,
  });
  return { asked, dependencies };
};

test('everything is asked in one go', async () => {
  const { asked, dependencies } = setUp(6);
  const run = jobRun(jobOf([1, 2]));
  expect(await lookUp(run, dependencies)).toBeUndefined();
  expect(asked.toSorted()).toEqual(['address', 'batch', 'circuit', 'disabled', 'ledger', 'slot']);
  expect(run).toMatchObject({ disabled: DISABLED, pausedUntil: NOW + 5, hasOpenBatch: true, alerts: [makeAlert(2)] });
  expect(run.job.destination.address).toBe('C9');
});

test('a job past its largest age has its last try: no circuit keeps it', async () => {
  const { asked, dependencies } = setUp(4);
  const run = jobRun(jobOf([1], { attempt: 3, firstTriedAt: NOW - HOUR - 1 }));
  await lookUp(run, dependencies);
  expect(asked.toSorted()).toEqual(['address', 'disabled', 'ledger', 'slot']);
  expect(run.pausedUntil).toBeUndefined();
  expect(run.hasOpenBatch).toBe(false);
});

test('what is in a batch is not asked for yet, and its job joins none', async () => {
  const { asked, dependencies } = setUp(4);
  const run = jobRun(jobOf([], { batchNumber: 3 }));
  await lookUp(run, dependencies);
  expect(asked.toSorted()).toEqual(['address', 'circuit', 'disabled', 'slot']);
  expect(run.alerts).toEqual([]);
});
