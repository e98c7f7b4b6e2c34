/** A service, or one of its protocols, that cannot be read: somebody hears of it once, and once when it is read again. */
import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import type { Tree } from './config.ts';
import { PROTOCOLS, startWorld, type World } from './world.ts';

const [VAULT, BRIDGE] = PROTOCOLS;
const ONCALL = 'oncall@example.com';
/** Longer than a busy machine takes to read anything at all: then there would be more to announce. */
const WATCHDOG: Tree = { watchdog: { after: '5s' } };
const FALLBACK: Tree = { fallback: { after: '1m', channels: [{ name: 'email', contacts: [ONCALL] }] } };

const mails = ({ sandbox }: World, said: string) =>
  sandbox.receivers.smtp.received().filter(({ text }) => text.includes(said));

/** Shows what was said where it was not said once. */
const expectOnce = (world: World, said: string): void => {
  const texts = mails(world, said).map(({ text }) => text);
  expect(texts.length, texts.join('\n---\n')).toBe(1);
};

test.concurrent('a service that goes away is announced once over all daemons, and once when it is read again', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished, names: [VAULT, BRIDGE], config: { ...WATCHDOG, ...FALLBACK } });
  const [first, second] = [await world.start(), await world.start()];
  await first.watching();
  await world.sandbox.service.stop();
  const unread = await until('it is announced', () => mails(world, 'cannot be read')[0]);
  expect(unread.destination).toBe(ONCALL);
  expect(unread.text).toMatch(/The monitoring service “sandbox” cannot be read: /);
  expect(unread.text).toContain('No alert of its 2 protocols can be found meanwhile.');
  await until('neither is ready', async () =>
    (await Promise.all([first, second].map(({ ask }) => ask('/readyz')))).every(({ status }) => status === 503),
  );

  world.critical(VAULT, 2);
  await world.sandbox.service.start();
  const again = await until('its end is announced', () => mails(world, 'is read again')[0]);
  expect(again.destination).toBe(ONCALL);
  expect(again.text).toMatch(/It could not be read for \d+ s, since /);
  expect(again.text).toContain('What was missed is read now: 2 alerts of that time.');
  await world.delivered();
  world.critical(BRIDGE);
  await world.delivered();
  expectOnce(world, 'cannot be read');
  expectOnce(world, 'is read again');
});

test.concurrent('a protocol that is not read makes the daemon not ready, and its people hear of it', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished, names: [VAULT, BRIDGE], kinds: ['email'], config: WATCHDOG });
  const daemon = await world.start();
  await daemon.watching();
  world.critical(VAULT);
  await world.delivered();
  const [sample] = world.sandbox.receivers.smtp.received();
  const fault = { kind: 'status', status: 500 } as const;
  world.sandbox.service.addFault({ protocol: VAULT, endpoint: 'listInspections', times: Infinity, fault });
  const unread = await until('it is announced', () => mails(world, 'cannot be read')[0]);
  expect(unread.text).toContain(`The protocol “${VAULT}” at the monitoring service “sandbox” cannot be read: `);
  expect(unread.destination).toBe(sample?.destination);
  await until('it is not ready', async () => (await daemon.ask('/readyz')).text.includes('protocols:sandbox'));
  await until('the metric says so', async () => (await daemon.metric('tocsin_unread_protocols')) === 1);
  const { status } = await daemon.ask('/readyz');
  expect(status).toBe(503);

  world.sandbox.service.clearFaults();
  await until('its end is announced', () => mails(world, 'is read again').length > 0);
  await until('the metric says so', async () => (await daemon.metric('tocsin_unread_protocols')) === 0);
  await until('it is ready again', async () => (await daemon.ask('/readyz')).status === 200);
  expect((await daemon.ask('/readyz')).text).not.toContain('"failing"');
  expectOnce(world, 'cannot be read');
  expectOnce(world, 'is read again');
});
