import { expect, test } from 'vitest';
import type { Message, Receipt } from '../../src/channels/channel.ts';
import { transmit } from '../../src/deliver/attempt-stages.ts';
import { DeliveryError } from '../../src/errors.ts';
import { attemptRun, handed, NOW } from '../support/delivery-runs.ts';

const setUp = (answer: (signal: AbortSignal) => Promise<Receipt> | Receipt) => {
  const calls: string[] = [];
  const times = [NOW, NOW + 42];
  const channel = {
    send: async ({ id }: Message, signal: AbortSignal) => {
      calls.push(`send ${id}`);
      return answer(signal);
    },
    amend: async (handle: string, { id }: Message, signal: AbortSignal) => {
      calls.push(`amend ${handle} ${id}`);
      return answer(signal);
    },
  };
  return { calls, channel, dependencies: handed({ channel, timeoutMs: 20, now: () => times.shift() ?? 0 }) };
};

const MESSAGE = 'message of item-1,item-2';

test('sends once, and says how long it took', async () => {
  const { calls, dependencies } = setUp(() => ({ providerId: 'ts-1' }));
  const run = attemptRun();
  expect(await transmit(run, dependencies)).toBeUndefined();
  expect(run).toMatchObject({ receipt: { providerId: 'ts-1' }, durationMs: 42 });
  expect(calls).toEqual([`send ${MESSAGE}`]);
});

test('takes the place of an earlier message where the kind can', async () => {
  const { calls, channel, dependencies } = setUp(() => ({}));
  await transmit(attemptRun({ amends: 'handle-1' }), dependencies);
  await transmit(attemptRun({ amends: 'handle-1' }), { ...dependencies, channel: { send: channel.send } });
  expect(calls).toEqual([`amend handle-1 ${MESSAGE}`, `send ${MESSAGE}`]);
});

test('an error of the channel is kept; any other one is unknown, and may have been delivered', async () => {
  const refused = new DeliveryError('bad-message', 'refused', { code: 'x' });
  const first = attemptRun();
  await transmit(first, setUp(() => Promise.reject(refused)).dependencies);
  expect(first).toMatchObject({ error: refused, durationMs: 42 });
  const second = attemptRun();
  await transmit(second, setUp(() => Promise.reject(new Error('boom'))).dependencies);
  expect(second.error).toMatchObject({ reason: 'unknown', code: 'exception', maybeDelivered: true });
  expect(second.error?.message).toContain('boom');
});

const untilAborted = (signal: AbortSignal) =>
  new Promise<Receipt>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

test('a send that takes too long is a failure', async () => {
  const run = attemptRun();
  expect(await transmit(run, setUp(untilAborted).dependencies)).toBeUndefined();
  expect(run.error?.reason).toBe('unknown');
});

test('our own end is none', async () => {
  const stopping = new AbortController();
  const run = attemptRun({ signal: stopping.signal });
  const ended = transmit(run, { ...setUp(untilAborted).dependencies, timeoutMs: 60_000 });
  stopping.abort();
  expect(await ended).toEqual({ kind: 'stopping' });
  expect(run.error).toBeUndefined();
});
