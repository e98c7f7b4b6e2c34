/** Cursors in an operator's hands: seen, moved back so that history is read, and never moved by accident. */
import { expect, test } from 'vitest';
import { createPollLock } from '../../src/poll/cursor.ts';
import { createLocks } from '../../src/redis/lock.ts';
import { SANDBOX, variable } from '../scenario/config.ts';
import { startWorld } from '../scenario/world.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { openConsole } from './console.ts';

interface Shown {
  protocol: string;
  source: string;
  position?: string;
  lastRead?: string;
  lagSeconds?: number;
  oldestOnItsWay?: string;
}

const HOUR_MS = 3_600_000;

test('are shown with what is still on its way', async () => {
  const world = await startWorld({ names: ['Vault', 'Bridge'], kinds: ['webhook'] });
  const mend = world.sandbox.receivers.webhook.script.always({ kind: 'answer', status: 503 });
  const [inspection] = world.critical('Vault');
  const daemon = await world.start();
  await daemon.watching();
  const console = await openConsole(world);
  const shown = () => console.json<Shown[]>('cursor', 'show', '--protocol', 'Vault');
  await until('an alert on its way', async () => (await shown()).some(({ oldestOnItsWay }) => oldestOnItsWay));
  const at = new Date(inspection?.createdAt ?? 0).toISOString();
  expect(await shown()).toMatchObject([
    { service: 'sandbox', protocol: 'Vault', source: 'inspections', position: expect.any(String), oldestOnItsWay: at },
    { service: 'sandbox', protocol: 'Vault', source: 'notifications', lastRead: expect.any(String) },
  ]);
  const { out } = await console.run('cursor', 'show', '--source', 'inspections');
  expect(out.trimEnd().split('\n')).toHaveLength(3);
  expect(out).toMatch(/^PROTOCOL +SOURCE .*\nVault +inspections/m);
  mend();
  await world.balanced();
});

test('moved back, history is read that was not, and nothing is sent twice', async () => {
  const world = await startWorld({ names: ['Vault', 'Bridge'], kinds: ['webhook', 'slack'] });
  const { service } = world.sandbox;
  const insert = (protocol: string, hours: number) =>
    service.insertInspection({ protocol, assessment: 'critical', createdAt: service.now() - hours * HOUR_MS });
  world.critical('Vault', 3);
  const daemon = await world.start();
  await daemon.watching();
  await until('the recent ones arrive', () => world.reconciler.count() === 6);

  const old = insert('Vault', 5);
  const others = [insert('Vault', 9), insert('Bridge', 5)];
  world.reconciler.excuse(...['webhook', 'slack'].flatMap((kind) => others.map(({ txHash }) => `${kind} ${txHash}`)));
  const console = await openConsole(world);
  const set = await console.run('cursor', 'set', '--protocol', 'Vault', '--source', 'inspections', '--to', '6h');
  expect(set.code).toBe(0);
  expect(set.out).toMatch(/inspections of “Vault” .*; before: [\s\S]*are not sent again/);
  await until('the old one arrives', () => world.reconciler.arrivalsOf(old.txHash).length === 2);
  world.critical('Vault');
  await until('and a new one', () => world.reconciler.count() === 10);
  expect(world.reconciler.balance()).toMatchObject({ doubled: [] });
  for (const { txHash } of others) expect(world.reconciler.arrivalsOf(txHash)).toEqual([]);
});

test('ask before something is skipped, or sent again because the ledger has forgotten it', async () => {
  const world = await startWorld({ names: ['Vault'], kinds: ['webhook'] });
  world.critical('Vault');
  const daemon = await world.start();
  await daemon.watching();
  await world.delivered();
  await daemon.stop();
  const console = await openConsole(world);
  const set = (...args: string[]) => console.run('cursor', 'set', '--protocol', 'Vault', ...args);
  const position = async () => (await console.json<Shown[]>('cursor', 'show'))[0]?.position;
  const before = await position();

  expect(await set('--to', '0s')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/skips items written after.*--yes/),
  });
  expect(await set('--to', '40d')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/sends alerts again .* 35 days ago/),
  });
  console.answer('n');
  expect(await set('--to', '0s')).toMatchObject({ code: 1, err: expect.stringContaining('nothing was done') });
  expect(await set('--to', '2126-01-01')).toMatchObject({ code: 1, err: expect.stringContaining('future') });
  expect(await set('--to', 'soon')).toMatchObject({ code: 1, err: expect.stringContaining('--to must be') });
  expect(await position()).toBe(before);

  console.answer('yes');
  expect(await set('--to', '40d', '--source', 'inspections')).toMatchObject({ code: 0 });
  expect(await position()).not.toBe(before);
  expect((await set('--to', '2026-01-31', '--yes', '--json')).out).toContain('"movedTo": "2026-01-31T00:00:00.000Z"');
  expect(await position()).toBe('2026-01-31T00:00:00.000Z');
});

test('are not moved while a poll is reading, or it would move them on from where it was', async () => {
  const { redis } = openTestRedis();
  await redis.ping();
  const world = await startWorld({ names: ['Vault'], kinds: ['webhook'] });
  const daemon = await world.start();
  await daemon.watching();
  await daemon.stop();
  const held = await createPollLock(createLocks(redis, world.prefix)).take([
    { service: 'sandbox', source: 'inspections', protocol: 'Vault' },
  ]);
  const console = await openConsole(world);
  const set = console.run('cursor', 'set', '--protocol', 'Vault', '--source', 'inspections', '--to', '2h');
  const isSet = await Promise.race([set.then(() => true), console.run('cursor', 'show').then(() => false)]);
  expect(isSet).toBe(false);
  await held?.release();
  expect(await set).toMatchObject({ code: 0 });
});

test('names that name nothing, and names that are not clear, are mistakes', async () => {
  const second = { name: 'second', baseUrl: variable('TOCSIN_SANDBOX_SERVICE'), apiKey: 'second-key' };
  const world = await startWorld({
    names: ['Vault'],
    kinds: ['webhook'],
    moreKeys: [{ apiKey: 'second-key', protocols: [{ name: 'Vault', channels: [] }] }],
    config: { services: [SANDBOX, second] },
  });
  const daemon = await world.start();
  await daemon.watching();
  const console = await openConsole(world);
  for (const [args, message] of [
    [['--protocol', 'Vault'], 'take --service sandbox or second'],
    [['--protocol', 'Nothing'], "no protocol 'Nothing' is polled"],
    [['--protocol', 'Vault', '--service', 'third'], "no service 'third'"],
    [['--protocol', 'Vault', '--source', 'prices'], '--source must be one of'],
  ] as const) {
    expect(await console.run('cursor', 'set', '--to', '1h', ...args)).toMatchObject({
      code: 1,
      err: expect.stringContaining(message),
    });
  }
  expect((await console.run('cursor', 'show')).out).toMatch(/^SERVICE/);
  expect(await console.run('cursor', 'set', '--protocol', 'Vault', '--service', 'second', '--to', '2h')).toMatchObject({
    code: 0,
  });
});
