/** The whole daemon: webhooks of one protocol that never answer do not hold up the alert of another. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { startWorld } from './world.ts';

const HANGING = 60;

/** Takes every request, and answers none until it is closed. */
const startHanging = async (onFinished: (stop: () => Promise<void>) => void) => {
  const seen = { begun: 0, ended: 0 };
  const server = createServer((_request, response) => {
    seen.begun += 1;
    response.on('close', () => {
      seen.ended += 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

test('an alert of another protocol is sent before any of them ends', async ({ onTestFinished: onFinished }) => {
  const world = await startWorld({
    onFinished,
    names: ['Busy', 'Quiet'],
    kinds: ['webhook'],
    config: { channels: { webhook: { concurrency: 10, timeout: '20s' } } },
  });
  const { seen, url } = await startHanging(onFinished);
  const channels = Array.from({ length: HANGING }, (_, n) => ({ name: 'webhook', url: `${url}/${n}` }));
  const { sandbox, addresses } = world;
  sandbox.service.replaceChannels({ protocol: 'Busy', apiKey: addresses.service.apiKey }, channels);
  const daemon = await world.start();
  await daemon.watching();
  world.critical('Busy');
  await until('its share of the places is taken', () => seen.begun === 8);
  const [quiet] = world.critical('Quiet');
  const hasIt = () => sandbox.received().some(({ text }) => text.includes(quiet?.txHash ?? 'none'));
  await until('the quiet protocol has its alert', hasIt);
  expect(seen).toEqual({ begun: 8, ended: 0 });
});
