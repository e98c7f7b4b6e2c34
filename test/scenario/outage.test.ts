/** Dependencies that go away: the daemon waits, says so, and goes on where it was. */
import { type onTestFinished, test } from 'vitest';
import { ownRedis } from '../support/redis-server.ts';
import { until } from '../support/until.ts';
import { startWorld } from './world.ts';

const startRedis = async (onFinished: typeof onTestFinished) => {
  const redis = await ownRedis('--appendonly', 'yes');
  onFinished(() => redis.remove());
  return { redis, redisUrl: `redis://127.0.0.1:${redis.port}` };
};

test.concurrent('a service that is down at the start is waited for', async ({ onTestFinished: onFinished }) => {
  const world = await startWorld({ onFinished });
  await world.sandbox.service.stop();
  const daemon = await world.start();
  await until('the outage is said', () => daemon.log('failing').length > 0);
  world.critical('Vault', 2);
  await world.sandbox.service.start();
  await world.balanced();
});

test.concurrent('a service that goes away and comes back has lost nothing', async ({ onTestFinished: onFinished }) => {
  const world = await startWorld({ onFinished });
  const daemon = await world.start();
  world.critical('Vault', 2);
  await world.delivered();
  await world.sandbox.service.stop();
  await until('the outage is said', () => daemon.log('failing').length > 0);
  world.critical('Vault', 2);
  world.critical('Bridge', 2);
  await world.sandbox.service.start();
  await world.balanced();
  await until('the recovery is said', () => daemon.log('works again').length > 0);
});

test.concurrent('a listing that came in part is asked for again as soon as the service answers, long before its turn', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished, kinds: ['webhook'], config: { poll: { catalogEvery: '1h' } } });
  const { service } = world.sandbox;
  service.changeQuirks({ maxPageSize: 1, firstPage: 0 });
  // The first page comes, the others do not.
  service.addFault({ fault: { kind: 'status', status: 500 }, endpoint: 'listProtocols', after: 1, times: 3 });
  const daemon = await world.start();
  const state = async () => (await daemon.status()).services[0];
  await until('it can be read in part only', async () => (await state())?.state === 'partly');
  await until('it can be read', async () => (await state())?.state === 'answers');
  await world.balanced();
});

test.concurrent('Redis is killed and comes back: nothing is lost and the workers go on', async ({
  onTestFinished: onFinished,
}) => {
  const { redis, redisUrl } = await startRedis(onFinished);
  const world = await startWorld({ onFinished, redisUrl });
  const daemon = await world.start();
  world.critical('Vault', 5);
  await world.delivered();
  for (let times = 0; times < 2; times += 1) {
    await redis.kill('SIGKILL');
    world.critical('Vault', 5);
    world.critical('Bridge', 5);
    await until('the outage is said', () => daemon.log('Redis is in trouble').length > times);
    await redis.start();
    await world.balanced(30_000);
  }
});

test.concurrent('Redis is killed in the middle of a backlog', async ({ onTestFinished: onFinished }) => {
  const { redis, redisUrl } = await startRedis(onFinished);
  const world = await startWorld({ onFinished, redisUrl, names: ['Vault', 'Bridge'] });
  await world.start();
  for (const kind of ['slack', 'telegram', 'webhook'] as const) {
    world.sandbox.receivers[kind].script.always({ kind: 'slow', durationMs: 20 });
  }
  world.critical('Vault', 60);
  world.critical('Bridge', 60);
  await until('some have arrived', () => world.reconciler.count() >= 100);
  await redis.kill('SIGKILL');
  await redis.start();
  await world.delivered(40_000);
});

test.concurrent('a daemon stops although Redis is away', async ({ onTestFinished: onFinished }) => {
  const { redis, redisUrl } = await startRedis(onFinished);
  const world = await startWorld({ onFinished, redisUrl });
  const daemon = await world.start();
  world.critical('Vault');
  await world.delivered();
  await daemon.idle();
  await redis.kill('SIGKILL');
  await until('the outage is said', () => daemon.log('Redis is in trouble').length > 0);
  await daemon.stop();
  await redis.start();
  await world.start();
  await world.balanced();
});
