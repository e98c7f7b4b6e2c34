/** A webhook that answers 410 is left alone, and nothing of what is for it is lost. */
import { expect, test } from 'vitest';
import { openConsole } from '../cli/console.ts';
import { until } from '../support/until.ts';
import { startWorld } from './world.ts';

interface Letter {
  reason: string;
  message: string;
  destination: { id: string };
}

test('what comes after a 410 dies at once, until somebody tries again', async () => {
  const world = await startWorld({ names: ['Vault'], kinds: ['webhook'] });
  const { webhook } = world.sandbox.receivers;
  const daemon = await world.start();
  const console = await openConsole(world);
  const listed = () => console.json<Letter[]>('dead', 'list');
  webhook.script.next({ kind: 'answer', status: 410 });
  world.critical('Vault');
  await until('the first is dead', async () => (await listed()).length === 1);
  world.critical('Vault', 2);
  await until('the others are dead, too', async () => (await listed()).length === 3);
  expect((await listed()).map(({ reason }) => reason).toSorted()).toEqual(['destination-dead', 'disabled', 'disabled']);
  // The receiver would have taken them.
  expect(webhook.received()).toEqual([]);
  const last = (await listed()).at(-1);
  expect(last?.message).toMatch(
    /^disabled since .* answered 410, so it is disabled .*; tocsin destinations enable webhook-/,
  );
  expect(daemon.log().filter(({ reason }) => reason === 'disabled')).toMatchObject([
    { level: 'error', msg: 'delivery is dead', alerts: 2, attempt: 0, outcome: 'dead' },
  ]);
  expect((await daemon.status()).problems.join('\n')).toMatch(/webhook .* takes no alerts since .*answered 410/);

  webhook.script.next({ kind: 'answer', status: 410 });
  expect((await console.run('dead', 'retry', '--reason', 'destination-dead')).out).toBe('1 sent again\n');
  await until('it is dead again', async () => (await listed()).length === 3);
  world.critical('Vault');
  await until('and so is what follows', async () => (await listed()).length === 4);

  const id = last?.destination.id ?? '';
  expect((await console.run('destinations', 'list')).out).toMatch(new RegExp(`${id} .*, disabled`));
  const enabled = await console.run('destinations', 'enable', id);
  expect(enabled).toMatchObject({ code: 0, out: expect.stringContaining(`dead retry --destination ${id}`) });
  // It leaves out nothing: the alert that was answered with 410 died for another reason than the later ones.
  expect(enabled.out).not.toContain('--reason');
  const broken = async () => (await daemon.status()).problems.filter((one) => one.includes('takes no alerts'));
  expect(await broken()).toEqual([]);
  expect(await daemon.metric('tocsin_broken_destinations')).toBe(0);
  expect((await console.run('destinations', 'enable', id)).err).toMatch(/no destination of the name .* is disabled/);

  webhook.script.next({ kind: 'answer', status: 410 });
  world.critical('Vault');
  await until('a second 410 is an outage of its own', async () => (await broken()).length === 1);
  // The first, the retry that was refused again, and this one.
  expect(daemon.log().filter(({ msg }) => String(msg).startsWith('a destination is broken'))).toHaveLength(3);
  await console.run('destinations', 'enable', id);
  world.critical('Vault');
  await until('it takes what comes', () => webhook.received().length === 1);
  expect((await console.run('dead', 'retry', '--destination', id)).out).toBe('5 sent again\n');
  await world.balanced();
  expect(await listed()).toEqual([]);
});
