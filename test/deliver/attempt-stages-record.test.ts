import { describe, expect, test } from 'vitest';
import { record } from '../../src/deliver/attempt-stages.ts';
import type { AttemptRun } from '../../src/deliver/stage.ts';
import { DeliveryError } from '../../src/errors.ts';
import { sampleAlert } from '../../src/features/sample/sample.ts';
import type { DeliveryState } from '../../src/ledger/record.ts';
import { attemptRun, type Handed, handed, jobOf, messageOf, NOW, now } from '../support/delivery-runs.ts';

const setUp = async (changes: Partial<AttemptRun>, found: DeliveryState = 'waiting') => {
  const done: string[] = [];
  const dependencies: Handed = {
    ledger: {
      pending: async (_destination, alerts) => [...alerts],
      recordAttempt: async (_destination, alerts, { state, handle }) => {
        done.push(`ledger ${state} ${alerts.length}${handle === undefined ? '' : ` ${handle}`}`);
        return alerts.map(() => found);
      },
    },
    deadLetters: {
      add: async ({ reason, attempts }) => void done.push(`dead letter ${reason} ${attempts}`),
      get: async () => [],
      remove: async () => {},
    },
    destinationStats: {
      succeeded: async (_destination, count) => void done.push(`stats delivered ${count}`),
      failed: async (_destination, _at, message) => void done.push(`stats failed: ${message}`),
    },
    onDead: async (_destination, _alerts, why) => void done.push(`on dead: ${why}`),
    onDied: async (_destination, { length }) => void done.push(`died ${length}`),
    onDisabled: async (_destination, _at, message) => void done.push(`disabled: ${message}`),
    scrub: (text) => text.replaceAll('hunter2', '[secret]'),
    now,
  };
  const run = attemptRun({ durationMs: 7, attempt: 2, ...changes });
  expect(await record(run, handed(dependencies))).toBeUndefined();
  return { run, done };
};

const error = new DeliveryError('unavailable', 'refused with hunter2', { code: 'hunter2' });
const RETRY = { kind: 'retry', delayMs: 1, holdMs: 0 } as const;

const repeats = async ({ decision }: AttemptRun): Promise<boolean> =>
  decision.kind === 'delivered' && (await decision.isRepeat);

describe('a delivery', () => {
  const receipt = { providerId: 'ts-1', handle: 'handle-1' };

  test('is in the ledger, with what later messages need to find it, and in the statistics', async () => {
    const { run, done } = await setUp({ receipt, decision: { kind: 'delivered', receipt, isRepeat: false } });
    expect(await repeats(run)).toBe(false);
    expect(done).toEqual(['ledger delivered 2 handle-1', 'stats delivered 2']);
    const at = new Date(NOW).toISOString();
    expect(run.entry).toEqual({ at, outcome: 'delivered', durationMs: 7, providerId: 'ts-1' });
  });

  test('that another job had made as well is a repeat', async () => {
    const { run } = await setUp({ receipt, decision: { kind: 'delivered', receipt, isRepeat: false } }, 'delivered');
    expect(await repeats(run)).toBe(true);
  });

  test('of which a part was sent is not recorded yet', async () => {
    const part = { progress: '1' };
    const { run, done } = await setUp({ receipt: part, decision: { kind: 'partial', ...part } });
    expect([done, run.entry]).toEqual([[], undefined]);
  });
});

describe('a failure', () => {
  test('that may pass waits in the ledger, without secrets', async () => {
    const { run, done } = await setUp({ error, decision: RETRY });
    expect(done).toEqual(['ledger waiting 2', 'stats failed: refused with [secret]']);
    expect(run.entry).toMatchObject({
      outcome: 'retrying',
      reason: 'unavailable',
      code: '[secret]',
      message: 'refused with [secret]',
    });
  });

  test('that is final is a dead letter first and in the ledger last', async () => {
    const givenUp = { by: 'max-age', afterMs: 3_600_000 } as const;
    const { done } = await setUp({ error, decision: { kind: 'dead', givenUp } });
    expect(done).toEqual([
      'dead letter unavailable 2',
      'dead letter unavailable 2',
      'on dead: given up after 60 min (retry.maxAge): refused with [secret]',
      'ledger dead 2',
      'died 2',
      'stats failed: given up after 60 min (retry.maxAge): refused with [secret]',
    ]);
  });

  test('of a sample does not count against its destination', async () => {
    const sample = { ...jobOf([]), alerts: [sampleAlert('main', 'Vault', 'test-1', NOW)] };
    const { done } = await setUp({ message: messageOf(sample), error, decision: RETRY });
    expect(done).toEqual(['ledger waiting 1']);
  });

  test('of a sample that is final is no dead letter: whoever sent it is told', async () => {
    const sample = { ...jobOf([]), alerts: [sampleAlert('main', 'Vault', 'test-1', NOW)] };
    const { done } = await setUp({ message: messageOf(sample), error, decision: { kind: 'dead' } });
    expect(done).toEqual(['ledger dead 1']);
  });

  test('of a sample disables no destination: its address may be a made-up one', async () => {
    const sample = { ...jobOf([]), alerts: [sampleAlert('main', 'Vault', 'test-1', NOW)] };
    const gone = new DeliveryError('destination-dead', 'answered 410', { code: '410', disables: true });
    const { done } = await setUp({ message: messageOf(sample), error: gone, decision: { kind: 'dead' } });
    expect(done).toEqual(['ledger dead 1']);
  });

  test('by which the receiver disabled its destination is remembered', async () => {
    const gone = new DeliveryError('destination-dead', 'answered 410', { code: '410', disables: true });
    const { done } = await setUp({ error: gone, decision: { kind: 'dead' } });
    expect(done.at(-1)).toBe('disabled: answered 410');
  });
});
