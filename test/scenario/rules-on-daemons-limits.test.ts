/** The rules on real daemons, whose bounds are small, or which run in a process of their own. */
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { parcelJob } from '../../src/queue/job.ts';
import { JOB_OPTIONS } from '../../src/queue/settings.ts';
import { openConsole } from '../cli/console.ts';
import { createDaemonProcess } from '../fault/daemon-process.ts';
import { whyNoSmallDisk } from '../fault/small-disk.ts';
import { destinationOf } from '../support/alerts.ts';
import { startHttpReceiver } from '../support/http-receiver.ts';
import { makeAlert } from '../support/numbered.ts';
import { lacksPromtool } from '../support/promtool.ts';
import { until } from '../support/until.ts';
import { askedAt, startDaemon } from './daemons.ts';
import { openDataDir } from './data-dir.ts';
import { addChannel, createPlays, durableRedis, type OnFinished, SHOWN } from './rule-plays.ts';
import { leaveSilent, SILENT_HOST } from './silent-daemon.ts';
import { startWorld } from './world.ts';

const ONCALL = [{ name: 'email', contacts: ['oncall@example.com'] }];

const plays = createPlays();

/** So that a trouble need not last for a minute. */
const SOON = { lastingMs: 1000, detectEveryMs: 200, canaryLateMs: 2000, newerJobsGoneMs: 8000 };

test.concurrent('troubles that count when they have lasted', async ({ onTestFinished }) => {
  const onFinished: OnFinished = onTestFinished;
  const { redisUrl } = await durableRedis(onFinished);
  const isWell = { is: true };
  const switched = await startHttpReceiver(() => ({ status: isWell.is ? 200 : 503 }));
  const world = await startWorld({
    onFinished,
    // The switch is behind the guard of webhooks.
    ...{ names: ['Vault'], kinds: ['slack', 'email', 'webhook'], redisUrl },
    config: {
      channels: { email: { timeout: '5s' } },
      watchdog: { channels: ONCALL, heartbeatUrl: `${switched.origin}/ping`, heartbeatEvery: '1s' },
    },
  });
  onFinished(() => switched.close());
  const { service } = world.sandbox;
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const queueOf = (kind: string) =>
    new Queue(`deliver-${kind}`, { connection, prefix: world.prefix, defaultJobOptions: JOB_OPTIONS });
  const [slack, email] = [queueOf('slack'), queueOf('email')];
  onFinished(async () => {
    await Promise.all([slack.close(), email.close()]);
    connection.disconnect();
  });
  const disk = await openDataDir(onFinished);
  const daemon = await startDaemon({ ...world.config, dataDir: disk.dataDir }, { limits: SOON });
  onFinished(daemon.stop);
  const play = await plays.of(world, () => daemon);

  const console = await openConsole(world);
  await play(
    'Redis keeps less, the clocks differ, the disk is full, the switch is gone, and another daemon was killed',
    {
      fires: [
        'TocsinDaemonMissed',
        ...['TocsinRedisNotDurable', 'TocsinClockOff', 'TocsinHeartbeatFails'],
        ...(whyNoSmallDisk() === undefined ? ['TocsinDiskNearlyFull'] : []),
      ],
      break: async () => {
        await connection.config('SET', 'appendonly', 'no');
        service.changeQuirks({ clockSkewMs: 45_000 });
        isWell.is = false;
        await disk.fill();
        await leaveSilent(connection, world.prefix);
      },
      mend: async () => {
        await connection.config('SET', 'appendonly', 'yes');
        service.resetQuirks();
        isWell.is = true;
        await disk.empty();
        expect(await console.run('daemons', 'forget', SILENT_HOST)).toMatchObject({ code: 0 });
      },
    },
  );

  const slackDestination = destinationOf('slack', 'C0SANDBOX01');
  await play('a queue lets nothing through, and in another is a job of a newer version', {
    fires: ['TocsinQueueSilent', 'TocsinJobsUnreadable'],
    // Not yet as long as a queue may stand.
    minutes: 10,
    busy: ['deliver-email', 'deliver-slack'],
    break: async () => {
      await email.pause();
      const newer = { ...parcelJob({ destination: slackDestination, alerts: [makeAlert(1)] }), v: 9 };
      await slack.add('parcel', newer, { jobId: 'newer' });
    },
    mend: async () => {
      await email.resume();
      await (await slack.getJob('newer'))?.updateData({ ...parcelJob({ destination: slackDestination, alerts: [] }) });
    },
  });
}, 240_000);

test.concurrent('more than there is room for', async ({ onTestFinished }) => {
  const onFinished: OnFinished = onTestFinished;
  const { redisUrl } = await durableRedis(onFinished);
  const world = await startWorld({
    onFinished,
    ...{ names: ['Vault'], kinds: ['slack', 'webhook'], redisUrl },
    config: {
      channels: { webhook: { concurrency: 1 } },
      destinations: { gate: true, allow: ['slack:C0SANDBOX*', 'webhook:http://127.0.0.1:*/*'] },
    },
  });
  const { webhook } = world.sandbox.receivers;
  const console = await openConsole(world);
  const daemon = await world.start({ limits: { dead: 3, held: { alerts: 2, destinations: 5 } } });
  const play = await plays.of(world, () => daemon);
  const retry = async () => expect(await console.run('dead', 'retry', '--all')).toMatchObject({ code: 0 });

  let takeBack = (): void => {};
  await play('more is held than there is room for', {
    fires: ['TocsinHeldRefused', 'TocsinAlertsHeld', 'TocsinDeadLettersKept'],
    break: async () => {
      takeBack = addChannel(world, 'Vault', { name: 'slack', contacts: ['C0NEWONE01'] });
      await until('it is known', async () =>
        (await console.json<{ label: string }[]>('destinations', 'list')).some(({ label }) => label === 'C0NEWONE01'),
      );
      world.critical('Vault', 3);
    },
    mend: async () => {
      takeBack();
      expect(await console.run('destinations', 'approve', 'C0NEWONE01')).toMatchObject({ code: 0 });
      await retry();
    },
  });

  await play('more are dead than are kept', {
    fires: ['TocsinDeadLettersRemoved', 'TocsinDeadLettersKept', 'TocsinDeliveriesDead', 'TocsinDestinationBroken'],
    break: () => {
      webhook.script.always({ kind: 'answer', status: 410 });
      world.critical('Vault', 5);
    },
    mend: async () => {
      webhook.script.clear();
      const known = await console.json<{ id: string; kind: string }[]>('destinations', 'list');
      const gone = known.find(({ kind }) => kind === 'webhook');
      expect(await console.run('destinations', 'enable', gone?.id ?? '')).toMatchObject({ code: 0 });
      await retry();
    },
  });

  const { url } = world.addresses.webhook;
  const many = Array.from({ length: 60 }, (_, index) => `${url}/hooks/many/${index}`);
  const finding = async (): Promise<void> => {
    const waiting = () => daemon.metric('tocsin_queue_jobs', { queue: 'deliver-webhook' });
    const before = await waiting();
    world.critical('Vault');
    await until('it is queued for all of them', async () => (await waiting()) > before + many.length / 2);
  };
  await play('more comes than the receivers take', {
    fires: ['TocsinQueueGrows'],
    busy: ['deliver-webhook'],
    minutes: 30,
    break: async () => {
      takeBack = addChannel(world, 'Vault', { name: 'webhook', contacts: many });
      const known = () => daemon.metric('tocsin_destination_info', { kind: 'webhook' });
      await until('they are known', async () => (await known()) > many.length);
      webhook.script.always({ kind: 'slow', durationMs: 100 });
      await finding();
      await until(
        'one is through',
        async () => (await daemon.metric('tocsin_deliveries_total', { kind: 'webhook', outcome: 'delivered' })) > 0,
      );
    },
    further: [finding, finding],
    mend: () => {
      webhook.script.clear();
      takeBack();
    },
  });
}, 240_000);

/** Of which it takes a third by itself. */
const FILES = 120;

test.concurrent('a process of its own', async ({ onTestFinished }) => {
  const onFinished: OnFinished = onTestFinished;
  const { redisUrl } = await durableRedis(onFinished);
  const world = await startWorld({ onFinished, names: ['Vault'], kinds: ['email'], redisUrl });
  const { configText, environment, dataDir: directory } = world;
  const command = ['sh', '-c', `ulimit -n ${FILES}; exec "$@"`, 'sh'];
  const daemon = await createDaemonProcess({ directory, configText, environment, command });
  onFinished(daemon.kill);
  await daemon.start();
  const asked = askedAt(daemon.url);
  const play = await plays.of(world, () => asked);

  await play('its event loop is blocked', {
    fires: ['TocsinEventLoopBlocked'],
    break: () => daemon.trouble({ blockedMs: 700 }),
    mend: () => daemon.trouble({}),
  });

  await play('nearly all files are open', {
    fires: ['TocsinFilesExhausted'],
    break: async () => {
      const own = await asked.metric('process_open_fds');
      await daemon.trouble({ openFiles: Math.floor(0.9 * FILES - own) });
      await until('they are open', async () => (await asked.metric('process_open_fds')) > 0.85 * FILES);
    },
    mend: async () => {
      await daemon.trouble({});
      await until('they are closed', async () => (await asked.metric('process_open_fds')) < 0.7 * FILES);
    },
  });

  const again = async (): Promise<void> => {
    await daemon.kill();
    await daemon.start();
    await asked.watching();
  };
  await play('it ends again and again', {
    fires: ['TocsinRestarts'],
    minutes: 20,
    break: again,
    further: [again, again, again],
    mend: () => {},
  });
}, 240_000);

test('these are the rules that are said to be shown here', () => {
  expect(plays.fired()).toEqual(SHOWN.withLimits.toSorted());
});

test('Prometheus fires these rules, no others, and none before and afterwards', async ({ skip }) => {
  skip(lacksPromtool() !== undefined, lacksPromtool());
  for (const [name, { said }] of plays.shown) expect(`${name}: ${await said}`).toContain('SUCCESS');
}, 240_000);
