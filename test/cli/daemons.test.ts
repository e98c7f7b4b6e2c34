/** The daemons that share a Redis: which run, which are missed, and how one is forgotten. */
import { expect, test } from 'vitest';
import { createOperatorLog } from '../../src/ledger/operator-log.ts';
import type { DaemonStatus } from '../../src/ops/status.ts';
import { leaveSilent, SILENT_HOST } from '../scenario/silent-daemon.ts';
import { startWorld } from '../scenario/world.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { openConsole } from './console.ts';

const ONCALL = 'oncall@example.com';

test('one that was killed is missed and told once, until it is forgotten', async () => {
  const { redis } = openTestRedis();
  const world = await startWorld({
    names: ['Vault'],
    kinds: ['email'],
    config: { watchdog: { after: '1s', channels: [{ name: 'email', contacts: [ONCALL] }] } },
  });
  const daemon = await world.start();
  await daemon.watching();
  const console = await openConsole(world);
  const list = () => console.json<(DaemonStatus & { isMissed: boolean })[]>('daemons', 'list');
  const [own] = await until('it is listed', async () => ((await list()).length === 1 ? list() : undefined));
  expect(own).toMatchObject({ isRunning: true, isMissed: false });
  expect(await console.run('daemons', 'forget', own?.host ?? '')).toMatchObject({
    code: 1,
    err: expect.stringContaining('runs'),
  });
  expect(await console.run('daemons', 'forget', 'nobody')).toMatchObject({
    code: 1,
    err: expect.stringContaining("no daemon 'nobody'"),
  });

  await leaveSilent(redis, world.prefix);
  const [found, ...others] = (await daemon.status()).troubles;
  expect(found).toMatchObject({
    ...{ name: 'member', severity: 'needs somebody' },
    what: 'the daemon at beta (pid 7) ended without saying so, or does not reach Redis: it was last heard 2 min ago',
    todo: expect.stringContaining('tocsin daemons forget'),
  });
  expect(others).toEqual([]);
  expect(await console.run('status')).toMatchObject({ code: 2, out: expect.stringContaining('beta (pid 7)') });
  expect(await daemon.metric('tocsin_trouble', { trouble: 'member' })).toBe(1);
  const { out } = await console.run('daemons', 'list');
  expect(out).toMatch(/^HOST +PID +VERSION +STARTED +HEARD +STATE\n/);
  expect(out).toMatch(/\nbeta +7 .* missed/);

  const told = (words: string) =>
    world.sandbox.receivers.smtp.received().filter(({ text }) => text.includes('beta (pid 7)') && text.includes(words));
  await until('it is told', () => told('To do: ').length > 0);
  const forgotten = await console.run('daemons', 'forget', SILENT_HOST);
  expect(forgotten).toMatchObject({ code: 0, err: '', out: 'beta (pid 7): forgotten; it is not missed any more\n' });
  expect((await createOperatorLog(redis, world.prefix, Date.now).after('0-0')).actions).toMatchObject([
    { action: 'daemon-forgotten', daemonHost: 'beta', daemonPid: 7 },
  ]);
  await until('its end is told', () => told('Over: ').length > 0);
  expect((await list()).map(({ host }) => host)).toEqual([own?.host]);
  expect(await console.run('status')).toMatchObject({ code: 0 });
  expect([told('To do: '), told('Over: ')].map(({ length }) => length)).toEqual([1, 1]);
});
