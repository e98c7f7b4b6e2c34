/** A daemon whose Redis user may do exactly what docs/redis-keys.md says: it lacks nothing. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { runCommand } from '../cli/in-process.ts';
import { ownRedis } from '../support/redis-server.ts';
import { documentedUser, refusals } from '../support/redis-user.ts';
import { until } from '../support/until.ts';
import { startWorld } from './world.ts';

test('the documented user suffices for a daemon in good and bad times, and for the commands beside it', async () => {
  const server = await ownRedis('--appendonly', 'yes');
  onTestFinished(() => server.remove());
  const redis = new Redis(server.port);
  onTestFinished(() => redis.disconnect());
  const world = await startWorld({
    redisUrl: `redis://tocsin:secret@127.0.0.1:${server.port}`,
    config: {
      audit: { every: '200ms' },
      channels: { telegram: { rateLimit: { perSecond: 5, burst: 1 } } },
      fallback: { after: '200ms', channels: [{ name: 'email', contacts: ['oncall@example.com'] }] },
    },
  });
  await redis.call('ACL', 'SETUSER', ...documentedUser(world.prefix, 'secret'));
  const daemons = [await world.start(), await world.start()];

  const repair = world.sandbox.receivers.slack.script.always({ kind: 'answer', status: 503 });
  world.critical('Vault', 40);
  world.calm('Bridge', 4);
  world.notification('Bridge', 'The weekly report is ready.');
  await until('something waits for a retry', async () =>
    (await daemons[0]?.status())?.queues.some((one) => one.delayed),
  );
  const file = join(world.dataDir, 'tocsin.yaml');
  await writeFile(file, world.configText);
  const command = (...args: string[]) => runCommand(args, { ...world.environment, TOCSIN_CONFIG: file });
  const muted = await command('mute', 'add', '--protocol', 'Bridge', '--for', '1m', '--reason', 'work');
  expect(muted).toMatchObject({ code: 0, stderr: '' });
  world.critical('Bridge', 3);
  await daemons[1]?.stop();
  repair();
  await until('Vault has arrived', () => world.reconciler.balance().missing.every((line) => !line.includes('vault')));
  const tested = await command('test', '--protocol', 'Vault');
  expect(tested).toMatchObject({ code: 0, stderr: '' });
  expect((await command('audit')).stderr).toBe('');
  expect((await command('check', '--online')).stdout).toMatch(/^ok {4}redis/m);
  expect(await refusals(redis)).toEqual([]);
});
