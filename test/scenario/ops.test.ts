/** What an operator sees: health, metrics and the status page are right, in bad times as well. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { JOB_OPTIONS } from '../../src/queue/settings.ts';
import { slackError } from '../../src/sandbox/receivers/slack/slack.ts';
import { startProgram } from '../support/program.ts';
import { startProxy } from '../support/proxy.ts';
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

test.concurrent('a token that is refused shows before the first alert needs it, and its repair within seconds', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished });
  const repair = world.sandbox.receivers.slack.callScript.always(slackError('invalid_auth'));
  const daemon = await world.start();
  await until('the refusal is known', async () => (await checkOf(daemon, 'channel:slack'))?.status === 'failing');
  expect(await readiness(daemon)).toMatchObject({ code: 503 });
  expect((await checkOf(daemon, 'channel:slack'))?.detail).toContain('invalid_auth');
  repair();
  await until('it is ready', async () => (await readiness(daemon)).code === 200);
});

test.concurrent('providers and a proxy that cannot be reached any more show with the first message that needs them', async ({
  onTestFinished: onFinished,
}) => {
  const proxy = await startProxy();
  onFinished(proxy.close);
  const world = await startWorld({
    onFinished,
    names: ['Vault'],
    config: { channels: { webhook: { proxy: proxy.origin } } },
  });
  const { telegram, smtp } = world.sandbox.receivers;
  const daemon = await world.start();
  await until('it is ready', async () => (await readiness(daemon)).code === 200);
  const broken = ['channel:email', 'channel:telegram', 'channel:webhook'];
  const are = (status: string) => async () => {
    const { checks } = await readiness(daemon);
    return broken.every((wanted) => checks.some((one) => one.name === wanted && one.status === status));
  };
  await Promise.all([telegram.stop(), smtp.stop(), proxy.close()]);
  world.critical('Vault');
  await until('they are known to be away', are('failing'));
  expect(await readiness(daemon)).toMatchObject({ code: 503 });
  expect(await checkOf(daemon, 'channel:slack')).toMatchObject({ status: 'ok' });
  await Promise.all([telegram.start(), smtp.start()]);
  const again = await startProxy(undefined, Number(new URL(proxy.origin).port));
  onFinished(again.close);
  await until('it is ready again', async () => (await readiness(daemon)).code === 200);
  expect(await are('ok')()).toBe(true);
});

test.concurrent('a loop that stands still ends the daemon with 75, and the log says which', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished, names: ['Vault'], kinds: ['slack'] });
  const file = join(world.dataDir, 'tocsin.yaml');
  await writeFile(file, world.configText, { mode: 0o600 });
  const main = fileURLToPath(new URL('../support/impatient.ts', import.meta.url));
  // Every loop stands still for longer than that.
  const environment = { ...world.environment, LOOP_BOUND_MS: '1', LOOP_END_MS: '1' };
  const daemon = startProgram(['run', '--config', file], environment, onFinished, main);
  expect(await daemon.ended).toBe(75);
  const [said] = daemon.log('the daemon cannot go on');
  expect(said?.reason).toMatch(/^the loop '[a-z:]+' has not run for \d+ s$/);
});

test.concurrent('a queue that somebody has paused is a trouble until it goes on, and restarts nobody', async ({
  onTestFinished: onFinished,
}) => {
  const config = { channels: { slack: { timeout: '500ms' } } };
  const world = await startWorld({ onFinished, names: ['Vault'], kinds: ['slack'], config });
  const daemon = await world.start({ limits: { canaryLateMs: 1000, lastingMs: 1000, maintenanceEveryMs: 300 } });
  const redis = new Redis(world.redisUrl, { maxRetriesPerRequest: null });
  const queue = new Queue('deliver-slack', { connection: redis, prefix: world.prefix, defaultJobOptions: JOB_OPTIONS });
  onFinished(async () => {
    await queue.close();
    redis.disconnect();
  });
  const isTold = async () => (await daemon.status()).troubles.some(({ name }) => name === 'queue');
  await queue.pause();
  await until('it is a trouble', isTold);
  expect((await daemon.ask('/livez')).status).toBe(200);
  await queue.resume();
  await until('it is no trouble any more', async () => !(await isTold()));
  world.critical('Vault');
  await world.delivered();
  expect(daemon.logText()).not.toContain('it is restarted');
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
    expect.stringMatching(/^“Vault”: .*slack/),
    expect.stringMatching(/^“Vault”: .*email.* nothing to send to/),
    expect.stringMatching(/^“Vault”: .*carrier-pigeon/),
    expect.stringMatching(/^“Bridge”: .*no channels/),
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

test.concurrent('a Redis that stands still is known to metrics, and so is its return', async ({
  onTestFinished: onFinished,
}) => {
  const redis = await ownRedis('--appendonly', 'yes');
  onFinished(() => redis.remove());
  const world = await startWorld({ onFinished, redisUrl: `redis://127.0.0.1:${redis.port}` });
  const daemon = await world.start();
  await daemon.watching();
  const lag = () => daemon.metric('tocsin_cursor_lag_seconds');
  await until('the lag is known', async () => (await lag()) !== undefined);
  redis.freeze();
  onFinished(() => redis.thaw());
  // This one finds it silent in the middle of its questions.
  await daemon.ask('/metrics');
  await until('it shows', async () => (await daemon.metric('tocsin_redis_up')) === 0);
  expect(await daemon.metric('tocsin_trouble{trouble="redis"}')).toBeDefined();
  const before = (await lag()) ?? 0;
  await until('the lag grows', async () => ((await lag()) ?? 0) > before);
  redis.thaw();
  await until('it is up again', async () => (await daemon.metric('tocsin_redis_up')) === 1);
});
