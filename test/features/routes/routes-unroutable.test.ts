import { expect, test } from 'vitest';
import { createUnroutable } from '../../../src/features/routes/routes.ts';
import { makeAlert } from '../../support/numbered.ts';

const T0 = Date.parse('2026-11-20T12:00:00Z');

const setUp = (toFallback = async (_alert: unknown, _why: string): Promise<void> => {}) => {
  const done: unknown[] = [];
  const end = createUnroutable({
    deadLetters: { add: async ({ reason, message, at }) => void done.push(['dead letter', reason, message, at]) },
    ledger: {
      recordAttempt: async ({ id }, alerts, { state }) => {
        done.push(['ledger', id, alerts.map(({ itemId }) => itemId), state]);
        return alerts.map(() => undefined);
      },
    },
    toFallback: async (alert, why) => {
      await toFallback(alert, why);
      done.push(['fallback', why]);
    },
    log: { error: (line: unknown) => void done.push(['log', line]) } as never,
    now: () => T0,
  });
  return { end, done };
};

test('is kept as a dead letter, goes to the fallback, and ends in the ledger last', async () => {
  const { end, done } = setUp();
  await end(makeAlert(1), ['slack: nothing to send to', 'a channel of unknown kind']);
  const why = 'no destination: slack: nothing to send to; a channel of unknown kind';
  expect(done).toEqual([
    ['dead letter', 'no-destination', why, '2026-11-20T12:00:00.000Z'],
    ['fallback', why],
    ['ledger', 'none', ['item-1'], 'dead'],
    ['log', { service: 'main', protocol: 'Lending Pool', item: 'item-1', reason: why }],
  ]);
});

test('a protocol without any channel is named as such', async () => {
  const { end, done } = setUp();
  await end(makeAlert(1), []);
  expect(done[1]).toEqual(['fallback', 'no destination: it has no channels']);
});

test('where the fallback fails, the ledger does not call it ended: the next read does all of it again', async () => {
  const { end, done } = setUp(() => Promise.reject(new Error('Redis is away')));
  await expect(end(makeAlert(1), [])).rejects.toThrow('Redis is away');
  expect(done.map((one) => (one as string[])[0])).toEqual(['dead letter']);
});
