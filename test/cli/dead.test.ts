/** Deliveries that failed for good, from the operator's chair: found, understood, sent again, given up. */
import { expect, test } from 'vitest';
import { startWorld, type World } from '../scenario/world.ts';
import { until } from '../support/until.ts';
import { openConsole } from './console.ts';

interface Letter {
  id: string;
  reason: string;
  destination: { id: string; kind: string; label: string };
  alert: { itemId: string; txHash?: string; item?: object };
}

const refuseSlack = ({ sandbox }: World) =>
  sandbox.receivers.slack.script.always({
    kind: 'answer',
    status: 200,
    body: { ok: false, error: 'channel_not_found' },
  });

/** A world in which Slack has refused `count` criticals for good. */
const startWithDead = async (count: number) => {
  const world = await startWorld({ names: ['Vault'], kinds: ['slack', 'webhook'] });
  const mend = refuseSlack(world);
  const inspections = world.critical('Vault', count);
  await world.start();
  const console = await openConsole(world);
  const listed = () => console.json<Letter[]>('dead', 'list');
  await until('the dead deliveries', async () => (await listed()).length === count);
  return { world, mend, inspections, console, listed };
};

test('are listed and shown, and retried one by one or all together', async () => {
  const { world, mend, inspections, console, listed } = await startWithDead(3);
  const [first, second] = await listed();
  expect(first).toMatchObject({
    reason: 'destination-dead',
    destination: { kind: 'slack' },
    alert: { protocol: 'Vault' },
  });
  expect(first?.alert.item).toBeUndefined();
  const list = await console.run('dead', 'list', '--protocol', 'Vault', '--destination', 'slack');
  expect(list.out).toContain(first?.id.slice(0, 14));
  expect(list.out).toMatch(/channel_not_found[\s\S]*\n3 dead deliveries\n$/);
  expect((await console.run('dead', 'list', '--reason', 'unavailable')).out).toBe('0 dead deliveries\n');

  const show = await console.run('dead', 'show', first?.id ?? '');
  expect(show.out).toContain(`Transaction: ${first?.alert.txHash}`);
  expect(show.out).toMatch(/because {3}destination-dead: .*channel_not_found/);
  expect(show.out).toContain('failed for good');
  expect(await console.json('dead', 'show', first?.alert.txHash ?? '')).toMatchObject([
    { id: first?.id, alert: { item: { txHash: first?.alert.txHash } } },
  ]);

  mend();
  expect((await console.run('dead', 'retry', first?.id.slice(0, 12) ?? '')).out).toBe('1 sent again\n');
  expect((await console.run('dead', 'retry', '--all')).out).toBe('2 sent again\n');
  await world.balanced();
  expect(await listed()).toEqual([]);
  expect(world.reconciler.arrivalsOf(inspections[0]?.txHash ?? '')).toHaveLength(2);

  const { out } = await console.run('trace', second?.alert.itemId ?? '');
  expect(out).toMatch(/failed for good[\s\S]*retried by hand[\s\S]*delivered/);
  expect((await console.run('dead', 'retry', '--all')).err).toContain('no dead delivery fits');
});

test('that fail again are dead again, and retried again', async () => {
  const { world, mend, console, listed } = await startWithDead(1);
  const [before] = await listed();
  await console.run('dead', 'retry', '--all');
  await until('it is dead again', async () => {
    const [after] = await console.json<(Letter & { at: string })[]>('dead', 'list');
    return after !== undefined && JSON.stringify(after) !== JSON.stringify(before);
  });
  mend();
  // Its letter is written before the ledger knows that it is dead: until then it waits, and keeps its letter.
  await until('it is sent again', async () => {
    const { out } = await console.run('dead', 'retry', '--reason', 'destination-dead');
    return out === '1 sent again\n';
  });
  await world.balanced();
});

test('are dropped only on purpose, and the ledger says so', async () => {
  const { world, console, listed } = await startWithDead(2);
  const [first] = await listed();
  expect(await console.run('dead', 'drop')).toMatchObject({ code: 1, out: '' });
  expect(await console.run('dead', 'drop', '--all')).toMatchObject({ code: 1, err: expect.stringContaining('--yes') });
  console.answer('no');
  expect(await console.run('dead', 'drop', '--all')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/drops 2 dead deliveries[\s\S]*nothing/),
  });
  expect(await listed()).toHaveLength(2);

  console.answer('y');
  expect(await console.run('dead', 'drop', first?.id ?? '')).toMatchObject({ code: 0, out: '1 dropped\n' });
  expect(await console.json('dead', 'drop', '--all', '--yes')).toEqual({ dropped: 1, waiting: 0 });
  expect(await listed()).toEqual([]);
  const { out } = await console.run('trace', first?.alert.txHash ?? '');
  expect(out).toMatch(/slack .*: dead, no longer kept[\s\S]*dropped by hand/);
  expect(await console.json('trace', first?.alert.txHash ?? '')).toMatchObject([
    {
      deliveries: expect.arrayContaining([
        expect.objectContaining({ state: 'dead', acts: [expect.objectContaining({ act: 'dropped' })] }),
      ]),
    },
  ]);
  world.reconciler.excuse('slack');
  await world.delivered();
});

test('for lack of any destination are routed again', async () => {
  const world = await startWorld({ protocols: [{ name: 'Vault', channels: [] }], names: [], kinds: ['webhook'] });
  const [inspection] = world.critical('Vault');
  await world.start();
  const console = await openConsole(world);
  const listed = () => console.json<Letter[]>('dead', 'list');
  await until('the unroutable alert', async () => (await listed()).length === 1);
  expect(await listed()).toMatchObject([{ reason: 'no-destination', destination: { kind: 'none' } }]);
  expect((await console.run('trace', inspection?._id ?? '')).out).toContain('no destination: dead, kept');

  const refused = await console.run('dead', 'retry', '--all');
  expect(refused).toMatchObject({ code: 1, out: '0 sent again\n' });
  expect(refused.err).toContain('no destination now either');

  const url = `${world.addresses.webhook.url}/hooks/mended`;
  world.sandbox.service.replaceChannels({ protocol: 'Vault' }, [{ name: 'webhook', url }]);
  await until('the channels are known', async () => (await console.run('dead', 'retry', '--all')).code === 0);
  await until('it arrives', () => world.reconciler.arrivalsOf(inspection?.txHash ?? '').length === 1);
  expect(await listed()).toEqual([]);
  const traced = async () => (await console.run('trace', inspection?._id ?? '')).out;
  // Its receiver has it before the ledger knows.
  await until('the ledger knows', async () => (await traced()).includes('delivered'));
  expect(await traced()).not.toContain('no destination');
});

test('keep their addresses to themselves', async () => {
  const world = await startWorld({ names: ['Vault'], kinds: ['webhook'] });
  world.sandbox.receivers.webhook.script.always({ kind: 'answer', status: 410 });
  world.critical('Vault');
  await world.start();
  const console = await openConsole(world);
  await until('the dead delivery', async () => (await console.json<Letter[]>('dead', 'list')).length === 1);
  const [letter] = await console.json<Letter[]>('dead', 'list');
  for (const args of [
    ['dead', 'list'],
    ['dead', 'list', '--json'],
    ['dead', 'show', letter?.id ?? ''],
    ['dead', 'show', letter?.id ?? '', '--json'],
    ['trace', letter?.alert.itemId ?? '', '--json'],
  ]) {
    const { code, out } = await console.run(...args);
    expect(code).toBe(0);
    expect(out).not.toContain('/hooks/');
  }
  world.reconciler.excuse('webhook');
});

test('names that name nothing are mistakes', async () => {
  const { console } = await startWithDead(1);
  expect(await console.run('dead', 'show', 'msg_nothing')).toMatchObject({
    code: 1,
    err: expect.stringContaining("'msg_nothing'"),
  });
  expect(await console.run('dead', 'retry', 'msg_nothing')).toMatchObject({ code: 1 });
  expect(await console.run('trace', 'nothing')).toMatchObject({ code: 1, err: expect.stringContaining('35 days') });
});
