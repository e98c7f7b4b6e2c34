/** Each trouble of Tocsin itself is really made, told once over a channel that works, and its end once when it is mended. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { type ConditionName, TROUBLES } from '../../src/condition.ts';
import { createConfigSource } from '../../src/config/source.ts';
import { parcelJob } from '../../src/queue/job.ts';
import { JOB_OPTIONS } from '../../src/queue/settings.ts';
import { openConsole } from '../cli/console.ts';
import { whyNoSmallDisk } from '../fault/small-disk.ts';
import { destinationOf } from '../support/alerts.ts';
import { startHttpReceiver } from '../support/http-receiver.ts';
import { makeAlert } from '../support/numbered.ts';
import { until } from '../support/until.ts';
import { startDaemon } from './daemons.ts';
import { openDataDir } from './data-dir.ts';
import { durableRedis, type OnFinished } from './rule-plays.ts';
import { type Breakage, OPS, playTroubles } from './trouble-plays.ts';
import { startWorld } from './world.ts';

/** Those that the watchdog itself does not announce, or that need a test of their own, and where they are shown. */
const SHOWN_ELSEWHERE: Partial<Record<ConditionName, string>> = {
  daemon: 'no daemon is left to announce it: the switch is not called, below',
  redis: 'nothing can be announced without it: the switch hears of it, below',
  service: 'test/scenario/announced-once.test.ts',
  unread: 'test/scenario/blindness.test.ts',
  channel: 'test/scenario/announced-once.test.ts',
  silent: 'test/scenario/silence.test.ts',
  misfits: 'test/scenario/unheard.test.ts',
  listing: 'test/scenario/tripwire-attacks.test.ts',
  destination: 'test/scenario/fallback.test.ts',
  member: 'test/scenario/announced-once.test.ts',
  'config-differs': 'test/scenario/two-configs.test.ts',
  'cut-off':
    'found by two daemons in test/scenario/shares.test.ts; announced in features/conditions/every-condition.test.ts',
};

const open = async (onFinished: OnFinished) => {
  const { redisUrl } = await durableRedis(onFinished);
  const isSwitchWell = { is: true };
  const switched = await startHttpReceiver(() => ({ status: isSwitchWell.is ? 200 : 503 }));
  const world = await startWorld({
    onFinished,
    ...{ names: ['Vault'], kinds: ['email', 'slack', 'webhook'], redisUrl },
    config: {
      channels: { slack: { timeout: '5s' } },
      // As much as an audit needs to find what Redis has forgotten, and as long as a round of the watchdog.
      ...{ audit: { every: '4s' }, poll: { lookback: '1s', overlap: '200ms', sweepEvery: '200ms' } },
      watchdog: {
        ...{ after: '1s', channels: [{ name: 'email', contacts: [OPS] }] },
        ...{ heartbeatUrl: `${switched.origin}/ping`, heartbeatEvery: '1s' },
      },
    },
  });
  onFinished(() => switched.close());
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const queue = new Queue('deliver-slack', {
    ...{ connection, prefix: world.prefix, defaultJobOptions: JOB_OPTIONS },
  });
  onFinished(async () => {
    await queue.close();
    connection.disconnect();
  });
  const { dataDir, ...disk } = await openDataDir(onFinished);
  const file = join(world.dataDir, 'tocsin.yaml');
  await writeFile(file, world.configText);
  const source = createConfigSource(file, { ...world.environment, TOCSIN_DATA_DIR: dataDir });
  const clock = { aheadMs: 0 };
  const gate = { isOpen: Promise.resolve(), open: () => {} };
  const read = async () => {
    await gate.isOpen;
    return source.read();
  };
  const daemon = await startDaemon(await source.read(), {
    source: { ...source, read },
    now: () => Date.now() + clock.aheadMs,
    limits: {
      ...{ lastingMs: 1000, detectEveryMs: 200, canaryLateMs: 2000, newerJobsGoneMs: 8000, delayEveryMs: 3000 },
      ...{ configLookMs: 200, configTakenMs: 1000 },
    },
  });
  onFinished(daemon.stop);
  const write = async (text: string): Promise<void> => {
    await writeFile(file, text);
    await daemon.reload('a test');
  };
  const command = await openConsole(world);
  return { world, daemon, redis: connection, queue, disk, clock, isSwitchWell, file, gate, write, command };
};

type Opened = Awaited<ReturnType<typeof open>>;

const deadLetters = ({ world, daemon, command }: Opened): Breakage => {
  const { script } = world.sandbox.receivers.webhook;
  return {
    name: 'dead',
    what: 'what a webhook did not take is left when it works again',
    says: /One delivery is dead and kept/,
    break: async () => {
      script.next({ kind: 'answer', status: 410 });
      world.critical('Vault');
      const { id } = await until('it is dead', async () =>
        (await daemon.status()).destinations.find(({ dead }) => dead > 0),
      );
      await command.run('destinations', 'enable', id);
      world.critical('Vault');
    },
    mend: async () => {
      expect(await command.run('dead', 'retry', '--all')).toMatchObject({ code: 0 });
    },
  };
};

const settingsOfRedis = ({ redis }: Opened): Breakage[] => [
  {
    name: 'durability',
    what: 'Redis writes nothing to disk',
    says: /Appendonly is off/,
    break: () => redis.config('SET', 'appendonly', 'no'),
    mend: () => redis.config('SET', 'appendonly', 'yes'),
  },
  {
    name: 'durability',
    what: 'Redis deletes keys when it is full',
    says: /Maxmemory-policy is allkeys-lru/,
    break: () => redis.config('SET', 'maxmemory-policy', 'allkeys-lru'),
    mend: () => redis.config('SET', 'maxmemory-policy', 'noeviction'),
  },
];

const SKEW_MS = 45_000;

const clocks = ({ world: { sandbox }, clock }: Opened): Breakage[] => [
  {
    name: 'clock',
    what: "the service's clock differs",
    says: /the clock of the service sandbox is 4\d s ahead of ours/,
    break: () => sandbox.service.changeQuirks({ clockSkewMs: SKEW_MS }),
    mend: () => sandbox.service.resetQuirks(),
  },
  {
    name: 'clock',
    what: 'ours and that of the service differ from that of Redis',
    says: /the clock of Redis is 4\d s behind ours/,
    break: () => {
      clock.aheadMs = SKEW_MS;
      sandbox.service.changeQuirks({ clockSkewMs: SKEW_MS });
    },
    mend: () => {
      clock.aheadMs = 0;
      sandbox.service.resetQuirks();
    },
  },
];

const queues = ({ queue }: Opened): Breakage[] => {
  const parcel = parcelJob({ destination: destinationOf('slack', 'C0SANDBOX01'), alerts: [makeAlert(1)] });
  return [
    {
      name: 'queue',
      what: 'a queue lets nothing through',
      says: /No job comes through the queue of slack/,
      break: () => queue.pause(),
      mend: () => queue.resume(),
    },
    {
      name: 'jobs',
      what: 'a newer version was here',
      says: /Jobs of version 9 wait in deliver-slack/,
      break: () => queue.add('parcel', { ...parcel, v: 9 }, { jobId: 'newer' }),
      mend: async () => (await queue.getJob('newer'))?.updateData({ ...parcel, alerts: [] }),
    },
  ];
};

const audit = ({ world, redis }: Opened): Breakage => ({
  name: 'audit',
  what: 'Redis has forgotten an alert',
  says: /The audit of sandbox found \w+ deliver(y|ies) that nobody had accounted for/,
  break: async () => {
    await redis.del(...(await redis.keys(`${world.prefix}:alert:*`)), `${world.prefix}:audited:sandbox`);
  },
  // What was found is queued again by the audit itself.
  mend: () => {},
});

/** The old config runs on while the new one cannot be read to its end, as from a file system that hangs. */
const configThatHangs = ({ world, file, gate }: Opened): Breakage => ({
  name: 'config',
  what: 'a changed config does not come into force',
  says: /tocsin\.yaml differs from the config that runs/,
  break: async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    Object.assign(gate, { isOpen: promise, open: resolve });
    await writeFile(file, `${world.configText}\n# changed\n`);
  },
  mend: async () => {
    await writeFile(file, world.configText);
    gate.open();
  },
});

const ofTheDaemon = ({ world, write, isSwitchWell, disk }: Opened): Breakage[] => {
  let blocking: NodeJS.Timeout | undefined;
  const block = (): void => {
    const end = performance.now() + 700;
    while (performance.now() < end);
  };
  return [
    {
      name: 'config',
      what: 'the config is wrong',
      says: /the new config was refused, and the old one runs on: .*sweepEvry/,
      break: () => write(world.configText.replace('sweepEvery', 'sweepEvry')),
      mend: () => write(world.configText),
    },
    {
      name: 'heartbeat',
      what: 'the switch answers 503',
      says: /the heartbeat cannot be sent: it answered 503/,
      break: () => Object.assign(isSwitchWell, { is: false }),
      mend: () => Object.assign(isSwitchWell, { is: true }),
    },
    {
      name: 'loop',
      what: 'the event loop is blocked',
      says: /the daemon stands still for \d+ ms at a time/,
      mayComeByItself: true,
      break: () => {
        blocking = setInterval(block, 1200);
      },
      mend: () => clearInterval(blocking),
    },
    {
      name: 'disk',
      what: 'the disk is nearly full',
      says: /the disk of the data folder of Tocsin \(.*\) is nearly full: \d+ MB of \d+ MB are free/,
      break: disk.fill,
      mend: disk.empty,
    },
  ];
};

/** Those of one list happen together; they do not hinder each other. */
const listsOf = (opened: Opened): Breakage[][] => {
  const [clockOfService, clockOfRedis] = clocks(opened);
  const [config, heartbeat, loop, disk] = ofTheDaemon(opened);
  const isThere = (one: Breakage | undefined): one is Breakage => one !== undefined;
  return [
    [deadLetters(opened), ...settingsOfRedis(opened), config, heartbeat, disk].filter(isThere),
    // While a queue stands, the switch is not called. An alert of a service whose clock is ahead would be found by a later
    // audit, so that clock is not with the dead letters.
    [...queues(opened), audit(opened), configThatHangs(opened), clockOfService].filter(isThere),
    [clockOfRedis, loop].filter(isThere),
  ];
};

test.concurrent('every trouble is told once to the operators, and its end once', async ({
  onTestFinished,
  annotate,
}) => {
  const opened = await open(onTestFinished);
  const { world, daemon } = opened;
  await daemon.watching();
  world.critical('Vault');
  await world.delivered();
  const noDisk = whyNoSmallDisk();
  if (noDisk !== undefined) await annotate(`the disk is left out: ${noDisk}`);
  const lists = listsOf(opened).map((list) => list.filter(({ name }) => name !== 'disk' || noDisk === undefined));

  await playTroubles(world, daemon, lists);
  const names: string[] = listsOf(opened).flatMap((list) => list.map(({ name }) => name));
  expect(TROUBLES.filter((name) => ![...names, ...IN_MESSAGES].includes(name) && !(name in SHOWN_ELSEWHERE))).toEqual(
    [],
  );
}, 300_000);

/** What can be wrong with messages. */
const IN_MESSAGES: readonly string[] = ['buttons', 'template'] satisfies ConditionName[];

const PING = '/ping/5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278';

const openMessages = async (onFinished: OnFinished) => {
  const { redis, redisUrl } = await durableRedis(onFinished);
  const pinged = await startHttpReceiver();
  const world = await startWorld({
    onFinished,
    ...{ names: ['Vault'], kinds: ['email', 'slack', 'telegram', 'webhook'], redisUrl },
    config: {
      alerts: { acknowledge: true },
      channels: { slack: { appToken: 'xapp-sandbox' }, telegram: { timeout: '6s' } },
      watchdog: {
        ...{ after: '1s', channels: [{ name: 'email', contacts: [OPS] }] },
        ...{ heartbeatUrl: `${pinged.origin}${PING}`, heartbeatEvery: '1s' },
      },
    },
  });
  onFinished(() => pinged.close());
  const file = join(world.dataDir, 'tocsin.yaml');
  await writeFile(file, world.configText);
  const source = createConfigSource(file, world.environment);
  const daemon = await startDaemon(await source.read(), { source, limits: { lastingMs: 1000 } });
  onFinished(daemon.stop);
  const write = async (text: string): Promise<void> => {
    await writeFile(file, text);
    await daemon.reload('a test');
  };
  const calls = (call: string) => pinged.arrived.filter(({ method, path }) => `${method} ${path}` === call);
  return { world, daemon, redis, write, calls };
};

const ofMessages = ({ world, write }: Awaited<ReturnType<typeof openMessages>>): Breakage[][] => {
  let takeBack = (): void => {};
  const template = stringify({ templates: [{ kinds: ['slack'], text: '{{ nobody }}' }] });
  return [
    [
      {
        name: 'buttons',
        what: 'somebody else has the presses of the bot',
        says: /Presses of buttons on telegram do not arrive: a webhook is set on the bot/,
        break: () => {
          takeBack = world.sandbox.receivers.telegram.updates.setWebhook();
        },
        mend: () => takeBack(),
      },
    ],
    [
      {
        name: 'template',
        what: 'a template names what there is not',
        says: /templates\.0 of the config fails.*: undefined variable: nobody/i,
        break: async () => {
          await write(`${world.configText}\n${template}`);
          world.critical('Vault');
        },
        mend: () => write(world.configText),
      },
    ],
  ];
};

test.concurrent('buttons and templates that fail are told once; the switch hears that Redis is away, and nothing of a daemon that is gone', async ({
  onTestFinished,
}) => {
  const opened = await openMessages(onTestFinished);
  const { world, daemon, redis, calls } = opened;
  await daemon.watching();
  const [well, failed] = [`GET ${PING}`, `POST ${PING}/fail`];
  await until('the switch is called', () => calls(well).length > 0);
  await playTroubles(world, daemon, ofMessages(opened));
  await world.delivered();

  await redis.kill('SIGKILL');
  await until('the switch hears of it', () => calls(failed).some(({ body }) => body === 'Redis does not answer'));
  expect(await daemon.metric('tocsin_trouble', { trouble: 'redis' })).toBe(1);
  await redis.start();
  const before = calls(well).length;
  await until('the switch is called again', () => calls(well).length > before);
  await until('the metric says so', async () => (await daemon.metric('tocsin_trouble', { trouble: 'redis' })) === 0);

  await daemon.stop();
  const all = (): number => calls(well).length + calls(failed).length;
  const last = all();
  const atFirstRead = Promise.withResolvers<number>();
  world.sandbox.service.onAnswered(({ endpoint }) => {
    if (endpoint === 'listInspections') atFirstRead.resolve(all());
  });
  await world.start();
  // A daemon that starts has proven nothing yet.
  expect(await atFirstRead.promise).toBe(last);
  await until('it is called again', () => all() > last);
}, 180_000);
