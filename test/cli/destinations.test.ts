/** The gate from the operator's chair: what is known, how it stands, and what may be approved. */
import { expect, test } from 'vitest';
import { startWorld } from '../scenario/world.ts';
import { until } from '../support/until.ts';
import { openConsole } from './console.ts';

interface Known {
  id: string;
  kind: string;
  label: string;
  state: string;
  waiting: number;
}

const start = async (destinations: object) => {
  const world = await startWorld({
    names: ['Vault'],
    config: {
      destinations,
      fallback: { after: '1h', channels: [{ name: 'email', contacts: ['oncall@example.com'] }] },
      protocols: { overrides: { Vault: { extraChannels: [{ name: 'slack', contacts: ['C0OWN00001'] }] } } },
    },
  });
  const daemon = await world.start();
  await daemon.watching();
  const console = await openConsole(world);
  const list = () => console.json<Known[]>('destinations', 'list');
  const states = async () =>
    Object.fromEntries((await list()).map(({ kind, label, state }) => [`${kind} ${label}`, state]));
  return { world, daemon, console, list, states };
};

test('are listed with what lets them through', async () => {
  const { console, list, states } = await start({ gate: true, allow: ['telegram:*'] });
  const all = await states();
  expect(all).toMatchObject({
    'email oncall@example.com': 'config',
    'slack C0OWN00001': 'config',
    'slack C0SANDBOX01': 'new',
  });
  expect(
    Object.entries(all)
      .filter(([, state]) => state === 'allowed')
      .map(([name]) => name.split(' ')[0]),
  ).toEqual(['telegram']);
  const { out, err } = await console.run('destinations', 'list');
  expect(err).toBe('');
  expect(out).toMatch(/^ID +KIND +DESTINATION +STATE +SINCE \(UTC\) +WAITING\n/);
  expect(out).toMatch(/\nslack-\w+ +slack +C0SANDBOX01 +new +- +0\n/);
  expect(JSON.stringify(await list())).not.toContain('/hooks/');

  expect(await console.run('destinations', 'approve')).toMatchObject({
    code: 1,
    err: expect.stringContaining('--all'),
  });
  expect(await console.run('destinations', 'approve', 'C0SANDBOX01', '--all')).toMatchObject({ code: 1 });
  expect(await console.run('destinations', 'approve', 'C0SANDBOX01', 'nobody')).toMatchObject({
    code: 1,
    err: expect.stringContaining("no destination is known by the name 'nobody'"),
  });
  expect((await states())['slack C0SANDBOX01']).toBe('new');

  expect(await console.json('destinations', 'approve', 'C0SANDBOX01')).toMatchObject([
    { label: 'C0SANDBOX01', sent: 0 },
  ]);
  expect((await states())['slack C0SANDBOX01']).toBe('approved');
  const rest = await console.run('destinations', 'approve', '--all');
  expect(rest.out.trim().split('\n').toSorted()).toEqual([
    expect.stringMatching(/^email .*: approved$/),
    expect.stringMatching(/^webhook .*: approved$/),
  ]);
  expect(Object.values(await states())).not.toContain('new');
  expect(await console.run('destinations', 'approve', '--all')).toMatchObject({
    code: 1,
    err: expect.stringContaining('no destination waits for approval'),
  });
});

test('that the config names stay open, whatever is taken back', async () => {
  const { console, world } = await start({ gate: true, allow: ['telegram:*', 'email:*', 'webhook:http://*'] });
  await console.run('destinations', 'approve', 'C0OWN00001');
  expect(await console.run('destinations', 'revoke', 'C0OWN00001')).toMatchObject({
    code: 0,
    err: expect.stringContaining('the config names it'),
  });
  const [inspection] = world.critical('Vault');
  await until('it arrives there', () => world.books.arrivalsOf(inspection?.txHash ?? '').includes('slack C0OWN00001'));
  expect(await console.run('destinations', 'revoke', 'C0SANDBOX01')).toMatchObject({
    code: 1,
    err: expect.stringContaining('slack C0SANDBOX01 is not approved; --drop gives up what waits for it'),
  });
});

test('may be approved before the gate is there, and nothing is held without it', async () => {
  const { console, world } = await start({});
  const { code, err } = await console.run('destinations', 'approve', '--all');
  expect({ code, err }).toEqual({ code: 0, err: 'tocsin: destinations.gate is false: nothing is held at present\n' });
  world.books.excuse('email oncall');
  world.critical('Vault');
  await world.delivered();
  expect((await console.run('destinations', 'list')).err).toContain('destinations.gate is false');
});
