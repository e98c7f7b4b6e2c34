import { getEventListeners, once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startDeadline } from '../src/net.ts';

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

test('whoever ends it first has ended it', async () => {
  const caller = new AbortController();
  const late = startDeadline(caller.signal, 5);
  await once(late.signal, 'abort');
  caller.abort();
  expect(late.ended()).toBe('expired');

  const other = new AbortController();
  const early = startDeadline(other.signal, 5);
  other.abort();
  expect(early.signal.aborted).toBe(true);
  await once(startDeadline(new AbortController().signal, 20).signal, 'abort');
  expect(early.ended()).toBe('aborted');
});

test('a timer that fires a little early by the other clock is given no negative time', async () => {
  const times = [1000.4, 1005];
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => times.shift() ?? 1005);
  const set = vi.spyOn(globalThis, 'setTimeout');
  onTestFinished(() => {
    clock.mockRestore();
    set.mockRestore();
  });
  await once(startDeadline(new AbortController().signal, 5).signal, 'abort');
  expect(set.mock.calls.map(([, delayMs]) => delayMs)).toEqual([5, 0]);
});

test('nothing is left of it once it is let go', () => {
  const { signal } = new AbortController();
  const before = timers();
  const deadline = startDeadline(signal, 60_000);
  expect([timers(), getEventListeners(signal, 'abort').length]).toEqual([before + 1, 1]);
  deadline.end();
  expect([timers(), getEventListeners(signal, 'abort').length]).toEqual([before, 0]);
  expect(deadline.ended()).toBeUndefined();
});

test('a time beyond what a timer takes does not run out at once', async () => {
  const long = startDeadline(new AbortController().signal, 2 ** 31);
  const short = startDeadline(new AbortController().signal, 20);
  await once(short.signal, 'abort');
  expect(long.ended()).toBeUndefined();
  long.end();
});

test('the time in which the process stood still does not count: an answer may have come, or be on its way', async () => {
  const server = createServer((socket) => void socket.once('data', () => socket.write('the rest'))).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(client, 'connect');
  const deadline = startDeadline(new AbortController().signal, 300);
  client.once('data', deadline.end);
  // The process stands still.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 900);
  client.write('a question');
  await once(client, 'data');
  expect(deadline.ended()).toBeUndefined();
  client.destroy();
  server.close();
});
