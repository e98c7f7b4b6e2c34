/** The workers as the daemon composes them. */
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { openDelivery } from '../../src/app/deliver.ts';
import { createStore } from '../../src/app/store.ts';
import { openConfiguredChannels } from '../../src/channels/open.ts';
import { parseConfig } from '../../src/config/load.ts';
import { createMetrics } from '../../src/ops/metrics.ts';
import { destinationOf } from '../support/alerts.ts';
import { type Answer, startHttpReceiver } from '../support/http-receiver.ts';
import { makeAlert } from '../support/numbered.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const CONFIG = `
services: [{ name: main, baseUrl: "http://127.0.0.1:1/api", apiKey: key }]
channels: { webhook: { secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw, allowHttp: true, allowNetworks: ["127.0.0.0/8"] } }
`;

const TAKEN: Answer = { status: 204 };

const setUp = async (answer: () => Promise<Answer> | Answer = () => TAKEN) => {
  const receiver = await startHttpReceiver(answer);
  const config = parseConfig(CONFIG, 'test.yaml', {});
  const { redis, prefix } = openTestRedis();
  const store = createStore({ redis, prefix, onError: () => {}, now: Date.now });
  const { channels, close } = await openConfiguredChannels(config, Date.now);
  const turned: string[] = [];
  const nothing = async (): Promise<void> => {};
  const shared = {
    ...{ config, store, now: Date.now },
    metrics: createMetrics({ version: 'test' }),
    log: pino({ level: 'silent' }),
    scrub: (text: string) => text,
  };
  const delivering = openDelivery(shared, {
    channels,
    dispatching: {
      fallback: { onDead: nothing },
      outageNotifier: { onBroken: nothing, onRecovered: nothing, onMoved: nothing },
      uncovered: async (_destination, alerts) => [...alerts],
    },
    onUnknownVersion: () => {},
    onTurn: (kind) => turned.push(kind),
  });
  const stop = delivering.start();
  onTestFinished(async () => {
    await stop(0);
    await close();
    await store.close();
    await receiver.close();
  });
  const enqueue = async (...numbers: number[]): Promise<void> => {
    const destination = destinationOf('webhook', `${receiver.origin}/hook`);
    const parcel = { destination, alerts: numbers.map((n) => makeAlert(n)) };
    await store.ledger.recordWaiting([parcel]);
    await store.queues.enqueue([parcel]);
  };
  const active = async (): Promise<string[]> => redis.lrange(`${prefix}:deliver-webhook:active`, 0, -1);
  const lockOf = (job: string): string => `${prefix}:deliver-webhook:${job}:lock`;
  return { delivering, turned, store, receiver, enqueue, redis, active, lockOf };
};

test('a worker that takes nothing any more is restarted, and what waits is sent', async () => {
  const { delivering, turned, store, receiver, enqueue } = await setUp();
  await enqueue(1);
  await until('it works', () => receiver.accepted.length === 1 && turned.includes('webhook'));
  const [silent] = delivering.workers();
  await silent?.stop(0);
  await enqueue(2);
  turned.length = 0;
  await store.queues.sendCanary('webhook');
  await delivering.rebuild('webhook');
  await until('what waited is sent', () => receiver.accepted.length === 2);
  await until('the canary came through', async () => (await store.queues.canaryAt('webhook')) > 0);
  expect(delivering.workers()).toHaveLength(1);
  expect(turned).toContain('webhook');
});

test('a job that lost its lock while it runs sends each message once', async () => {
  const answered = Promise.withResolvers<Answer>();
  const { receiver, enqueue, redis, active, lockOf } = await setUp(() => answered.promise);
  await enqueue(1, 2, 3);
  await until('a message is on its way', () => receiver.arrived.length === 1);
  const [job = ''] = await active();
  // As if the process had stood still for too long.
  await redis.del(lockOf(job));
  await until('it is taken again', () => redis.get(lockOf(job)));
  answered.resolve(TAKEN);
  await until('it is done', async () => (await active()).length === 0 && receiver.accepted.length >= 3);
  expect(new Set(receiver.arrived.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
  expect(receiver.arrived).toHaveLength(3);
});
