/** The cursors as operators see and move them, against a real Redis. */
import { describe, expect, test } from 'vitest';
import type { Source } from '../../../src/alert.ts';
import { createCursorAdmin } from '../../../src/features/cursors/cursors.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { createCursors, createPollLock } from '../../../src/poll/cursor.ts';
import { createLocks } from '../../../src/redis/lock.ts';
import { destinationOf } from '../../support/alerts.ts';
import { openCommits } from '../../support/commits.ts';
import { makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';

const T0 = Date.parse('2026-11-20T12:00:00Z');
const POOL = { service: 'main', source: 'inspections', protocol: 'Lending Pool' } as const;
const LISTED: Record<string, string[]> = { main: ['Lending Pool', 'Vault'], other: ['Vault'] };

const setUp = (sources: Source[] = ['inspections', 'notifications']) => {
  const { redis, prefix } = openTestRedis();
  const cursors = createCursors(redis, prefix);
  const { advance } = openCommits(redis, prefix);
  const ledger = createLedger(redis, prefix, () => T0);
  const locks = createLocks(redis, prefix);
  const config = { services: [{ name: 'main' }, { name: 'other' }], alerts: { sources } } as Parameters<
    typeof createCursorAdmin
  >[0]['config'];
  const catalog = {
    protocols: async (service: string) =>
      new Map((LISTED[service] ?? []).map((name) => [name, { name, channels: [], notifyOn: [], missed: 0 }])),
  };
  const admin = createCursorAdmin({ config, cursors, ledger, locks, catalog, patienceMs: 150 });
  return { admin, cursors, advance, ledger, pollLock: createPollLock(locks) };
};

describe('the tracks', () => {
  const namesOf = (tracks: readonly { service: string; source: string; protocol: string }[]): string[] =>
    tracks.map(({ service, source, protocol }) => `${service}/${protocol}/${source}`);

  test('are every listed protocol with every source that is read', async () => {
    expect(namesOf(await setUp().admin.tracks({}))).toEqual([
      'main/Lending Pool/inspections',
      'main/Lending Pool/notifications',
      'main/Vault/inspections',
      'main/Vault/notifications',
      'other/Vault/inspections',
      'other/Vault/notifications',
    ]);
  });

  test('are narrowed by service, protocol and source', async () => {
    const { admin } = setUp();
    expect(namesOf(await admin.tracks({ protocol: 'Vault', source: 'notifications' }))).toEqual([
      'main/Vault/notifications',
      'other/Vault/notifications',
    ]);
    expect(namesOf(await admin.tracks({ service: 'other', source: 'inspections' }))).toEqual([
      'other/Vault/inspections',
    ]);
  });

  test('cannot be of what the config or the service does not have', async () => {
    const { admin } = setUp(['inspections']);
    await expect(admin.tracks({ service: 'third' })).rejects.toThrow("the config has no service 'third'");
    await expect(admin.tracks({ source: 'notifications' })).rejects.toThrow(/does not read notifications/);
    await expect(admin.tracks({ protocol: 'Bridge' })).rejects.toThrow(/no protocol 'Bridge' is polled/);
    await expect(admin.tracks({ service: 'other', protocol: 'Lending Pool' })).rejects.toThrow(/'Lending Pool'/);
  });
});

describe('a state', () => {
  test('has the cursor, and the oldest alert that is still waiting', async () => {
    const { admin, cursors, advance, ledger } = setUp();
    expect(await admin.states([POOL])).toEqual([POOL]);
    await cursors.begin(POOL, { start: T0, position: T0, sweptTo: T0 });
    await advance(POOL, { position: T0 + 5000, polledAt: T0 + 6000 });
    const alert = makeAlert(1, { protocol: POOL.protocol, at: '2026-11-20T12:00:02.000Z' });
    await ledger.recordWaiting([{ destination: destinationOf('slack', 'C1'), alerts: [alert] }]);
    expect(await admin.states([POOL])).toEqual([
      {
        ...POOL,
        cursor: { start: T0, position: T0 + 5000, sweptTo: T0, begun: T0, polledAt: T0 + 6000 },
        oldestOpen: T0 + 2000,
      },
    ]);
  });
});

describe('a move', () => {
  test('goes in both directions and begins again there', async () => {
    const { admin, cursors } = setUp();
    await cursors.begin(POOL, { start: T0, position: T0, sweptTo: T0 });
    for (const at of [T0 - 60_000, T0 + 60_000]) {
      await admin.move(POOL, at);
      expect(await cursors.get([POOL])).toEqual([{ start: at, position: at, sweptTo: at, begun: at }]);
    }
  });

  test('waits for a poll that is running, and frees the track for the next one', async () => {
    const { admin, cursors, pollLock } = setUp();
    const poll = await pollLock.take([POOL]);
    const moved = admin.move(POOL, T0);
    await poll?.release();
    await moved;
    expect(await cursors.get([POOL])).toMatchObject([{ position: T0 }]);
    const next = await pollLock.take([POOL]);
    expect(await next?.renew()).toBe(true);
    await next?.release();
  });

  test('gives up where the poll does not end, and leaves the cursor alone', async () => {
    const { admin, cursors, pollLock } = setUp();
    const poll = await pollLock.take([POOL]);
    await expect(admin.move(POOL, T0)).rejects.toMatchObject({
      name: 'UnavailableError',
      message: 'a poll of inspections of “Lending Pool” is still running: try again later',
    });
    expect(await cursors.get([POOL])).toEqual([undefined]);
    await poll?.release();
  });
});
