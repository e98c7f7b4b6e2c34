/** Every metric of a daemon, moved by what it is there for, and back where that is mended. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { createConfigSource } from '../../src/config/source.ts';
import { createMetrics } from '../../src/ops/metrics.ts';
import { openConsole } from '../cli/console.ts';
import { until } from '../support/until.ts';
import { merge, SANDBOX, type Tree } from './config.ts';
import { type RunningDaemon, startDaemon } from './daemons.ts';
import { addChannel, durableRedis, type OnFinished } from './rule-plays.ts';
import { startWorld, type World } from './world.ts';

/** A metric, with or without labels: `tocsin_polls_total{outcome="failed"}`. */
type Series = string;

interface Event {
  what: string;
  do(): unknown;
  /** Counters, and gauges that do not come back. */
  counts?: readonly Series[];
  rises?: readonly Series[];
  falls?: readonly Series[];
  /** Then those that rose fall, and the other way round. */
  mend?(): unknown;
}

/** Those that no event here moves, and why. */
const NOT_HERE: Readonly<Record<string, string>> = {
  tocsin_build_info: 'it is 1 while there is a daemon',
  tocsin_known_remarks: 'daemons count it in page.test.ts',
  tocsin_acknowledged_total: 'a daemon counts it in acknowledge.test.ts',
  tocsin_presses_refused_total: 'a daemon counts it in acknowledge.test.ts',
  tocsin_message_changes_total: 'a daemon counts it in grows.test.ts',
};

/** Not those that prom-client gives; of one that is measured otherwise here, the longest round stands for its statistics. */
const isOwn = (name: string): boolean => name.startsWith('tocsin_') || name === 'nodejs_eventloop_lag_max_seconds';

const moved = new Set<string>();

const nameOf = (series: Series): string => (series.split('{')[0] ?? '').replace(/_(?:count|bucket)$/, '');

const readOf = (daemon: RunningDaemon) => (series: Series) => {
  const [name = '', labels = ''] = series.split('{');
  const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', value = '']) => [label, value] as const);
  return daemon.metric(name, Object.fromEntries(pairs));
};

const PATIENCE_MS = 60_000;

/** These measure times, which are never the same twice: they are back when they are below what they rose to. */
const MEASURED = [
  ...['tocsin_cursor_lag_seconds', 'tocsin_protocol_cursor_lag_seconds', 'tocsin_protocol_poll_duration_seconds'],
  'nodejs_eventloop_lag_max_seconds',
];

const play = async (daemon: RunningDaemon, { what, do: cause, counts = [], rises = [], falls = [], mend }: Event) => {
  const read = readOf(daemon);
  const watched = [...counts, ...rises, ...falls];
  const before = new Map<Series, number>();
  for (const series of [...counts, ...rises]) before.set(series, await read(series));
  // The event before may have left one at zero for a moment.
  for (const series of falls) before.set(series, await until(`${what}: ${series} is not zero`, () => read(series)));
  await cause();
  const then = new Map<Series, number>();
  for (const series of watched) {
    const sign = falls.includes(series) ? -1 : 1;
    const from = before.get(series) ?? 0;
    await until(
      `${what}: ${series} moves from ${from}`,
      async () => {
        const value = await read(series);
        then.set(series, value);
        return sign * (value - from) > 0;
      },
      PATIENCE_MS,
    );
    moved.add(nameOf(series));
  }
  await mend?.();
  for (const series of [...rises, ...falls]) {
    const sign = falls.includes(series) ? -1 : 1;
    const [from = 0, worst = 0] = [before.get(series), then.get(series)];
    const isBack = (value: number): boolean =>
      MEASURED.includes(nameOf(series)) ? sign * (worst - value) > 0 : sign * (value - from) <= 0;
    await until(
      `${what}, mended: ${series} comes back from ${worst} to ${from}`,
      async () => isBack(await read(series)),
      PATIENCE_MS,
    );
  }
};

const open = async (onFinished: OnFinished) => {
  const { redis, redisUrl } = await durableRedis(onFinished);
  const world = await startWorld({
    onFinished,
    ...{ names: ['Vault', 'Bridge'], kinds: ['email', 'slack', 'webhook'], redisUrl },
    config: {
      alerts: { secondLook: ['1s'] },
      audit: { every: '1s' },
      poll: { lookback: '1s', overlap: '200ms', sweepEvery: '200ms' },
      destinations: { gate: true, allow: ['slack:C0SANDBOX*', 'webhook:http://127.0.0.1:*/*', 'email:*'] },
      fallback: { after: '1s', channels: [{ name: 'email', contacts: ['oncall@example.com'] }] },
      protocols: { overrides: { Bridge: { expectEvery: '4s' } } },
    },
  });
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
  // Redis is killed once.
  connection.on('error', () => {});
  onFinished(async () => connection.disconnect());
  const file = join(world.dataDir, 'tocsin.yaml');
  await writeFile(file, world.configText);
  const source = createConfigSource(file, world.environment);
  const limits = { dead: 1, held: { alerts: 1, destinations: 5 } };
  const daemon = await startDaemon(await source.read(), { source, limits });
  onFinished(daemon.stop);
  /** Replaces the config by one in which this is otherwise. */
  const write = async (changes: Tree): Promise<void> => {
    await writeFile(file, stringify(merge(parse(world.configText) as Tree, changes)));
    await daemon.reload('a test');
  };
  return { world, daemon, redis, connection, write, command: await openConsole(world), onFinished };
};

type Opened = Awaited<ReturnType<typeof open>>;

const KEEPS_ON_MS = 300;

const readingEvents = ({ world, connection, write, onFinished }: Opened): Event[] => {
  const { service } = world.sandbox;
  const inspections = { endpoint: 'listInspections', protocol: 'Vault', times: Infinity } as const;
  const inspect = () => setInterval(() => world.calm('Bridge'), KEEPS_ON_MS);
  let inspecting = inspect();
  onFinished(async () => clearInterval(inspecting));
  return [
    {
      what: 'a finding is read and delivered',
      do: () => world.critical('Vault'),
      counts: [
        ...['tocsin_polls_total{outcome="read"}', 'tocsin_poll_duration_seconds_count'],
        ...['tocsin_items_total{assessment="critical"}', 'tocsin_alerts_total{protocol="Vault"}'],
        ...['tocsin_deliveries_total{outcome="delivered"}', 'tocsin_delivery_duration_seconds_count'],
        ...['tocsin_alert_latency_seconds_count', 'tocsin_audits_total{outcome="balanced"}'],
        ...['tocsin_audited_to_timestamp_seconds', 'tocsin_second_looks_total'],
      ],
    },
    {
      what: 'a list is refused',
      do: () => service.addFault({ ...inspections, fault: { kind: 'status', status: 500 } }),
      counts: ['tocsin_polls_total{outcome="failed"}'],
      mend: service.clearFaults,
    },
    {
      what: 'the key is refused',
      do: () => service.addFault({ times: Infinity, fault: { kind: 'status', status: 401 } }),
      // Where the listing hears of it first, no poll is tried.
      counts: ['tocsin_audits_total{outcome="incomplete"}'],
      rises: [
        ...['tocsin_unread_protocols', 'tocsin_cursor_lag_seconds', 'tocsin_protocol_cursor_lag_seconds'],
        'tocsin_trouble{trouble="service"}',
      ],
      falls: ['tocsin_service_up'],
      mend: service.clearFaults,
    },
    {
      what: 'an answer is slow',
      do: () => service.addFault({ ...inspections, fault: { kind: 'slow', durationMs: 1500 } }),
      rises: ['tocsin_protocol_poll_duration_seconds{protocol="Vault"}'],
      mend: service.clearFaults,
    },
    {
      what: 'an item is no item',
      do: () => service.addFault({ ...inspections, fault: { kind: 'malformed-item' } }),
      counts: ['tocsin_items_malformed_total'],
      mend: service.clearFaults,
    },
    {
      what: "an item is another protocol's",
      do: () => {
        const [item] = world.critical('Bridge').map(({ _id, txHash }) => ({ _id, txHash }));
        const createdAt = new Date().toISOString();
        const foreign = { ...item, protocol: 'Bridge', assessment: 'ok', createdAt, updatedAt: createdAt };
        service.addFault({ ...inspections, fault: { kind: 'malformed-item', item: foreign } });
      },
      counts: ['tocsin_items_foreign_total'],
      mend: service.clearFaults,
    },
    {
      what: 'an answer is larger than is read',
      do: async () => {
        // It is asked for again in pages of half the size, until one item is too large.
        await write({ services: [{ ...SANDBOX, pageSize: 1 }] });
        service.addFault({ ...inspections, fault: { kind: 'huge', bytes: 80_000_000 } });
      },
      counts: ['tocsin_service_bounds_reached_total'],
      mend: () => {
        service.clearFaults();
        return write({});
      },
    },
    {
      what: 'nothing is inspected',
      do: () => clearInterval(inspecting),
      rises: ['tocsin_silent_protocols', 'tocsin_trouble{trouble="silent"}'],
      mend: () => {
        inspecting = inspect();
      },
    },
    {
      what: 'Redis has forgotten an alert',
      do: async () => {
        await connection.del(...(await connection.keys(`${world.prefix}:alert:*`)), `${world.prefix}:audited:sandbox`);
      },
      counts: ['tocsin_audit_differences_total', 'tocsin_audits_total{outcome="difference"}'],
    },
  ];
};

const deliveryEvents = ({ world, command }: Opened): Event[] => {
  const { slack, webhook } = world.sandbox.receivers;
  const enable = async (): Promise<void> => {
    webhook.script.clear();
    const known = await command.json<{ id: string; kind: string }[]>('destinations', 'list');
    for (const { id, kind } of known) if (kind === 'webhook') await command.run('destinations', 'enable', id);
    expect(await command.run('dead', 'retry', '--all')).toMatchObject({ code: 0 });
  };
  let takeBack = (): void => {};
  return [
    {
      what: 'the token is refused',
      do: () => {
        takeBack = slack.revokeToken();
        world.critical('Vault', 2);
      },
      counts: ['tocsin_deliveries_total{outcome="retrying"}', 'tocsin_delivery_failures_total'],
      rises: [
        ...['tocsin_broken_destinations{destination="sender-slack"}', 'tocsin_oldest_undelivered_seconds'],
        ...['tocsin_queue_jobs{queue="deliver-slack"}', 'tocsin_trouble{trouble="channel"}'],
      ],
      mend: () => takeBack(),
    },
    {
      what: 'a webhook is gone',
      do: () => {
        webhook.script.always({ kind: 'answer', status: 410 });
        world.critical('Vault', 3);
      },
      counts: [
        ...['tocsin_deliveries_total{outcome="dead"}', 'tocsin_dead_removed_total'],
        'tocsin_fallback_alerts_total{reason="dead"}',
      ],
      rises: ['tocsin_dead_deliveries', 'tocsin_trouble{trouble="destination"}'],
      mend: enable,
    },
    {
      what: 'a protocol is muted',
      do: async () => {
        expect(
          await command.run('mute', 'add', '--protocol', 'Vault', '--for', '1h', '--reason', 'a test'),
        ).toMatchObject({
          code: 0,
        });
        world.critical('Vault');
      },
      counts: ['tocsin_muted_total'],
      mend: async () => {
        const [mute] = await command.json<{ id: string }[]>('mute', 'list');
        expect(await command.run('mute', 'end', mute?.id ?? '')).toMatchObject({ code: 0 });
      },
    },
    {
      what: 'a destination is new',
      do: async () => {
        takeBack = addChannel(world, 'Vault', { name: 'slack', contacts: ['C0NEWONE01'] });
        await until('it is known', async () =>
          (await command.json<{ label: string }[]>('destinations', 'list')).some(({ label }) => label === 'C0NEWONE01'),
        );
        world.critical('Vault', 3);
      },
      counts: ['tocsin_destination_info', 'tocsin_held_refused_total'],
      rises: ['tocsin_held_alerts'],
      mend: async () => {
        takeBack();
        expect(await command.run('destinations', 'approve', 'C0NEWONE01')).toMatchObject({ code: 0 });
        expect(await command.run('dead', 'retry', '--all')).toMatchObject({ code: 0 });
      },
    },
    {
      what: 'a channel has nothing to send to',
      do: () => {
        takeBack = addChannel(world, 'Vault', { name: 'pager', contacts: ['1'] });
      },
      rises: ['tocsin_unroutable_entries'],
      mend: () => takeBack(),
    },
  ];
};

const daemonEvents = ({ world, redis, write }: Opened): Event[] => [
  {
    what: 'the config is wrong',
    do: () => write({ polls: {} }),
    falls: ['tocsin_config_last_reload_successful'],
    rises: ['tocsin_trouble{trouble="config"}'],
    mend: () => write({}),
  },
  {
    what: 'polls are rarer, by another config',
    do: () => write({ poll: { interval: '2s' } }),
    counts: ['tocsin_config_last_reload_success_timestamp_seconds'],
    rises: ['tocsin_poll_interval_seconds'],
    mend: () => write({}),
  },
  {
    what: 'a protocol is left out',
    do: () => write({ protocols: { exclude: ['Bridge'] } }),
    falls: ['tocsin_catalog_protocols'],
    mend: () => write({}),
  },
  {
    what: 'many findings come at once',
    do: () => world.critical('Vault', 12),
    counts: ['tocsin_digests_total{kind="slack"}', 'tocsin_digest_alerts_total{kind="slack"}'],
  },
  {
    what: 'more comes than a receiver may get',
    do: async () => {
      await write({ channels: { webhook: { rateLimit: { perSecond: 1, burst: 1 } } } });
      world.critical('Vault', 4);
    },
    counts: ['tocsin_send_slot_waits_total{kind="webhook"}', 'tocsin_send_slot_wait_seconds_total{kind="webhook"}'],
    mend: () => write({}),
  },
  {
    what: 'the event loop is blocked',
    do: () => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500);
    },
    rises: ['nodejs_eventloop_lag_max_seconds'],
  },
  {
    what: 'Redis is gone',
    do: () => redis.kill('SIGKILL'),
    rises: ['tocsin_trouble{trouble="redis"}'],
    falls: ['tocsin_redis_up'],
    mend: () => redis.start(),
  },
];

test('each metric moves with what it is there for, and comes back', async ({ onTestFinished }) => {
  const opened = await open(onTestFinished);
  await opened.daemon.watching();
  for (const event of [...readingEvents(opened), ...deliveryEvents(opened), ...daemonEvents(opened)]) {
    await play(opened.daemon, event);
  }
}, 400_000);

/** A metric shows two hundred series of protocols at most, and each protocol has two sources. */
const MANY = 205;
/** Five hundred destinations have series of their own. */
const MANY_CONTACTS = 505;

test('of very many protocols the metrics say how many they leave out', async ({ onTestFinished: onFinished }) => {
  const names = Array.from({ length: MANY }, (_, index) => `Protocol ${index}`);
  const contacts = Array.from({ length: MANY_CONTACTS }, (_, index) => `https://hooks.example.com/${index}`);
  const world: World = await startWorld({
    onFinished,
    names,
    kinds: ['webhook'],
    config: { poll: { interval: '2s' }, fallback: { channels: [{ name: 'webhook', contacts }] } },
  });
  const file = join(world.dataDir, 'tocsin.yaml');
  const without = world.configText.replaceAll(/^.*hooks\.example\.com\/[1-4].*\n/gm, '');
  const fewer = `${without}\nprotocols: { include: ["Protocol 11*"] }\n`;
  await writeFile(file, fewer);
  const source = createConfigSource(file, world.environment);
  const daemon = await startDaemon(await source.read(), { source });
  onFinished(daemon.stop);
  const write = async (text: string): Promise<void> => {
    await writeFile(file, text);
    await daemon.reload('a test');
  };
  await play(daemon, {
    what: 'there are more protocols than are shown',
    do: () => write(world.configText),
    rises: ['tocsin_protocol_series_left_out', 'tocsin_destination_series_left_out'],
    mend: () => write(fewer),
  });
}, 120_000);

test('there is no metric that no event above moves', () => {
  const { registry, loopDelay } = createMetrics({ version: '1' });
  loopDelay.stop();
  const declared = registry
    .getMetricsAsArray()
    .map(({ name }) => name)
    .filter(isOwn);
  expect(declared.length).toBeGreaterThan(40);
  expect(declared.filter((name) => !moved.has(name) && !(name in NOT_HERE))).toEqual([]);
  expect([...moved].filter((name) => !declared.includes(name))).toEqual([]);
});
