/**
 * A daemon takes over what an older commit left: deliveries to be retried, an open and a sealed batch, alerts held for
 * approval, a mute with hidden alerts, deadlines. Everything is delivered, and nothing twice.
 */
import { expect, test } from 'vitest';
import { createDeadLetters } from '../../src/ledger/dead-letters.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { openConsole } from '../cli/console.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { deliveriesOf, type LeftDelivery, loadFixture, readFixture } from './upgrade.ts';
import { startWorld, type World } from './world.ts';

/** Where the receivers see the fixture's destinations. */
const RECEIVER: Record<string, string> = {
  'email-166e9ac95305': 'email alerts+vault@example.com',
  'email-0935d4a4e0b1': 'email alerts+bridge@example.com',
  'email-04f638c59bde': 'email oncall@example.com',
  'slack-2cda5664a369': 'slack C0SANDBOX01',
  'slack-b598a554c407': 'slack C0NEWONE01',
  'telegram-cc8780eb0db7': 'telegram -1004200000002/7',
  'webhook-57b89f20f1c1': 'webhook /hooks/vault',
  'webhook-9289d18422f4': 'webhook /hooks/bridge',
};
const GATED = 'slack-b598a554c407';
const LONELY = 'telegram-cc8780eb0db7';
const ONCALL = 'email-04f638c59bde';
const MUTE = 'mute-fd6fde5a';

const lineOf = ({ destination, txHash }: Pick<LeftDelivery, 'destination' | 'txHash'>): string =>
  `${RECEIVER[destination] ?? destination} ${txHash}`;

/** How often each transaction came to each receiver, as `KIND DESTINATION TRANSACTION`. */
const arrivalsIn = ({ sandbox }: World, transactions: ReadonlySet<string>): Map<string, number> => {
  const arrivals = new Map<string, number>();
  for (const { kind, destination, text, partOf } of sandbox.received()) {
    if (partOf !== undefined) continue;
    for (const txHash of transactions) {
      const line = `${kind} ${destination} ${txHash}`;
      if (text.includes(txHash)) arrivals.set(line, (arrivals.get(line) ?? 0) + 1);
    }
  }
  return arrivals;
};

const CHANNELS: Record<string, readonly string[]> = {
  Vault: ['email', 'slack', 'webhook'],
  Bridge: ['email', 'webhook'],
  Lonely: ['telegram'],
  Gated: [],
};

/** The protocols have the channels that they had then. */
const startAsThen = async () => {
  const world = await startWorld({
    names: Object.keys(CHANNELS),
    // Another than the fixture's, or new items would have its ids.
    seed: 2,
    config: {
      destinations: {
        gate: true,
        allow: ['email:*', 'telegram:*', 'webhook:http://127.0.0.1:*/**', 'slack:C0SANDBOX*'],
      },
      fallback: { after: '5m', channels: [{ name: 'email', contacts: ['oncall@example.com'] }] },
      poll: { startFrom: 'now' },
    },
  });
  const { service } = world.sandbox;
  for (const { name, apiKey, channels } of service.protocols()) {
    const own = channels.filter((channel) => CHANNELS[name]?.includes(channel.name));
    if (name === 'Gated') own.push({ name: 'slack', contacts: ['C0NEWONE01'] });
    service.replaceChannels({ protocol: name, apiKey }, own);
  }
  return world;
};

test('what an older commit left is delivered, each alert once', async () => {
  const fixture = await readFixture();
  const left = deliveriesOf(fixture);
  const transactions = new Set(left.map(({ txHash }) => txHash));
  const byState = Map.groupBy(left, ({ state }) => state);
  expect([...byState.keys()].sort()).toEqual(['delivered', 'muted', 'waiting']);

  const { redis } = openTestRedis();
  const world = await startAsThen();
  await loadFixture(fixture, redis, world);
  const arrivals = () => arrivalsIn(world, transactions);
  const haveAll = (some: readonly Pick<LeftDelivery, 'destination' | 'txHash'>[]) => () =>
    some.every((one) => arrivals().has(lineOf(one)));

  // Telegram takes nothing yet, so that the deadlines of its alerts are missed and the fallback has them.
  const { telegram } = world.sandbox.receivers;
  const mend = telegram.script.always({
    kind: 'answer',
    status: 429,
    body: {
      ok: false,
      error_code: 429,
      description: 'Too Many Requests: retry after 1',
      parameters: { retry_after: 1 },
    },
  });
  const daemon = await world.start();
  const waiting = byState.get('waiting') ?? [];
  const atOncall = waiting
    .filter(({ destination }) => destination === LONELY)
    .map(({ txHash }) => ({ txHash, destination: ONCALL }));
  await until('the fallback has what its deadline missed', haveAll(atOncall), 30_000);
  mend();

  const approved = waiting.filter(({ destination }) => destination !== GATED);
  await until('what was queued or in a batch arrives', haveAll(approved), 60_000);
  expect([...arrivals().keys()].filter((line) => line.startsWith('slack C0NEWONE01'))).toEqual([]);
  const console = await openConsole(world);
  expect((await console.run('destinations', 'approve', GATED)).out).toContain(
    '2 alerts that were held for it are queued',
  );
  await until('what was held arrives', haveAll(waiting));

  expect(await console.json('mute', 'list')).toMatchObject([{ id: MUTE, hid: 2, isActive: true }]);
  expect((await console.run('mute', 'end', MUTE)).code).toBe(0);
  // A report goes to the people who missed something; programs get none.
  const muted = (byState.get('muted') ?? []).filter(({ destination }) => !destination.startsWith('webhook'));
  await until('what was hidden is reported', haveAll(muted), 30_000);

  const fresh = world.critical('Vault');
  await until('new alerts arrive', () => arrivalsIn(world, new Set(fresh.map(({ txHash }) => txHash))).size === 3);
  await daemon.idle();
  const expected = [...waiting, ...muted, ...atOncall].map(lineOf).sort();
  expect([...arrivals()].sort(([a], [b]) => a.localeCompare(b))).toEqual(
    expected.toSorted((a, b) => a.localeCompare(b)).map((line) => [line, 1]),
  );
  const ledger = createLedger(redis, world.prefix, Date.now);
  expect(await ledger.waitingByDestination()).toEqual({});
  expect(await createDeadLetters(redis, world.prefix).count()).toBe(0);
}, 150_000);
