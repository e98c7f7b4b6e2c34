/** The present config over real history: what it says is what a daemon then does. */
import { expect, test } from 'vitest';
import { longestIntervalMs } from '../../src/config/poll-section.ts';
import type { BacktestReport } from '../../src/features/backtest/backtest.ts';
import { startWorld, type World } from '../scenario/world.ts';
import { openConsole } from './console.ts';

const NO_REDIS = 'redis://127.0.0.1:1';

/** The beginning of a read, some time ago. */
const momentOf = ({ sandbox: { service }, config }: World, agoMs: number): number => {
  const interval = longestIntervalMs(config.poll);
  return Math.floor((service.now() - agoMs) / interval) * interval;
};

test('says what a daemon would send where, and a daemon sends that', async () => {
  const world = await startWorld({ names: ['Vault', 'Bridge'], kinds: ['slack', 'webhook'] });
  const { service, receivers } = world.sandbox;
  const createdAt = momentOf(world, 600_000);
  world.calm('Vault', 20);
  for (const [protocol, count] of [['Vault', 7] as const, ['Bridge', 2] as const]) {
    for (let n = 0; n < count; n += 1) service.insertInspection({ protocol, assessment: 'critical', createdAt });
  }
  service.insertNotification({ protocol: 'Bridge', message: 'The weekly report is ready.', createdAt });
  const console = await openConsole(world);
  const report = await console.json<BacktestReport>('backtest', '--since', '30m');
  expect(world.reconciler.count()).toBe(0);
  expect(report).toMatchObject({
    alerts: 10,
    protocols: [
      { service: 'sandbox', protocol: 'Vault', inspections: 7, notifications: 0, stranded: 0 },
      { service: 'sandbox', protocol: 'Bridge', inspections: 2, notifications: 1, stranded: 0 },
    ],
    detectors: [{ detector: 'drasticBalanceChange', alerts: 9 }],
    correlated: 0,
    problems: [],
    unread: [],
  });
  expect(JSON.stringify(report)).not.toContain('/hooks/');

  await world.start();
  await world.balanced();
  // The last critical of every protocol is a message of its own.
  const sent = (kind: 'slack' | 'webhook'): number[] => {
    const received: readonly { destination: string }[] = receivers[kind].received();
    return [...Map.groupBy(received, ({ destination }) => destination).values()].map((there) => there.length - 1);
  };
  const told = Map.groupBy(report.destinations, ({ kind }) => kind);
  expect(told.get('slack')).toMatchObject([
    { alerts: 3, messages: 3, digests: 0 },
    { alerts: 7, messages: 1, digests: 1 },
  ]);
  expect(told.get('webhook')).toMatchObject([
    { alerts: 7, messages: 7, digests: 0 },
    { alerts: 3, messages: 3, digests: 0 },
  ]);
  for (const kind of ['slack', 'webhook'] as const) {
    expect(sent(kind).toSorted()).toEqual(
      told
        .get(kind)
        ?.map(({ messages }) => messages)
        .toSorted(),
    );
  }
});

test('needs no Redis, and finds digests, the worst minute and the longest wait at the pace of each destination', async () => {
  const world = await startWorld({
    names: ['Vault'],
    kinds: ['slack', 'webhook'],
    redisUrl: NO_REDIS,
    config: { poll: { interval: '200ms' }, channels: { slack: { rateLimit: { perSecond: 0.5, burst: 1 } } } },
  });
  const { service } = world.sandbox;
  const begun = momentOf(world, 2 * 3_600_000);
  for (let n = 0; n < 20; n += 1) {
    const createdAt = begun + n * longestIntervalMs(world.config.poll);
    service.insertInspection({ protocol: 'Vault', assessment: 'critical', createdAt });
  }
  world.critical('Vault');
  const console = await openConsole(world);
  const { destinations } = await console.json<BacktestReport>('backtest', '--since', '3h');
  const worstBacklog = { at: begun + 2000, waitMs: 2000, messages: 1 };
  expect(destinations).toMatchObject([
    { kind: 'webhook', messages: 21, digests: 0, worstMinute: { messages: 20 }, worstBacklog: { waitMs: 0 } },
    { kind: 'slack', alerts: 21, messages: 4, digests: 2, worstMinute: { at: begun, messages: 3 }, worstBacklog },
  ]);
  const { code, out } = await console.run('backtest', '--since', '3h', '--until', '1h');
  expect(code).toBe(0);
  expect(out).toMatch(/: 20 alerts\n/);
  expect(out).toMatch(/\nslack +C0SANDBOX01 +20 +3 +2 +3 +\d{4}-\d\d-\d\d \d\d:\d\d +2 s\n/);
  expect(out).toContain('Nothing was sent.');
});

test('a notification that an inspection covers is not counted where that goes', async () => {
  const world = await startWorld({
    names: ['Vault'],
    kinds: ['slack'],
    redisUrl: NO_REDIS,
    config: { alerts: { correlate: true } },
  });
  const [inspection] = world.critical('Vault');
  world.notification('Vault', `Critical: ${inspection?.txHash}`);
  world.notification('Vault', `Critical: 0x${'c'.repeat(64)}`);
  const console = await openConsole(world);
  const report = await console.json<BacktestReport>('backtest', '--since', '1h');
  expect(report).toMatchObject({ alerts: 3, correlated: 1, destinations: [{ alerts: 2, messages: 2 }] });
  const { out } = await console.run('backtest', '--since', '1h');
  expect(out).toContain('\n1 notification is not sent because the alert of an inspection covers it.\n');
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
  expect(out).toMatch(
    /Channels that reach nobody\n {2}“Vault”: a channel of unknown kind 'pager'\n {2}“Silent”: a channel/,
  );
  expect(out).toMatch(
    /PROTOCOL +INSPECTIONS +NOTIFICATIONS +NO TRIGGER +NO DESTINATION\nVault +2 +0 +2 +0\nSilent +1 +0 +0 +1\n/,
  );
});

test('an empty history is no mistake; a service that does not answer is reported as such', async () => {
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

test.each([
  { allow: ['slack:C0SANDBOX*'], watchdog: {} },
  { allow: [], watchdog: { channels: [{ name: 'slack', contacts: ['C0SANDBOX01'] }] } },
])('says which destinations need an approval, as far as the config shows: watchdog %j', async ({ allow, watchdog }) => {
  const world = await startWorld({
    names: ['Vault'],
    kinds: ['slack', 'webhook'],
    redisUrl: NO_REDIS,
    config: { destinations: { gate: true, allow }, watchdog },
  });
  world.critical('Vault');
  const console = await openConsole(world);
  const { destinations } = await console.json<BacktestReport>('backtest', '--since', '30m');
  const gated = Object.fromEntries(destinations.map(({ kind, needsApproval }) => [kind, needsApproval]));
  expect(gated).toEqual({ slack: undefined, webhook: true });
  const { out } = await console.run('backtest', '--since', '30m');
  expect(out).toMatch(/AT \(UTC\) +LONGEST WAIT +GATE\n/);
  expect(out).toMatch(/slack +C0SANDBOX01 .* open\n/);
  expect(out).toMatch(/webhook .* needs approval\n/);
  expect(out).toContain('A backtest does not know what is approved already');
});

test('says what the mute windows of the config would have hidden', async () => {
  const window = { protocols: ['Vault'], from: '00:00', to: '24:00', reason: 'Upgrade of the vault' };
  const world = await startWorld({
    names: ['Vault', 'Bridge'],
    kinds: ['webhook'],
    redisUrl: NO_REDIS,
    config: { mutes: { windows: [window] } },
  });
  world.critical('Vault', 2);
  world.critical('Bridge');
  const console = await openConsole(world);
  const report = await console.json<BacktestReport>('backtest', '--since', '30m');
  expect(report).toMatchObject({
    alerts: 3,
    mutes: [{ reason: 'Upgrade of the vault', alerts: 2 }],
    destinations: [{ kind: 'webhook', alerts: 1 }],
  });
  const { out } = await console.run('backtest', '--since', '30m');
  expect(out).toMatch(/\nMUTED BY WINDOW +ALERTS\nUpgrade of the vault +2\n/);
});
