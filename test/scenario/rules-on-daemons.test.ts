/** The rules on real daemons: silent while all is well, the right ones while something is broken, silent when it is mended. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { createConfigSource } from '../../src/config/source.ts';
import { openConsole } from '../cli/console.ts';
import { startHttpReceiver } from '../support/http-receiver.ts';
import { lacksPromtool } from '../support/promtool.ts';
import { until } from '../support/until.ts';
import { startDaemon } from './daemons.ts';
import { rules } from './rule-phases.ts';
import { addChannel, createPlays, durableRedis, type OnFinished, SHOWN, SYNTHETIC_ONLY } from './rule-plays.ts';
import { startWorld } from './world.ts';

const ONCALL = [{ name: 'email', contacts: ['oncall@example.com'] }];
const MINUTE = 60_000;
/** So far a clock is put forward where something counts, or is late, after a minute. */
const LATER_MS = 1.5 * MINUTE;

const plays = createPlays();

test.concurrent('what is read', async ({ onTestFinished }) => {
  const onFinished: OnFinished = onTestFinished;
  const { redisUrl } = await durableRedis(onFinished);
  const world = await startWorld({
    onFinished,
    ...{ names: ['Vault', 'Bridge', 'Quiet'], kinds: ['email'], redisUrl },
    config: {
      protocols: { overrides: { Quiet: { expectEvery: '4s' } } },
      ...{ audit: { every: '200ms' }, fallback: { after: '1h', channels: ONCALL } },
    },
  });
  const { service } = world.sandbox;
  const inspects = () => setInterval(() => world.calm('Quiet'), 300);
  let inspecting = inspects();
  onFinished(async () => clearInterval(inspecting));
  let aheadMs = 0;
  const daemon = await startDaemon(world.config, {
    now: () => Date.now() + aheadMs,
    limits: { misfitLastsMs: 3000 },
  });
  onFinished(daemon.stop);
  const play = await plays.of(world, () => daemon);

  const anotherAudit = async (outcome: string): Promise<void> => {
    const audits = () => daemon.metric('tocsin_audits_total', { outcome });
    const before = await audits();
    await until(`another audit is ${outcome}`, async () => (await audits()) > before);
  };

  await play('the key is refused', {
    fires: ['TocsinServiceUnreadable', 'TocsinProtocolUnread', 'TocsinReadingLate', 'TocsinAuditUnfinished'],
    minutes: 420,
    begin: async () => {
      service.addFault({ times: Infinity, fault: { kind: 'status', status: 401 } });
      await until('it knows', async () => (await daemon.metric('tocsin_unread_protocols')) > 0);
    },
    break: async () => {
      await anotherAudit('incomplete');
      aheadMs = LATER_MS;
    },
    mend: () => {
      aheadMs = 0;
      service.clearFaults();
    },
  });

  let takeBack = (): void => {};
  await play('parts cannot be read', {
    fires: [
      ...['TocsinProtocolUnread', 'TocsinProtocolSilent', 'TocsinBoundReached', 'TocsinItemsNotUnderstood'],
      ...['TocsinInspectionsStrange', 'TocsinUnroutable'],
    ],
    break: async () => {
      await anotherAudit('balanced');
      clearInterval(inspecting);
      const inspections = { endpoint: 'listInspections', times: Infinity } as const;
      service.addFault({ ...inspections, protocol: 'Vault', fault: { kind: 'huge', bytes: 80_000_000 } });
      service.addFault({ ...inspections, protocol: 'Bridge', fault: { kind: 'malformed-item' } });
      takeBack = addChannel(world, 'Bridge', { name: 'pager', contacts: ['1'] });
    },
    mend: () => {
      service.clearFaults();
      takeBack();
      inspecting = inspects();
    },
  });
}, 240_000);

test.concurrent('what is delivered', async ({ onTestFinished }) => {
  const onFinished: OnFinished = onTestFinished;
  const { redisUrl } = await durableRedis(onFinished);
  const switched = await startHttpReceiver();
  const world = await startWorld({
    onFinished,
    ...{ names: ['Vault'], kinds: ['email', 'slack', 'webhook'], redisUrl },
    config: {
      ...{ poll: { lookback: '1h' }, fallback: { after: '1s', channels: ONCALL } },
      // Channels are asked twice as often.
      watchdog: { channels: ONCALL, heartbeatUrl: `${switched.origin}/ping`, heartbeatEvery: '1s' },
    },
  });
  // Before the world looks for what is left open.
  onFinished(() => switched.close());
  const { slack, webhook } = world.sandbox.receivers;
  const console = await openConsole(world);
  const daemon = await world.start();
  const play = await plays.of(world, () => daemon);

  let giveBack = (): void => {};
  await play('a token is refused while nothing is sent', {
    fires: ['TocsinChannelFailing'],
    break: () => {
      giveBack = slack.revokeToken();
    },
    mend: () => giveBack(),
  });

  await play('a token and a webhook are gone', {
    fires: [
      ...[
        'TocsinSenderBroken',
        'TocsinChannelFailing',
        'TocsinDestinationBroken',
        'TocsinDeliveriesDead',
        'TocsinDeadLettersKept',
      ],
      ...['TocsinFallbackUsed', 'TocsinRetries', 'TocsinQueueStands', 'TocsinUndelivered'],
      ...['TocsinAlertsLate', 'TocsinAlertsOftenLate'],
    ],
    busy: ['deliver-slack'],
    break: () => {
      giveBack = slack.revokeToken();
      webhook.script.always({ kind: 'answer', status: 410 });
      const { service } = world.sandbox;
      for (let count = 0; count < 3; count += 1) {
        service.insertInspection({ protocol: 'Vault', assessment: 'critical', createdAt: service.now() - 20 * MINUTE });
      }
    },
    mend: async () => {
      giveBack();
      webhook.script.clear();
      const [gone] = (await console.json<{ id: string; kind: string }[]>('destinations', 'list')).filter(
        ({ kind }) => kind === 'webhook',
      );
      expect(await console.run('destinations', 'enable', gone?.id ?? '')).toMatchObject({ code: 0 });
      expect(await console.run('dead', 'retry', '--all')).toMatchObject({ code: 0 });
    },
  });
}, 240_000);

test.concurrent('the daemon, its config and its Redis', async ({ onTestFinished }) => {
  const onFinished: OnFinished = onTestFinished;
  const { redis, redisUrl } = await durableRedis(onFinished);
  const world = await startWorld({
    onFinished,
    ...{ names: ['Vault'], kinds: ['slack', 'email'], redisUrl },
    config: { destinations: { gate: true, allow: ['slack:C0SANDBOX*', 'email:*'] } },
  });
  const console = await openConsole(world);
  const file = join(world.dataDir, 'tocsin.yaml');
  await writeFile(file, world.configText);
  const source = createConfigSource(file, world.environment);
  const limits = { configDiffersMs: 0, configVacantMs: 500 };
  const daemon = await startDaemon(await source.read(), { source, limits });
  onFinished(daemon.stop);
  let scraped = daemon;
  const play = await plays.of(world, () => scraped);
  const write = async (text: string): Promise<void> => {
    await writeFile(file, text);
    await daemon.reload('a test');
  };

  let takeBack = (): void => {};
  await play('a destination is new, and a config is wrong', {
    fires: ['TocsinAlertsHeld', 'TocsinConfigRefused'],
    break: async () => {
      takeBack = addChannel(world, 'Vault', { name: 'slack', contacts: ['C0NEWONE01'] });
      await until('it is known', async () =>
        (await console.json<{ label: string }[]>('destinations', 'list')).some(({ label }) => label === 'C0NEWONE01'),
      );
      world.critical('Vault');
      await write(world.configText.replace('sweepEvery', 'sweepEvry'));
    },
    mend: async () => {
      takeBack();
      expect(await console.run('destinations', 'approve', 'C0NEWONE01')).toMatchObject({ code: 0 });
      await write(world.configText);
    },
  });

  await play('nothing is watched', {
    fires: ['TocsinWatchesNothing'],
    break: () => write(`${world.configText}\nprotocols: { include: ["Nothing*"] }\n`),
    mend: () => write(world.configText),
  });

  await play('a daemon with another config comes, and goes', {
    fires: ['TocsinConfigDiffers'],
    break: async () => {
      const { alerts } = world.config;
      scraped = await world.start({ config: { ...world.config, alerts: { ...alerts, assessments: ['suspecious'] } } });
    },
    mend: async () => {
      await scraped.stop();
      scraped = daemon;
      await until('it takes over', async () => (await daemon.ask('/readyz')).status === 200);
    },
  });

  await play('Redis is gone', {
    fires: ['TocsinRedisDown'],
    break: () => redis.kill('SIGKILL'),
    mend: () => redis.start(),
  });

  await play('the daemon is gone', {
    fires: ['TocsinGone'],
    break: () => daemon.stop(),
    mend: async () => {
      scraped = await world.start();
      await scraped.watching();
    },
  });
}, 240_000);

test.concurrent('what Redis forgets', async ({ onTestFinished }) => {
  const onFinished: OnFinished = onTestFinished;
  const { redisUrl } = await durableRedis(onFinished);
  const world = await startWorld({
    onFinished,
    ...{ names: ['Vault'], kinds: ['webhook'], redisUrl },
    config: { audit: { every: '200ms' }, poll: { lookback: '1s', overlap: '200ms', sweepEvery: '200ms' } },
  });
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: null });
  onFinished(async () => redis.disconnect());
  const daemon = await world.start();
  const play = await plays.of(world, () => daemon);

  await play('Redis has forgotten an alert', {
    fires: ['TocsinAuditDifference'],
    break: async () => {
      await redis.del(...(await redis.keys(`${world.prefix}:alert:*`)), `${world.prefix}:audited:sandbox`);
    },
    mend: () => {},
  });
}, 240_000);

test('each rule is shown on a daemon, or it is said why not', () => {
  const shown = Object.values(SHOWN).flat();
  const alerts = rules.map(({ alert }) => alert);
  expect(alerts.filter((alert) => !shown.includes(alert) && !(alert in SYNTHETIC_ONLY))).toEqual([]);
  expect(Object.keys(SYNTHETIC_ONLY).filter((alert) => shown.includes(alert) || !alerts.includes(alert))).toEqual([]);
});

test('these are the rules that are said to be shown here', () => {
  expect(plays.fired()).toEqual(SHOWN.plainly.toSorted());
});

test('Prometheus fires these rules, no others, and none before and afterwards', async ({ skip }) => {
  skip(lacksPromtool() !== undefined, lacksPromtool());
  for (const [name, { said }] of plays.shown) expect(`${name}: ${await said}`).toContain('SUCCESS');
}, 240_000);
