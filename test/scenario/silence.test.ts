/** Nothing is inspected of a protocol any more: somebody hears of it once, and once when it is inspected again. */
import { expect, test } from 'vitest';
import { openConsole } from '../cli/console.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from './world.ts';

const [VAULT, BRIDGE, FARM] = ['Vault', 'Bridge', 'Farm'];
const ONCALL = 'oncall@example.com';

const mails = ({ sandbox }: World, said: string) =>
  sandbox.receivers.smtp.received().filter(({ text }) => text.replace(/\s+/g, ' ').includes(said));

const HOUR = 3_600_000;

/** One inspection an hour for longer than a habit remembers, up to some hours ago. */
const inspectHourly = ({ sandbox: { service } }: World, protocol: string, untilHoursAgo: number): void => {
  for (let hours = 15 * 24; hours >= untilHoursAgo; hours -= 1) {
    service.insertInspection({ protocol, assessment: 'ok', createdAt: service.now() - hours * HOUR });
  }
};

test.concurrent('a protocol that is not inspected is announced once over two daemons, shown, and announced when it is again', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({
    onFinished,
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
  const silent = await until('it is announced', () => mails(world, 'Protocol “Vault” has not been inspected')[0]);
  expect(silent.destination).toBe(ONCALL);
  expect(silent.text.replace(/\s+/g, ' ')).toMatch(
    /has not been inspected for \d+ s; it is expected every 2 s The monitoring service “sandbox” answers/,
  );
  await until('the metric says so', async () => (await first.metric('tocsin_silent_protocols')) === 1);
  const { code, out } = await console.run('status');
  expect(code).toBe(2);
  expect(out).toContain('sandbox: nothing is inspected of “Vault” since ');

  const keepsOn = setInterval(() => world.calm(VAULT), 300);
  try {
    await until('its end is announced', () => mails(world, 'Protocol “Vault” is inspected again').length > 0);
    await until('the metric says so', async () => (await first.metric('tocsin_silent_protocols')) === 0);
    world.critical(BRIDGE);
    await world.delivered();
  } finally {
    clearInterval(keepsOn);
  }
  expect(mails(world, 'has not been inspected').length).toBe(1);
  expect(mails(world, 'is inspected again').length).toBe(1);
});

test.concurrent('without a word of the operator the habit of a protocol is learned, and a silence that breaks it is announced', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({
    onFinished,
    names: [VAULT, FARM],
    kinds: ['email'],
    config: {
      // A twentieth of it is for these questions; so often is looked what is due.
      poll: { requestsPerSecond: 500 },
      protocols: { overrides: { [BRIDGE]: { expectEvery: '1s' } } },
      fallback: { after: '1h', channels: [{ name: 'email', contacts: [ONCALL] }] },
    },
  });
  inspectHourly(world, FARM, 5);
  inspectHourly(world, VAULT, 1);
  const limits = { silenceProbeMs: 500 };
  const [first] = [await world.start({ limits }), await world.start({ limits })];
  const silent = await until('it is announced', () => mails(world, 'Protocol “Farm” has not been inspected')[0]);
  expect(silent.destination).toBe(ONCALL);
  expect(silent.text.replace(/\s+/g, ' ')).toMatch(
    /has not been inspected for 5 h; usually it is every (60 min|1 h)\b/,
  );
  await until('the metric says so', async () => (await first.metric('tocsin_silent_protocols')) === 1);
  expect(await first.metric('tocsin_trouble', { trouble: 'silent' })).toBe(1);

  world.calm(FARM);
  await until('its end is announced', () => mails(world, 'Protocol “Farm” is inspected again').length > 0);
  await until('the metric says so', async () => (await first.metric('tocsin_silent_protocols')) === 0);
  world.critical(VAULT);
  await world.delivered();
  expect(mails(world, 'has not been inspected').length).toBe(1);
  expect(mails(world, 'is inspected again').length).toBe(1);
});
