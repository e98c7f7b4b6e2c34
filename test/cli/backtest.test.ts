/** The present config over real history: what it says is what a daemon then does. */
import { expect, test } from 'vitest';
import type { BacktestReport } from '../../src/wiring/backtest.ts';
import { startWorld } from '../scenario/world.ts';
import { openConsole } from './console.ts';

const NO_REDIS = 'redis://127.0.0.1:1';

test('tells what a daemon would send where, and a daemon sends that', async () => {
  const world = await startWorld({ names: ['Vault', 'Bridge'], kinds: ['slack', 'webhook'] });
  world.calm('Vault', 20);
  world.critical('Vault', 7);
  world.critical('Bridge', 2);
  world.notification('Bridge', 'The weekly report is ready.');
  const console = await openConsole(world);
  const report = await console.json<BacktestReport>('backtest', '--since', '30m');
  expect(world.books.count()).toBe(0);
  expect(report).toMatchObject({
    alerts: 10,
    protocols: [
      { service: 'sandbox', protocol: 'Vault', inspections: 7, notifications: 0, stranded: 0 },
      { service: 'sandbox', protocol: 'Bridge', inspections: 2, notifications: 1, stranded: 0 },
    ],
    detectors: [{ detector: 'drasticBalanceChange', alerts: 9 }],
    problems: [],
    unread: [],
  });
  expect(JSON.stringify(report)).not.toContain('/hooks/');

  await world.start();
  await world.balanced();
  const before = (kind: 'slack' | 'webhook'): number =>
    world.sandbox.receivers[kind].received().length - world.sandbox.service.protocols().length;
  const told = Map.groupBy(report.destinations, ({ kind }) => kind);
  for (const kind of ['slack', 'webhook'] as const) {
    expect(told.get(kind)?.map(({ alerts }) => alerts)).toEqual([7, 3]);
    const messages = (told.get(kind) ?? []).reduce((sum, each) => sum + each.messages, 0);
    expect(messages).toBe(before(kind));
  }
});

test('needs no Redis, and finds the worst minute and the longest wait at the pace of each destination', async () => {
  const world = await startWorld({
    names: ['Vault'],
    kinds: ['slack', 'webhook'],
    redisUrl: NO_REDIS,
    config: { channels: { slack: { rateLimit: { perSecond: 0.5, burst: 1 } } } },
  });
  const { service } = world.sandbox;
  const createdAt = service.now() - 2 * 3_600_000;
  for (let n = 0; n < 11; n += 1) {
    service.insertInspection({ protocol: 'Vault', assessment: 'critical', createdAt: createdAt + n });
  }
  world.critical('Vault', 2);
  const console = await openConsole(world);
  const { destinations } = await console.json<BacktestReport>('backtest', '--since', '3h');
  expect(destinations).toMatchObject([
    { kind: 'slack', alerts: 13, messages: 13, worstMinute: { messages: 11 } },
    { kind: 'webhook', alerts: 13, messages: 13, worstMinute: { messages: 11 }, worstBacklog: { waitMs: 0 } },
  ]);
  const waitMs = destinations[0]?.worstBacklog.waitMs ?? 0;
  expect(waitMs).toBeGreaterThanOrEqual(19_800);
  expect(waitMs).toBeLessThanOrEqual(20_000);
  const { code, out } = await console.run('backtest', '--since', '3h', '--until', '1h');
  expect(code).toBe(0);
  expect(out).toMatch(/: 11 alerts\n/);
  expect(out).toMatch(/\nslack +C0SANDBOX01 +11 +11 +11 +\d{4}-\d\d-\d\d \d\d:\d\d +20 s, of 10\n/);
  expect(out).toContain('Nothing was sent.');
});

test('names the channel entries that lead nowhere, and alerts that nobody would hear of', async () => {
  const world = await startWorld({
    protocols: [
      { name: 'Vault', triggers: {} },
      { name: 'Silent', channels: [] },
    ],
    names: [],
    kinds: ['webhook'],
    redisUrl: NO_REDIS,
    config: { alerts: { triggers: 'honour' } },
    quirks: { extraChannels: [{ name: 'pager', contacts: ['1'] }] },
  });
  world.critical('Vault', 2);
  world.critical('Silent');
  const console = await openConsole(world);
  const { code, out } = await console.run('backtest', '--since', '1h');
  expect(code).toBe(0);
  expect(out).toMatch(/Leads nowhere\n {2}Vault: a channel of unknown kind 'pager'\n {2}Silent: a channel/);
  expect(out).toMatch(
    /PROTOCOL +INSPECTIONS +NOTIFICATIONS +NO TRIGGER +NO DESTINATION\nVault +2 +0 +2 +0\nSilent +1 +0 +0 +1\n/,
  );
});

test('an empty history is no mistake; a service that does not answer is told as such', async () => {
  const world = await startWorld({ names: ['Vault'], kinds: ['webhook'], redisUrl: NO_REDIS });
  const console = await openConsole(world);
  expect(await console.run('backtest', '--since', '1h')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/: 0 alerts\n\nNothing was sent/),
  });
  expect(await console.run('backtest')).toMatchObject({ code: 1 });
  await world.sandbox.service.stop();
  expect(await console.run('backtest', '--since', '1h')).toMatchObject({ code: 75 });
});

test('a long history is read whole', async () => {
  const world = await startWorld({
    names: ['Vault'],
    kinds: ['webhook'],
    redisUrl: NO_REDIS,
    quirks: { maxPageSize: 20, dateField: 'txTimestamp', sortField: 'updatedAt' },
  });
  const { service } = world.sandbox;
  const begun = service.now() - 6 * 86_400_000;
  for (let n = 0; n < 500; n += 1) {
    service.insertInspection({ protocol: 'Vault', assessment: 'critical', createdAt: begun + n * 1_000_000 });
  }
  const console = await openConsole(world);
  const report = await console.json<BacktestReport>('backtest', '--since', '7d');
  expect(report.alerts).toBe(500);
  const part = await console.json<BacktestReport>(
    ...['backtest', '--since', new Date(begun + 100_000_000).toISOString()],
    ...['--until', new Date(begun + 200_000_000).toISOString()],
  );
  expect(part.alerts).toBe(100);
});
