/** What an operator sees: health, metrics and the status page are right, in bad times as well. */
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { slackError } from '../../src/sandbox/receivers/slack/slack.ts';
import { ownRedis } from '../support/redis-server.ts';
import { until } from '../support/until.ts';
import type { RunningDaemon } from './daemons.ts';
import { PROTOCOLS, startWorld } from './world.ts';

interface Ready {
  status: string;
  checks: { name: string; status: string; detail?: string }[];
}

const readiness = async (daemon: RunningDaemon): Promise<Ready & { code: number }> => {
  const { status, text } = await daemon.ask('/readyz');
  return { code: status, ...(JSON.parse(text) as Ready) };
};

const checkOf = async (daemon: RunningDaemon, name: string) =>
  (await readiness(daemon)).checks.find((check) => check.name === name);

test.concurrent('not ready while the service was never reached, ready as soon as it was', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished });
  await world.sandbox.service.stop();
  const daemon = await world.start();
  await until('the outage is known', async () => (await checkOf(daemon, 'service:sandbox'))?.status === 'failing');
  expect(await readiness(daemon)).toMatchObject({ code: 503, status: 'not ready' });
  expect((await daemon.ask('/livez')).status).toBe(200);

  await world.sandbox.service.start();
  await until('it is ready', async () => (await readiness(daemon)).code === 200);
  const { checks } = await readiness(daemon);
  expect(checks.map(({ name, status }) => `${name} ${status}`).toSorted()).toEqual(
    ['channel:email', 'channel:slack', 'channel:telegram', 'channel:webhook', 'redis', 'service:sandbox'].map(
      (name) => `${name} ok`,
    ),
  );

  await world.sandbox.service.stop();
  await until('it is not ready', async () => (await readiness(daemon)).code === 503);
  await until('the page says so', async () => (await daemon.status()).services.some(({ up }) => !up));
  // A read that was answered before may end after the first failure.
  await until('the metric says so', async () => (await daemon.metric('tocsin_service_up')) === 0);
});

test.concurrent('not ready while Redis takes nothing or is away, with what it says', async ({
  onTestFinished: onFinished,
}) => {
  const redis = await ownRedis();
  onFinished(() => redis.remove());
  const redisUrl = `redis://127.0.0.1:${redis.port}`;
  const world = await startWorld({ onFinished, redisUrl, names: ['Vault'], kinds: ['webhook'] });
  const daemon = await world.start();
  const redisIs = (status: string) => async () => (await checkOf(daemon, 'redis'))?.status === status;
  await until('it is ready', async () => (await readiness(daemon)).code === 200);
  const client = new Redis(redisUrl);
  onFinished(() => client.disconnect());
  client.on('error', () => {});
  await client.config('SET', 'min-replicas-to-write', '1');
  await until('the refusal is known', redisIs('failing'));
  expect((await checkOf(daemon, 'redis'))?.detail).toContain('NOREPLICAS');
  await client.config('SET', 'min-replicas-to-write', '0');
  await until('Redis works again', redisIs('ok'));
  await redis.kill('SIGKILL');
  await until('Redis is away', redisIs('failing'));
  expect((await checkOf(daemon, 'redis'))?.detail).toBe('Redis does not answer');
  // A restart would not bring it back.
  expect((await daemon.ask('/livez')).status).toBe(200);
  await redis.start();
  await until('Redis is back', redisIs('ok'));
});

test.concurrent('a token that is refused shows before the first alert needs it', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished });
  world.sandbox.receivers.slack.callScript.always(slackError('invalid_auth'));
  const daemon = await world.start();
  await until('the refusal is known', async () => (await checkOf(daemon, 'channel:slack'))?.status === 'failing');
  expect(await readiness(daemon)).toMatchObject({ code: 503 });
  expect((await checkOf(daemon, 'channel:slack'))?.detail).toContain('invalid_auth');
});

test.concurrent('a provider that cannot be reached any more shows with the first message that needs it', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished, names: ['Vault'], kinds: ['telegram', 'slack'] });
  const daemon = await world.start();
  await until('it is ready', async () => (await readiness(daemon)).code === 200);
  await world.sandbox.receivers.telegram.stop();
  world.critical('Vault');
  await until('it is not ready', async () => (await checkOf(daemon, 'channel:telegram'))?.status === 'failing');
  expect(await readiness(daemon)).toMatchObject({ code: 503 });
  expect(await checkOf(daemon, 'channel:slack')).toMatchObject({ status: 'ok' });
});

test.concurrent('every metric has a standard prefix or ours, and the counts are those of the reconciler', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished });
  const daemon = await world.start();
  for (const protocol of PROTOCOLS) {
    world.calm(protocol, 4);
    world.critical(protocol, 2);
  }
  await world.delivered();
  await daemon.idle();
  const { status, text } = await daemon.ask('/metrics');
  expect(status).toBe(200);
  const names = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((line) => !/^(tocsin|process|nodejs)_/.test(line))).toEqual([]);
  expect(await daemon.metric('tocsin_alerts_total')).toBe(6);
  // The service is asked for the criticals only.
  expect(await daemon.metric('tocsin_items_total')).toBe(6);
  expect(await daemon.metric('tocsin_deliveries_total', { outcome: 'delivered' })).toBe(24);
  expect(await daemon.metric('tocsin_alert_latency_seconds_count')).toBe(24);
  expect(await daemon.metric('tocsin_redis_up')).toBe(1);
  expect(await daemon.metric('tocsin_catalog_protocols')).toBe(3);
});

test.concurrent('channels that lead nowhere are named once: in the log, in the status, on the page and in a metric', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished, kinds: ['email', 'telegram', 'webhook'] });
  const { service } = world.sandbox;
  service.replaceChannels({ protocol: 'Vault' }, [
    { name: 'slack', contacts: ['C024BE91L'] },
    { name: 'email', contacts: [] },
    { name: 'carrier-pigeon', contacts: ['coop 7'] },
    { name: 'telegram', contacts: ['-1004200000000'] },
  ]);
  service.replaceChannels({ protocol: 'Bridge' }, []);
  const daemon = await world.start();
  await daemon.watching();
  await until('it is said', () => daemon.log('a channel leads nowhere').length === 4);
  const { problems } = await daemon.status();
  expect(problems).toEqual([
    expect.stringMatching(/^Vault: .*slack/),
    expect.stringMatching(/^Vault: .*email.* nothing to send to/),
    expect.stringMatching(/^Vault: .*carrier-pigeon/),
    expect.stringMatching(/^Bridge: .*no channels/),
  ]);
  expect(await daemon.metric('tocsin_unroutable_entries')).toBe(4);
  const page = (await daemon.ask('/')).text;
  expect(page).toContain('carrier-pigeon');

  // An alert that reaches nobody is dead, kept and said; one that reaches somebody is delivered.
  world.critical('Bridge');
  world.critical('Vault');
  await until('the unroutable one is logged', () => daemon.log('alert is dead').length === 1);
  await until('the other one is sent', () => world.sandbox.receivers.telegram.received().length === 1);
  expect((await daemon.status()).dead).toBe(1);
  expect(daemon.log('a channel leads nowhere')).toHaveLength(4);
});

test.concurrent('the page and the probes answer while Redis is away', async ({ onTestFinished: onFinished }) => {
  const redis = await ownRedis('--appendonly', 'yes');
  onFinished(() => redis.remove());
  const world = await startWorld({ onFinished, redisUrl: `redis://127.0.0.1:${redis.port}` });
  const daemon = await world.start();
  await daemon.watching();
  await redis.kill('SIGKILL');
  await until('the outage is known', async () => (await daemon.metric('tocsin_redis_up')) === 0);
  expect((await daemon.ask('/livez')).status).toBe(200);
  expect((await daemon.ask('/')).status).toBe(503);
  expect((await daemon.ask('/nothing')).status).toBe(404);
  await redis.start();
  await until('the page is back', async () => (await daemon.ask('/')).status === 200);
});
