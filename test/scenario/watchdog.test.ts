/** Tocsin's own troubles reach the operators once, and the dead man's switch hears of a daemon that is well. */
import { expect, onTestFinished, test } from 'vitest';
import { startHttpReceiver } from '../support/http-receiver.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from './world.ts';

const OPS = 'ops@example.com';
const PATH = '/ping/5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278';

const mails = ({ sandbox }: World, said: string) =>
  sandbox.receivers.smtp.received().filter(({ text }) => text.includes(said));

test('a token that is refused while nothing is sent is told once over two daemons, with what Redis would lose', async () => {
  const pinged = await startHttpReceiver();
  onTestFinished(() => pinged.close());
  const heartbeatUrl = `${pinged.origin}${PATH}`;
  const channels = [
    { name: 'slack', contacts: ['C024BE91L'] },
    { name: 'email', contacts: [OPS] },
  ];
  const world = await startWorld({
    names: ['Vault'],
    config: { watchdog: { after: '3s', channels, heartbeatUrl, heartbeatEvery: '1s' } },
  });
  const paths = () => pinged.arrived.map(({ method, path }) => `${method} ${path}`);
  const calls = (call: string) => paths().filter((one) => one === call).length;
  const repair = world.sandbox.receivers.slack.revokeToken();
  const [daemon] = [await world.start(), await world.start()];

  // The test's Redis keeps nothing on disk.
  const begun = await until('it is told', () => mails(world, 'troubles in Tocsin itself')[0]);
  expect(begun.destination).toBe(OPS);
  expect(begun.text).toMatch(/Slack does not work: .*token_revoked/);
  expect(begun.text).toMatch(/Appendonly is off/);
  expect(begun.text).toContain('To do: fix it under channels');
  await until('the switch hears why', () => calls(`POST ${PATH}/fail`) > 1);
  expect(pinged.arrived.find(({ method }) => method === 'POST')?.body).toContain('slack does not work');

  repair();
  const over = await until('its end is told', () => mails(world, 'Over: ')[0]);
  expect(over.text).toMatch(/Slack does not work: .*token_revoked/);
  const before = calls(`GET ${PATH}`);
  await until('the switch is called again', () => calls(`GET ${PATH}`) > before + 1);
  expect([mails(world, 'in Tocsin itself').length, mails(world, 'Over: ').length]).toEqual([1, 1]);
  const slack = world.sandbox.receivers.slack.received().filter(({ text }) => text.includes('Tocsin'));
  expect(slack).toEqual([]);
  const shown = `${daemon?.logText()}${(await daemon?.ask('/metrics'))?.text}${(await daemon?.ask('/readyz'))?.text}`;
  expect(shown).not.toContain('5bf66975');
}, 60_000);

test('a key that is refused is told to the operators once, with why, and once when it is taken again', async () => {
  const channels = [{ name: 'email', contacts: [OPS] }];
  const world = await startWorld({
    names: ['Vault'],
    kinds: ['email'],
    config: {
      watchdog: { after: '2s', channels },
      fallback: { channels: [{ name: 'email', contacts: ['other@example.com'] }] },
    },
  });
  const daemon = await world.start();
  await daemon.watching();
  world.sandbox.service.addFault({ times: Infinity, fault: { kind: 'status', status: 401 } });
  const unread = await until('it is told', () => mails(world, 'cannot be read')[0]);
  expect(unread.destination).toBe(OPS);
  expect(unread.text).toMatch(/cannot be read: .*401/);
  expect((await daemon.status()).troubles).toMatchObject([
    { name: 'service', of: 'sandbox', why: expect.stringContaining('the key is refused'), todo: expect.any(String) },
  ]);
  expect(await daemon.metric('tocsin_trouble', { trouble: 'service' })).toBe(1);
  world.sandbox.service.clearFaults();
  await until('its end is told', () => mails(world, 'is read again')[0]);
  await until('the metric says so', async () => (await daemon.metric('tocsin_trouble', { trouble: 'service' })) === 0);
  expect(mails(world, 'cannot be read')).toHaveLength(1);
  expect(world.sandbox.receivers.smtp.received().filter(({ destination }) => destination !== OPS)).toEqual([]);
}, 60_000);
