/** The workers as the daemon composes them. */
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { openDelivery } from '../../src/app/deliver.ts';
import { createStore } from '../../src/app/store.ts';
import { openConfiguredChannels } from '../../src/channels/open.ts';
import { parseConfig } from '../../src/config/load.ts';
import { createMetrics } from '../../src/ops/metrics.ts';
import { destinationOf } from '../support/alerts.ts';
import { startHttpReceiver } from '../support/http-receiver.ts';
import { makeAlert } from '../support/numbered.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const CONFIG = `
services: [{ name: main, baseUrl: "http://127.0.0.1:1/api", apiKey: key }]
channels: { webhook: { secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw, allowHttp: true, allowNetworks: ["127.0.0.0/8"] } }
`;

const setUp = async () => {
  const receiver = await startHttpReceiver();
  const config = parseConfig(CONFIG, 'test.yaml', {});
  const store = createStore({ ...openTestRedis(), onError: () => {}, now: Date.now });
  const { channels, close } = await openConfiguredChannels(config, Date.now);
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
  });
  const stop = delivering.start();
  onTestFinished(async () => {
    await stop(0);
    await close();
    await store.close();
    await receiver.close();
  });
  const enqueue = async (n: number): Promise<void> => {
    const parcel = { destination: destinationOf('webhook', `${receiver.origin}/hook`), alerts: [makeAlert(n)] };
    await store.ledger.recordWaiting([parcel]);
    await store.queues.enqueue([parcel]);
  };
  return { delivering, store, receiver, enqueue };
};

test('a worker that takes nothing any more is restarted, and what waits is sent', async () => {
  const { delivering, store, receiver, enqueue } = await setUp();
  await enqueue(1);
  await until('it works', () => receiver.accepted.length === 1);
  const [silent] = delivering.workers();
  await silent?.stop(0);
  await enqueue(2);
  const takenAt = silent?.takenAt() ?? 0;
  await store.queues.sendCanary('webhook');
  await delivering.rebuild('webhook');
  await until('what waited is sent', () => receiver.accepted.length === 2);
  await until('the canary came through', async () => (await store.queues.sendCanary('webhook')) > takenAt);
  expect(delivering.workers()).toHaveLength(1);
  expect(delivering.workers()[0]?.takenAt()).toBeGreaterThan(takenAt);
});
