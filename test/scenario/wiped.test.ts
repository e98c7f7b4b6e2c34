/** A Redis that keeps nothing: what was queued is gone with it, so it is read again from where the state file says. */
import { expect, onTestFinished, test } from 'vitest';
import { ownRedis } from '../queue/redis-server.ts';
import { startWorld } from './world.ts';

const startForgetful = async () => {
  const redis = await ownRedis();
  onTestFinished(() => redis.remove());
  // From now: without the state file, what happened before the second start would be history.
  const world = await startWorld({
    redisUrl: `redis://127.0.0.1:${redis.port}`,
    config: { poll: { startFrom: 'now' } },
  });
  const forget = async () => {
    await redis.kill('SIGKILL');
    await redis.start();
  };
  return { world, forget };
};

test('Redis forgets everything while the daemon is down', async () => {
  const { world, forget } = await startForgetful();
  const first = await world.start();
  await first.watching();
  world.critical('Vault', 3);
  await world.delivered();
  await first.stop();
  world.critical('Vault', 3);
  world.critical('Bridge', 3);
  await forget();
  await world.start();
  await world.delivered();
  expect(world.books.balance().unexpected).toEqual([]);
});

test('Redis forgets everything under a running daemon', async () => {
  const { world, forget } = await startForgetful();
  const daemon = await world.start();
  await daemon.watching();
  world.critical('Vault', 3);
  await world.delivered();
  await daemon.idle();
  await forget();
  world.critical('Vault', 3);
  world.critical('Bridge', 3);
  await world.delivered(50_000);
  expect(world.books.balance().unexpected).toEqual([]);
}, 60_000);
