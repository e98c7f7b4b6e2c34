/** What one protocol has waiting delays another's alert hardly at all: counted in sends that had to end before. */
import { expect, onTestFinished, test } from 'vitest';
import type { ChannelKind } from '../../src/alert.ts';
import { createPlaces } from '../../src/queue/places.ts';
import { createParcelQueues } from '../../src/queue/queues.ts';
import { destinationOf } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const setUp = ({ kind = 'webhook', count = 50 }: { kind?: ChannelKind; count?: number } = {}) => {
  const { redis, prefix } = openTestRedis();
  const queues = createParcelQueues({ redis, prefix, onError: () => {} });
  onTestFinished(() => queues.close());
  const places = createPlaces(count);
  const log: string[] = [];
  /** Runs the queue's jobs: each is logged when it begins and when `send` resolves. */
  const work = (send: (address: string, signal: AbortSignal) => Promise<void>): void => {
    const worker = queues.work(
      kind,
      places,
      async ({ destination: { address } }, signal) => {
        log.push(`begin ${address}`);
        await send(address, signal);
        log.push(`end ${address}`);
        return { done: true };
      },
      () => {},
    );
    onTestFinished(() => worker.stop(0));
  };
  const parcel = (protocol: string, address: string, n = 1) => ({
    destination: destinationOf(kind, address),
    alerts: [makeAlert(n, { protocol })],
  });
  return { queues, places, log, work, parcel };
};

/** Until the worker is stopped. */
const hang = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve()));

test('500 webhooks of one protocol hang: an alert of another is sent before any of these ends', async () => {
  const { queues, log, work, parcel } = setUp();
  await queues.enqueue(Array.from({ length: 500 }, (_, n) => parcel('Busy', `https://hangs.example/${n}`)));
  work((address, signal) => (address.includes('hangs') ? hang(signal) : Promise.resolve()));
  await until('its share runs', () => log.length === 40);
  await queues.enqueue([parcel('Quiet', 'https://quiet.example')]);
  await until('the other one', () => log.includes('end https://quiet.example'));
  expect(log.filter((line) => line.startsWith('begin https://hangs'))).toHaveLength(40);
  expect(log.filter((line) => line.startsWith('end'))).toEqual(['end https://quiet.example']);
});

test('and what goes back into the queue meanwhile is sent, all of it and once, when they end', async () => {
  const { queues, log, work, parcel } = setUp();
  const { promise: answer, resolve: answerAll } = Promise.withResolvers<void>();
  await queues.enqueue(Array.from({ length: 150 }, (_, n) => parcel('Busy', `https://hangs.example/${n}`)));
  work(() => answer);
  await until('some go back', async () => (await queues.counts()).some(({ delayed }) => delayed > 3));
  answerAll();
  await until('all have ended', () => log.filter((line) => line.startsWith('end')).length === 150);
  expect(new Set(log).size).toBe(300);
});

test('one slow webhook with many parcels leaves a healthy one its places', async () => {
  const { queues, places, log, work, parcel } = setUp();
  const slow = parcel('Busy', 'https://slow.example');
  places.note(slow.destination.id, { durationMs: 10_000 });
  await queues.enqueue(Array.from({ length: 60 }, (_, n) => parcel('Busy', 'https://slow.example', n)));
  await queues.enqueue(Array.from({ length: 60 }, (_, n) => parcel('Busy', 'https://healthy.example', n)));
  work((address, signal) => (address.includes('slow') ? hang(signal) : Promise.resolve()));
  await until('the healthy one has all', () => log.filter((line) => line.startsWith('end')).length === 60);
  expect(log.filter((line) => line === 'begin https://slow.example')).toHaveLength(4);
});

test('5,000 mailboxes of one protocol: the mail of another is among the next', async () => {
  const { queues, log, work, parcel } = setUp({ kind: 'email', count: 5 });
  await queues.enqueue(Array.from({ length: 5000 }, (_, n) => parcel('Busy', `a${n}@example.com`)));
  work(() => new Promise((resolve) => setTimeout(resolve, 5)));
  await until('some are sent', () => log.length > 50);
  await queues.enqueue([parcel('Quiet', 'quiet@example.com')]);
  const before = log.length;
  await until('the mail', () => log.includes('end quiet@example.com'));
  expect(log.indexOf('begin quiet@example.com') - before).toBeLessThan(20);
});
