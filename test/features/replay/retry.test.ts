import { expect, test } from 'vitest';
import type { Alert, Destination, Parcel } from '../../../src/alert.ts';
import { createRetry, type RetryDependencies } from '../../../src/features/replay/retry.ts';
import { type DeadDelivery, deadId } from '../../../src/ledger/dead-letters.ts';
import { destinationOf } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';

const SLACK = destinationOf('slack', 'C1');
const MAIL = destinationOf('email', 'a@example.com');

const letterOf = (alert: Alert, destination?: Destination, at = '2026-11-20T12:00:00.000Z'): DeadDelivery => ({
  id: deadId(alert, destination),
  alert,
  ...(destination ? { destination } : {}),
  reason: 'destination-dead',
  message: 'it said no',
  attempts: 1,
  at,
});

/** Slack and mail are configured; unroutable alerts now go to mail. */
const setUp = (changes: Partial<RetryDependencies> = {}) => {
  const queued: { parcels: readonly Parcel[]; nonce: string }[] = [];
  const enabled: string[] = [];
  const cleared: string[] = [];
  const removed: string[] = [];
  const retry = createRetry({
    corrections: {
      reopen: async (_target, alerts) => alerts.map(() => 'dead' as const),
      clearUnroutable: async (alerts) => void cleared.push(...alerts.map(({ itemId }) => itemId)),
    },
    deadLetters: {
      get: async () => [],
      remove: async (letters: readonly DeadDelivery[]) => void removed.push(...letters.map(({ id }) => id)),
    } as unknown as RetryDependencies['deadLetters'],
    enqueueApproved: async (parcels, nonce) => {
      queued.push({ parcels, nonce });
      return 0;
    },
    queuedOrHeld: { withoutJob: async () => [] },
    enable: async (id) => enabled.push(id),
    routesOf: async () => ({ destinations: [MAIL], problems: [] }),
    isConfigured: (kind) => kind !== 'telegram',
    workers: async (kind) => (kind === 'slack' ? 0 : 2),
    ...changes,
  });
  return { ...retry, queued, enabled, cleared, removed };
};

test('a dead delivery goes back to its destination, which is enabled once', async () => {
  const { retry, queued, enabled } = setUp();
  const letters = [letterOf(makeAlert(1), SLACK), letterOf(makeAlert(2), SLACK)];
  expect(await retry(letters)).toEqual({ sent: 2, held: 0, waiting: 0, delivered: 0, refused: [], kinds: ['slack'] });
  expect(queued.map(({ parcels }) => parcels)).toEqual([
    [{ destination: SLACK, alerts: [makeAlert(1), makeAlert(2)] }],
  ]);
  expect(enabled).toEqual([SLACK.id]);
});

test('an unroutable alert goes by the routes of today, and is unroutable no more', async () => {
  const { retry, queued, cleared, removed } = setUp();
  const letter = letterOf(makeAlert(1));
  expect(await retry([letter])).toMatchObject({ sent: 1, kinds: ['email'], refused: [] });
  expect(queued[0]?.parcels).toEqual([{ destination: MAIL, alerts: [makeAlert(1)] }]);
  expect(cleared).toEqual(['item-1']);
  expect(removed).toContain(letter.id);
});

test('what cannot be sent is refused with a reason, and its letter stays', async () => {
  const { retry, removed } = setUp({ routesOf: async () => ({ destinations: [], problems: ['no channels'] }) });
  const letters = [letterOf(makeAlert(1)), letterOf(makeAlert(2), destinationOf('telegram', '1'))];
  const { refused, sent } = await retry(letters);
  expect(sent).toBe(0);
  expect(refused).toEqual([
    { id: letters[0]?.id, problem: 'it has no destination now either; no channels' },
    { id: letters[1]?.id, problem: "the config does not set up the channel kind 'telegram'" },
  ]);
  expect(removed).toEqual([]);
});

test('the same retry makes the same jobs; after another death it makes others', async () => {
  const { retry, queued } = setUp();
  const letter = letterOf(makeAlert(1), SLACK);
  await retry([letter]);
  await retry([letter]);
  await retry([{ ...letter, at: '2026-11-20T13:00:00.000Z' }]);
  const nonces = queued.map(({ nonce }) => nonce);
  expect(nonces[0]).toBe(nonces[1]);
  expect(nonces[2]).not.toBe(nonces[0]);
});

test('kinds that no daemon sends are named', async () => {
  expect(await setUp().idleKinds(new Set(['slack', 'email']))).toEqual(['slack']);
});
