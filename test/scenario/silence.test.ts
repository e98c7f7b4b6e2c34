/** Nothing is inspected of a protocol any more: somebody hears of it once, and once when it is inspected again. */
import { expect, test } from 'vitest';
import { openConsole } from '../cli/console.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from './world.ts';

const [VAULT, BRIDGE] = ['Vault', 'Bridge'];
const ONCALL = 'oncall@example.com';

const mails = ({ sandbox }: World, said: string) =>
  sandbox.receivers.smtp.received().filter(({ text }) => text.replace(/\s+/g, ' ').includes(said));

test('a protocol that is not inspected is announced once over two daemons, shown, and announced when it is again', async () => {
  const world = await startWorld({
    names: [VAULT, BRIDGE],
    kinds: ['email'],
    config: {
      protocols: { overrides: { [VAULT]: { expectEvery: '2s' } } },
      fallback: { after: '1h', channels: [{ name: 'email', contacts: [ONCALL] }] },
    },
  });
  const console = await openConsole(world);
  world.calm(VAULT);
  const [first] = [await world.start(), await world.start()];
  const silent = await until('it is announced', () => mails(world, 'Nothing has been inspected of Vault')[0]);
  expect(silent.destination).toBe(ONCALL);
  expect(silent.text.replace(/\s+/g, ' ')).toMatch(/of the monitoring service sandbox for \d+ s; expectEvery: 2 s\./);
  await until('the metric says so', async () => (await first.metric('tocsin_silent_protocols')) === 1);
  const { code, out } = await console.run('status');
  expect(code).toBe(2);
  expect(out).toContain('sandbox: nothing is inspected of Vault since ');

  const keepsOn = setInterval(() => world.calm(VAULT), 300);
  try {
    await until('its end is announced', () => mails(world, 'Inspected again: Vault').length > 0);
    await until('the metric says so', async () => (await first.metric('tocsin_silent_protocols')) === 0);
    world.critical(BRIDGE);
    await world.delivered();
  } finally {
    clearInterval(keepsOn);
  }
  expect(mails(world, 'Nothing has been inspected').length).toBe(1);
  expect(mails(world, 'Inspected again').length).toBe(1);
});
