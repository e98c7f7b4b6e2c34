/** A template that fails is one trouble, for however many kinds and daemons it fails. */
import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { startWorld, type World } from './world.ts';

const OPS = 'ops@example.com';

const toOps = ({ sandbox }: World) =>
  sandbox.receivers.smtp.received().filter(({ destination, text }) => destination === OPS && /templates\./i.test(text));

test('its failure is told once, in one sentence, and the alerts arrive in our own words', async () => {
  const world = await startWorld({
    names: ['Vault'],
    kinds: ['email', 'slack', 'telegram'],
    config: {
      templates: [{ title: 'fine', protocols: ['nobody'] }, { text: 'It is {{ nobody }}' }],
      watchdog: { after: '3s', channels: [{ name: 'email', contacts: [OPS] }] },
    },
  });
  const daemons = [await world.start(), await world.start()];
  for (const daemon of daemons) await daemon.watching();
  world.critical('Vault', 3);
  await world.delivered();
  const mail = await until('it is told', () => toOps(world)[0]);
  // Where no other trouble began at the same time, the subject says it, too.
  const body = mail.text.slice(mail.text.indexOf('\n'));
  expect(body.match(/templates\.1 of the config fails/gi), mail.text).toHaveLength(1);
  expect(mail.text).toMatch(/templates\.1 of the config fails: undefined variable: nobody/i);
  world.critical('Vault');
  await world.delivered();
  const { troubles } = (await daemons[0]?.status()) ?? {};
  expect(troubles?.filter(({ name }) => name === 'template')).toMatchObject([{ of: '1' }]);
  expect(toOps(world)).toHaveLength(1);
});
