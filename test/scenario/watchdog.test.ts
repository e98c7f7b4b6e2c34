/** Why a service cannot be read reaches the operators. What else is announced: announced-once.test.ts, watchdog-troubles.test.ts. */
import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { startWorld, type World } from './world.ts';

const OPS = 'ops@example.com';

const mails = ({ sandbox }: World, said: string) =>
  sandbox.receivers.smtp.received().filter(({ text }) => text.includes(said));

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
});
