/** Commands call destinations by the names that people know. */
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { createNameStore } from '../../src/features/names/names.ts';
import { destinationsAt, routeSettings } from '../../src/features/routes/routes.ts';
import { startWorld } from '../scenario/world.ts';
import { openConsole } from './console.ts';

test('a test, a backtest and a rehearsed replay show a channel with its name', async () => {
  const world = await startWorld({ names: ['Vault'], kinds: ['webhook'] });
  const { webhook } = world.addresses;
  const [destination] = destinationsAt('webhook', webhook.url, routeSettings(world.config));
  if (destination === undefined) throw new Error('it leads somewhere');
  world.critical('Vault');
  const console = await openConsole(world);
  const { destinations } = await console.json<{ destinations: { id: string }[] }>('backtest', '--since', '1h');
  const redis = new Redis(world.redisUrl);
  const names = createNameStore(redis, world.prefix, Date.now);
  await names.note(destination.id, '#alerts');
  for (const { id } of destinations) await names.note(id, '#vault');
  redis.disconnect();
  expect((await console.run('backtest', '--since', '1h')).out).toContain('#vault (');
  const named = `#alerts (${destination.label})`;
  const tested = await console.run('test', '--channel', 'webhook', '--to', webhook.url);
  expect(tested.out).toContain(`webhook ${named}: delivered`);
  const [printed] = await console.json<{ to: string }[]>('test', '--channel', 'webhook', '--to', webhook.url);
  expect(printed).toMatchObject({ to: `webhook ${destination.label}` });
  expect(printed).not.toHaveProperty('shown');
  const to = `webhook:${webhook.url}`;
  expect((await console.run('replay', '--since', '1h', '--to', to, '--dry-run')).out).toContain(named);
});

test('a rehearsal needs no Redis for that', async () => {
  const world = await startWorld({ names: ['Vault'], kinds: ['webhook'], redisUrl: 'redis://127.0.0.1:1' });
  world.critical('Vault');
  const console = await openConsole(world);
  const { code, out } = await console.run('replay', '--since', '1h', '--dry-run');
  expect(code).toBe(0);
  expect(out).toContain('A dry run: nothing was sent.');
});
