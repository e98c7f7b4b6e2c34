/** Protocols that come, change and go while the daemon runs or is down. */
import { expect, test } from 'vitest';
import { aWhileLater } from '../support/later.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from './world.ts';

/** From now on, so that only what the daemon remembers itself says where a new protocol's reading begins. */
const FROM_NOW = { poll: { startFrom: 'now' } };

/** A protocol that the service begins to list, with a critical in its first moment. */
const found = ({ sandbox, critical }: World, name: string): void => {
  const [{ channels, apiKey } = { channels: [], apiKey: '' }] = sandbox.service.protocols();
  sandbox.service.addProtocol(apiKey, { name, channels });
  critical(name);
};

test.concurrent('a protocol that appears later is forwarded from its first moment', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished, names: ['Vault'], config: FROM_NOW });
  const daemon = await world.start();
  await daemon.watching();
  const { service } = world.sandbox;
  service.addFault({ endpoint: 'listProtocols', times: Infinity, fault: { kind: 'status', status: 500 } });
  found(world, 'Newcomer');
  await aWhileLater();
  service.clearFaults();
  await world.balanced();
});

test.concurrent('a protocol that appeared while the daemon was down is forwarded from its first moment', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished, names: ['Vault'], config: FROM_NOW });
  const daemon = await world.start();
  await daemon.watching();
  await daemon.stop();
  found(world, 'Newcomer');
  await aWhileLater();
  await world.start();
  await world.balanced();
});

test.concurrent('what happens while the service is down at the very first start is sent', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished, names: ['Vault'], config: FROM_NOW });
  await world.sandbox.service.stop();
  const daemon = await world.start();
  await until('the outage is said', () => daemon.log('failing').length > 0);
  world.critical('Vault');
  await aWhileLater();
  await world.sandbox.service.start();
  await world.balanced();
});

test.concurrent('history from before the very first start stays history', async ({ onTestFinished: onFinished }) => {
  const world = await startWorld({ onFinished, names: ['Vault'], config: FROM_NOW });
  const { service } = world.sandbox;
  const old = [10, 20, 30].map((agoSeconds) =>
    service.insertInspection({ assessment: 'critical', createdAt: service.now() - agoSeconds * 1000 }),
  );
  world.reconciler.excuse(...['email', 'telegram', 'slack', 'webhook'].map((kind) => `${kind} `));
  const daemon = await world.start();
  await daemon.watching();
  const [fresh] = world.critical('Vault');
  await until('the fresh one is sent', () => world.reconciler.arrivalsOf(fresh?.txHash ?? '').length === 4);
  for (const { txHash } of old) expect(world.reconciler.arrivalsOf(txHash)).toEqual([]);
});
