import { expect, test } from 'vitest';
import { updateCircuit } from '../../src/deliver/attempt-stages.ts';
import type { AttemptRun } from '../../src/deliver/stage.ts';
import { failure } from '../support/deliveries.ts';
import { attemptRun, handed, NOW, now } from '../support/delivery-runs.ts';

const ENTRY = { at: '2026-11-20T12:00:00.000Z', outcome: 'retrying', durationMs: 1, message: 'refused' } as const;

const setUp = async (changes: Partial<AttemptRun>, pausedUntil?: number) => {
  const heard: unknown[] = [];
  const run = attemptRun(changes);
  const health = {
    worked: async ({ id }: { id: string }) => void heard.push(`${id} worked`),
    unasked: async ({ id }: { id: string }) => void heard.push(`${id} was not asked`),
    failed: async (
      _destination: unknown,
      _alerts: unknown,
      failed: { message: string; said?: string; retryInMs: number },
    ) => {
      heard.push([failed.message, failed.retryInMs, ...(failed.said === undefined ? [] : [failed.said])]);
      return pausedUntil;
    },
  };
  expect(
    await updateCircuit(run, handed({ health, scrub: (text) => text.replaceAll('s3cr3t', '[secret]'), now })),
  ).toBeUndefined();
  return { heard, decision: run.decision };
};

const RETRY = { kind: 'retry', delayMs: 9000, holdMs: 0 } as const;

test('a success closes the circuits, and so does a part of a message', async () => {
  const { heard } = await setUp({ receipt: { progress: '1' }, decision: { kind: 'partial', progress: '1' } });
  expect(heard).toEqual([expect.stringMatching(/ worked$/)]);
});

test('where nothing had to be sent, no circuit closes', async () => {
  const receipt = { isUnsent: true } as const;
  const { heard } = await setUp({ receipt, decision: { kind: 'delivered', receipt, isRepeat: false } });
  expect(heard).toEqual([expect.stringMatching(/ was not asked$/)]);
});

test('a failure is heard with the delay of its retry', async () => {
  expect((await setUp({ error: failure('unavailable'), entry: ENTRY, decision: RETRY })).heard).toEqual([
    ['refused', 9000],
  ]);
  const dead = await setUp({ error: failure('unavailable'), entry: ENTRY, decision: { kind: 'dead' } });
  expect(dead.heard).toEqual([['refused', 0]]);
});

test('a retry is a probe: it comes no later than the circuit asks for one, but never before a wait that was named', async () => {
  const probe = await setUp({ error: failure('unavailable'), entry: ENTRY, decision: RETRY }, NOW + 1000);
  expect(probe.decision).toEqual({ ...RETRY, delayMs: 1000 });
  const late = await setUp({ error: failure('unavailable'), entry: ENTRY, decision: RETRY }, NOW + 30_000);
  expect(late.decision).toEqual(RETRY);
  const named = await setUp({ error: failure('unavailable', { retryAfterMs: 9000 }), decision: RETRY }, NOW + 1000);
  expect(named.decision).toEqual(RETRY);
});

test('what the provider answered is heard without secrets', async () => {
  const error = failure('destination-dead', { said: 'refused: 403 s3cr3t is unknown' });
  expect((await setUp({ error, entry: ENTRY, decision: { kind: 'dead' } })).heard).toEqual([
    ['refused', 0, 'refused: 403 [secret] is unknown'],
  ]);
});
