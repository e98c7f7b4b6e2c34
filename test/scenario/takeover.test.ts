/**
 * A daemon takes over what another one left in every state: deliveries to be retried, an open and a sealed batch, alerts
 * held for approval, a mute with hidden alerts, deadlines. Everything is delivered, and nothing twice.
 */
import { expect, test } from 'vitest';
import { createLedger } from '../../src/ledger/ledger.ts';
import { openConsole } from '../cli/console.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from './world.ts';

const CHANNELS: Record<string, readonly string[]> = {
  Vault: ['email', 'slack', 'webhook'],
  Lonely: ['telegram'],
  Muted: ['email', 'slack'],
  Gated: [],
};
const NEW_CHANNEL = 'C0NEWONE01';
const ONCALL = 'oncall@example.com';

const open = async (): Promise<World> => {
  const world = await startWorld({
    names: Object.keys(CHANNELS),
    config: {
      destinations: {
        gate: true,
        allow: ['email:*', 'telegram:*', 'webhook:http://127.0.0.1:*/**', 'slack:C0SANDBOX*'],
      },
      fallback: { after: '5s', channels: [{ name: 'email', contacts: [ONCALL] }] },
      poll: { startFrom: 'now' },
    },
  });
  const { service } = world.sandbox;
  for (const { name, apiKey, channels } of service.protocols()) {
    const own = channels.filter((channel) => CHANNELS[name]?.includes(channel.name));
    if (name === 'Gated') own.push({ name: 'slack', contacts: [NEW_CHANNEL] });
    service.replaceChannels({ protocol: name, apiKey }, own);
  }
  return world;
};

const SLACK_BUSY = { kind: 'answer', status: 429, headers: { 'retry-after': '1' }, body: {} } as const;
const TELEGRAM_BUSY = {
  kind: 'answer',
  status: 429,
  body: { ok: false, error_code: 429, description: 'Too Many Requests: retry after 1', parameters: { retry_after: 1 } },
} as const;

test('what a daemon left in every state is delivered by the next one, each alert once', async () => {
  const { redis } = openTestRedis();
  const world = await open();
  const { slack, telegram, webhook } = world.sandbox.receivers;
  const mend = [slack.script.always(SLACK_BUSY), webhook.script.always({ kind: 'answer', status: 503 })];
  const mendTelegram = telegram.script.always(TELEGRAM_BUSY);
  const first = await world.start();
  await first.watching();
  const console = await openConsole(world);
  const { id: mute } = await console.json<{ id: string }>(
    ...['mute', 'add', '--protocol', 'Muted', '--for', '2h', '--reason', 'upgrade'],
  );

  // The first waits to be tried again, the next for a sealed batch, the last for an open one.
  const left = world.critical('Vault', 2);
  await until('Slack is busy', () => slack.attempts().length > 0);
  left.push(...world.critical('Vault', 2));
  await until('a batch was refused, too', () => slack.attempts().length > 2);
  left.push(...world.critical('Vault', 2));
  const lonely = world.critical('Lonely', 2);
  const muted = world.critical('Muted', 2);
  const gated = world.critical('Gated', 2);
  world.reconciler.excuse('email alerts+muted@example.com ', 'slack C0SANDBOX03 ');
  const ledger = createLedger(redis, world.prefix, Date.now);
  const waiting = async () => {
    const counts: Record<string, number> = {};
    for (const [id, count] of Object.entries(await ledger.waitingByDestination())) {
      const kind = id.split('-')[0] ?? '';
      counts[kind] = (counts[kind] ?? 0) + count;
    }
    return counts;
  };
  const isLeft = async (): Promise<boolean> => {
    const { slack, telegram, webhook } = await waiting();
    const [{ hid = 0 } = {}] = await console.json<{ hid: number }[]>('mute', 'list');
    return slack === left.length + gated.length && telegram === 2 && webhook === left.length && hid === muted.length;
  };
  await until('everything is left in its state', isLeft);
  await first.stop();
  expect([...slack.received(), ...telegram.received(), ...webhook.received()]).toEqual([]);

  for (const end of mend) end();
  const second = await world.start();
  const arrivals = (kind: string, destination: string, items: readonly { txHash: string }[]) =>
    items.map(
      ({ txHash }) => world.reconciler.arrivalsOf(txHash).filter((to) => to === `${kind} ${destination}`).length,
    );
  const once = (items: readonly unknown[]): number[] => items.map(() => 1);
  const atOncall = [...lonely, ...gated];
  await until('the fallback has what its deadline missed, and what is held', () =>
    arrivals('email', ONCALL, atOncall).every((count) => count > 0),
  );
  mendTelegram();
  const [{ id: destination = '' } = {}] = (
    await console.json<{ id: string; label: string }[]>('destinations', 'list')
  ).filter(({ label }) => label === NEW_CHANNEL);
  expect(arrivals('slack', NEW_CHANNEL, gated)).toEqual([0, 0]);
  expect((await console.run('destinations', 'approve', destination)).out).toContain(
    '2 alerts that were held for it are queued',
  );
  expect(await console.json('mute', 'list')).toMatchObject([{ id: mute, hid: muted.length, isActive: true }]);
  expect((await console.run('mute', 'end', mute)).code).toBe(0);
  const reports = () =>
    world.sandbox.received().filter(({ text }) => muted.every(({ txHash }) => text.includes(txHash)));
  await until('what was hidden is reported', () => reports().length >= 2);
  await world.delivered();
  const fresh = world.critical('Vault');
  await world.delivered();
  await second.idle();

  expect(world.reconciler.balance().doubled).toEqual([]);
  expect(
    reports()
      .map(({ kind }) => kind)
      .toSorted(),
  ).toEqual(['email', 'slack']);
  expect(arrivals('slack', NEW_CHANNEL, gated)).toEqual(once(gated));
  expect(arrivals('email', ONCALL, atOncall)).toEqual(once(atOncall));
  expect(arrivals('slack', 'C0SANDBOX01', [...left, ...fresh])).toEqual(once([...left, ...fresh]));
  expect(await waiting()).toEqual({});
}, 150_000);
