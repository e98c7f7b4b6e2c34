/** Approval from the operator's chair: what is known, how it stands, and what may be approved. */
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { createApprovalStore } from '../../src/features/approval/store.ts';
import { createOperatorLog } from '../../src/ledger/operator-log.ts';
import { startWorld } from '../scenario/world.ts';
import { until } from '../support/until.ts';
import { openConsole } from './console.ts';

interface Known {
  id: string;
  kind: string;
  label: string;
  state: string;
  protocols: string[];
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
  expect(out).toMatch(/^ID +KIND +DESTINATION +STATE +PROTOCOLS +SINCE \(UTC\) +WAITING\n/);
  expect(out).toMatch(/\nslack-\w+ +slack +C0SANDBOX01 +new +Vault +- +0\n/);
  const protocolsOf = Object.fromEntries((await list()).map(({ label, protocols }) => [label, protocols]));
  expect(protocolsOf).toMatchObject({ C0SANDBOX01: ['Vault'], C0OWN00001: ['Vault'], 'oncall@example.com': [] });
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

test('that the config lets through stay open, and a refused revocation changes nothing', async () => {
  const allow = ['telegram:*', 'email:*', 'webhook:http://*', 'slack:C0SANDBOX*'];
  const { console, world } = await start({ gate: true, allow });
  expect(await console.run('destinations', 'revoke', 'C0SANDBOX01')).toMatchObject({
    code: 1,
    err: expect.stringContaining(
      'slack C0SANDBOX01 fits destinations.allow, so it would still get alerts; take it out there first',
    ),
  });
  await console.run('destinations', 'approve', 'C0OWN00001');
  expect(await console.run('destinations', 'revoke', 'C0OWN00001')).toMatchObject({
    code: 1,
    err: expect.stringContaining('slack C0OWN00001 is named by the config itself, so it would still get alerts'),
  });
  // What the command itself keeps is as it was: the approval holds should the config drop the channel one day.
  const redis = new Redis(world.redisUrl);
  onTestFinished(() => redis.disconnect());
  const held = createApprovalStore(redis, world.prefix, Date.now);
  expect((await held.approvals()).map(({ label }) => label)).toEqual(['C0OWN00001']);
  expect(await held.revocations()).toEqual([]);
  const actions = (await createOperatorLog(redis, world.prefix, Date.now).after('0')).actions.map(
    ({ action }) => action,
  );
  expect(actions).toEqual(['destination-approved']);
  const [inspection] = world.critical('Vault');
  await until('it arrives there', () =>
    world.reconciler.arrivalsOf(inspection?.txHash ?? '').includes('slack C0OWN00001'),
  );
});

test('once revoked are approved by name alone', async () => {
  const { console, states } = await start({ gate: true, allow: ['telegram:*', 'email:*'] });
  await console.run('destinations', 'approve', 'C0SANDBOX01');
  expect(await console.run('destinations', 'revoke', 'C0SANDBOX01')).toMatchObject({
    code: 0,
    out: 'slack C0SANDBOX01: revoked\n',
  });
  expect(await console.run('destinations', 'revoke', 'C0SANDBOX01')).toMatchObject({
    code: 1,
    err: expect.stringContaining('slack C0SANDBOX01 is revoked already; --drop gives up the alerts that wait for it'),
  });
  const leftOut = expect.stringMatching(
    /slack C0SANDBOX01 was revoked and is left out; to approve it all the same: tocsin destinations approve slack-\w+\n/,
  );
  expect(await console.run('destinations', 'approve', '--all')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^webhook .*: approved\n$/),
    err: leftOut,
  });
  expect((await states())['slack C0SANDBOX01']).toBe('revoked');
  expect(await console.run('destinations', 'approve', '--all')).toMatchObject({ code: 1, err: leftOut });
  await console.run('destinations', 'approve', 'C0SANDBOX01');
  expect((await states())['slack C0SANDBOX01']).toBe('approved');
});

test('may be approved before the gate is turned on, and nothing is held without it', async () => {
  const { console, world } = await start({});
  const { code, err } = await console.run('destinations', 'approve', '--all');
  expect({ code, err }).toEqual({ code: 0, err: 'tocsin: destinations.gate is false: nothing is held at present\n' });
  world.reconciler.excuse('email oncall');
  world.critical('Vault');
  await world.delivered();
  expect((await console.run('destinations', 'list')).err).toContain('destinations.gate is false');
});
