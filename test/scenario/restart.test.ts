/** Stopping and starting again: what happened meanwhile is sent afterwards, and nothing of before is sent again. */
import { expect, test } from 'vitest';
import { startHttpReceiver } from '../support/http-receiver.ts';
import { until } from '../support/until.ts';
import { startWorld } from './world.ts';

test.concurrent('what was found while the daemon was down is sent after its start, and only that', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished });
  const first = await world.start();
  world.critical('Vault', 3);
  world.notification('Bridge', 'Before the restart.');
  await world.delivered();
  const before = world.reconciler.count();
  await first.stop();

  world.critical('Vault', 3);
  world.calm('Bridge', 5);
  world.notification('Bridge', 'During the restart.');
  expect(world.reconciler.count()).toBe(before);

  await world.start();
  await world.balanced();
  expect(world.reconciler.count()).toBe(before + 4 * (3 + 1 + 3));
});

test.concurrent('a restart in the middle of a long parcel loses nothing and repeats nothing', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished, names: ['Vault'] });
  const first = await world.start();
  const { webhook } = world.sandbox.receivers;
  const endSlowness = webhook.script.always({ kind: 'slow', durationMs: 400 });
  world.critical('Vault', 60);
  await until('some webhooks have arrived', () => webhook.received().length >= 5);
  await first.stop();
  expect(webhook.received().length).toBeLessThan(60);

  endSlowness();
  await world.start();
  await world.balanced();
});

test.concurrent('a daemon that cannot start says why and leaves nothing open', async ({
  onTestFinished: onFinished,
}) => {
  const other = await startHttpReceiver();
  onFinished(other.close);
  const world = await startWorld({ onFinished, config: { ops: { listen: new URL(other.origin).host } } });
  await expect(world.start()).rejects.toThrow(/ops.listen: cannot listen on .*: the port is in use/);
});
