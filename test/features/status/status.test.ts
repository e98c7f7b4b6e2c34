/** The report from what is in Redis. */
import type { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { createStore } from '../../../src/app/store.ts';
import { createKnowing, type KnowingDependencies } from '../../../src/features/conditions/list.ts';
import { createStatus, type StatusDependencies } from '../../../src/features/status/status.ts';
import { deadId } from '../../../src/ledger/dead-letters.ts';
import { totalsOf } from '../../../src/ops/status.ts';
import type { CatalogEntry } from '../../../src/poll/catalog.ts';
import { destinationOf, inspectionAlert } from '../../support/alerts.ts';
import { openCommits } from '../../support/commits.ts';
import { makeAlert } from '../../support/numbered.ts';
import { TOLD } from '../../support/outages.ts';
import { openTestRedis } from '../../support/redis.ts';

const T0 = Date.parse('2026-11-20T12:00:00Z');
const AT = '2026-11-20T12:00:00.000Z';
const SLACK = destinationOf('slack', 'C1');
const MAIL = destinationOf('email', 'a@example.com');
const TRACK = { service: 'main', source: 'inspections', protocol: 'Vault' } as const;

const entry = (name: string): CatalogEntry => ({
  name,
  channels: [
    { name: 'slack', contacts: ['C1'] },
    { name: 'slack', contacts: ['C2'] },
  ],
  notifyOn: [],
  missed: 0,
});

/** A daemon that runs and can read the service. */
const DAEMON = {
  ...{
    id: 'daemon-1',
    host: 'ops-1',
    pid: 7,
    version: '0.1.0',
    startedAt: AT,
    ready: true,
    checks: [],
    uptimeMs: 0,
    silentMs: 0,
  },
  conditions: [],
  services: [{ name: 'main', up: true, state: 'answers' as const }],
};

const NO_DEAD = { count: async () => 0, trimmed: async () => 0 };

type Changes = Partial<KnowingDependencies & Pick<StatusDependencies, 'startedAt' | 'routed'>>;

const setUp = (changes: Changes = {}) => {
  const store = createStore({ ...openTestRedis(), onError: () => {}, now: () => T0 });
  onTestFinished(() => store.close());
  const reviewed: string[] = [];
  const problems: string[] = [];
  const listedBy = new Map<string, readonly string[]>();
  const config = {
    services: [{ name: 'main' }],
    alerts: { sources: ['inspections', 'notifications'] },
    channels: { email: {}, slack: {}, telegram: {} },
    mutes: { windows: [], never: [], maxLength: 86_400_000 },
  } as unknown as StatusDependencies['config'];
  const { startedAt, routed = () => [], ...others } = changes;
  const protocols = async () => new Map([['Vault', entry('Vault')]]);
  const known = createKnowing({
    ...{ ...store, config, protocols },
    unwatched: async () => [],
    daemonReports: { list: async () => [DAEMON] },
    review: {
      review: (service) => void reviewed.push(service),
      problemsTogether: () => problems.map((text) => ({ text, id: text, entries: 1 })),
      protocolsOf: () => listedBy,
    },
    ...others,
  });
  const now = () => T0;
  const status = createStatus({
    ...store,
    config,
    protocols,
    ...{ known, routed, hanging: () => [], now },
    ...(startedAt !== undefined && { startedAt }),
  });
  return { store, status, reviewed, problems, listedBy };
};

test('a protocol that was never read has no times; one that was has its cursor and its lag', async () => {
  const { store, status } = setUp();
  expect((await status()).protocols).toEqual([
    {
      service: 'main',
      name: 'Vault',
      channels: ['slack'],
      sources: [{ source: 'inspections' }, { source: 'notifications' }],
    },
  ]);
  await store.cursors.begin(TRACK, { start: T0 - 90_000, position: T0 - 60_000, sweptTo: T0 - 60_000 });
  const read = async () => (await status()).protocols[0]?.sources[0];
  expect(await read()).toEqual({ source: 'inspections', cursor: '2026-11-20T11:59:00.000Z' });
  await openCommits(store.redis as Redis, store.prefix).advance(TRACK, { polledAt: T0 - 7400 });
  expect(await read()).toEqual({
    source: 'inspections',
    cursor: '2026-11-20T11:59:00.000Z',
    lastPoll: '2026-11-20T11:59:52.600Z',
    lagSeconds: 7,
  });
});

test('a clock that runs ahead makes no negative lag', async () => {
  const { store, status } = setUp();
  await store.cursors.begin(TRACK, { start: T0, position: T0, sweptTo: T0 });
  await openCommits(store.redis as Redis, store.prefix).advance(TRACK, { polledAt: T0 + 5000 });
  expect((await status()).protocols[0]?.sources[0]?.lagSeconds).toBe(0);
});

test('a destination has what it was sent and what waits for it', async () => {
  const { store, status } = setUp();
  await store.ledger.recordWaiting([{ destination: SLACK, alerts: [makeAlert(1), makeAlert(2)] }]);
  await store.destinationStats.succeeded(SLACK, 3, AT);
  await store.destinationStats.succeeded(MAIL, 1, AT);
  const { destinations } = await status();
  expect(destinations).toMatchObject([
    { id: MAIL.id, kind: 'email', delivered: 1, waiting: 0 },
    { id: SLACK.id, kind: 'slack', delivered: 3, waiting: 2, lastSuccess: AT },
  ]);
});

test('whoever may get alerts counts once: who was sent to, who was not yet, for whom something waits, who is held', async () => {
  const chat = destinationOf('telegram', '-100');
  const gone = destinationOf('slack', 'C9');
  const { store, status } = setUp({ routed: () => [SLACK, MAIL, chat, MAIL] });
  await store.destinationStats.succeeded(SLACK, 3, AT);
  const parcels = [SLACK, gone, MAIL].map((destination) => ({ destination, alerts: [makeAlert(1), makeAlert(2)] }));
  await store.ledger.recordWaiting(parcels);
  // Two more wait for an approval: they are no news of the queue.
  await store.held.hold(chat, [makeAlert(3), makeAlert(4)]);
  await store.ledger.recordWaiting([{ destination: chat, alerts: [makeAlert(3), makeAlert(4)] }]);
  const report = await status();
  expect(report.destinations.map(({ id, kind, delivered, waiting }) => ({ id, kind, delivered, waiting }))).toEqual([
    { id: SLACK.id, kind: 'slack', delivered: 3, waiting: 2 },
    { id: MAIL.id, kind: 'email', delivered: 0, waiting: 2 },
    { id: chat.id, kind: 'telegram', delivered: 0, waiting: 0 },
    { id: gone.id, kind: 'slack', delivered: 0, waiting: 2 },
  ]);
  expect(totalsOf(report)).toMatchObject({ waiting: 6, held: 2 });
});

test('dead is what is kept, in all and by destination: 0 after a retry, and 1 where nothing was tried', async () => {
  const { store, status } = setUp();
  const letter = { alert: makeAlert(1), reason: 'unknown', message: 'gone', attempts: 1, at: AT };
  await store.destinationStats.failed(SLACK, AT, 'gone');
  for (const destination of [SLACK, MAIL]) await store.dead.add({ ...letter, destination });
  const shown = async () => {
    const { dead, destinations } = await status();
    return { dead, ...Object.fromEntries(destinations.map((one) => [one.label, one.dead])) };
  };
  expect(await shown()).toEqual({ dead: 2, [SLACK.label]: 1, [MAIL.label]: 1 });
  await store.dead.remove(await store.dead.get([deadId(makeAlert(1), SLACK)]));
  await store.destinationStats.succeeded(SLACK, 1, AT);
  expect(await shown()).toEqual({ dead: 1, [SLACK.label]: 0, [MAIL.label]: 1 });
});

test('jobs of a channel kind that the config does not set up are named', async () => {
  const { store, status } = setUp();
  const gone = destinationOf('webhook', 'https://hooks.example.com/x');
  await store.queues.sendCanary('webhook');
  expect((await status()).problems).toEqual([]);
  await store.queues.enqueue([gone, SLACK].map((destination) => ({ destination, alerts: [makeAlert(1)] })));
  expect((await status()).problems).toEqual([
    '1 job waits for webhook, which the config does not set up: what no daemon sends within a day is dead',
  ]);
});

test('a hold that is full is named', async () => {
  const held = (one: typeof MAIL) => ({
    destination: one,
    since: AT,
    waiting: 5000,
    isAnnounced: true,
    isRevoked: false,
  });
  const all = Array.from({ length: 1000 }, (_, n) => held(destinationOf('email', `${n}@example.com`)));
  const { status } = setUp({ held: { list: async () => all } });
  const { problems } = await status();
  expect(problems[0]).toMatch(
    /^email 0@example.com is new and waits .* 5000 alerts, which is the most: newer ones are dead: /,
  );
  expect(problems.at(-1)).toBe('1000 destinations wait for approval, which is the most: alerts for others are dead');
});

test('dead deliveries that were removed are named', async () => {
  const { status } = setUp({ dead: { ...NO_DEAD, trimmed: async () => 12, byDestination: async () => new Map() } });
  const { problems, deadRemoved } = await status();
  expect(problems).toEqual([
    expect.stringMatching(/^12 dead deliveries were removed lately, as 50000 are kept at most: /),
  ]);
  expect(deadRemoved).toBe(12);
});

test('problems come worst first: outages, held alerts, channels that lead nowhere, items nobody understands', async () => {
  const { store, status, problems, listedBy, reviewed } = setUp();
  expect((await status()).problems).toEqual([]);
  expect(reviewed).toEqual([]);
  problems.push('Vault: slack: nothing to send to');
  listedBy.set(MAIL.id, ['Vault', 'Bridge', 'Pool', 'Market', 'Oracle']);
  await store.outageStore.note('sender-slack', {
    ...TOLD,
    since: AT,
    reason: 'unavailable',
    message: 'it timed out',
    announcedTo: [],
  });
  await store.held.hold(MAIL, [makeAlert(1), makeAlert(2)]);
  await store.held.revoke(SLACK);
  await store.held.hold(SLACK, [makeAlert(1)]);
  await store.quarantine.admit('main', 'inspections', [{ problem: 'no id', raw: {} }]);
  const report = await status();
  const held = (state: string) => expect.stringMatching(state);
  expect(report.problems).toEqual([
    expect.stringMatching(/^no Slack channel gets alerts since 2026-11-20 12:00:00 UTC: it timed out$/),
    held(
      `^email a@example.com \\(for “Vault”, “Bridge”, “Pool” and 2 more\\) is new and waits for approval with 2 alerts: `,
    ),
    held(`^slack C1 was revoked and waits for approval with 1 alert: tocsin destinations approve ${SLACK.id}$`),
    'Vault: slack: nothing to send to',
    '1 item of the service could not be understood',
  ]);
  expect(report.held).toMatchObject([
    { id: MAIL.id, kind: 'email', label: 'a@example.com', waiting: 2 },
    { id: SLACK.id, protocols: [], waiting: 1 },
  ]);
  expect(reviewed).toEqual(['main']);
});

test('mutes that hold now are listed, the next to end first, and dead letters are counted', async () => {
  const { store, status } = setUp({ startedAt: T0 - 1000 });
  const mute = (id: string, untilMs: number) => ({
    id,
    protocols: ['Vault'],
    detectors: [],
    destinations: [],
    reason: 'upgrade',
    from: '2026-11-20T11:00:00.000Z',
    until: new Date(T0 + untilMs).toISOString(),
  });
  for (const one of [mute('later', 7_200_000), mute('over', -1), mute('sooner', 3_600_000)]) await store.mutes.add(one);
  await store.dead.add({
    alert: inspectionAlert(),
    destination: SLACK,
    reason: 'unknown',
    message: 'gone',
    attempts: 1,
    at: AT,
  });
  const { mutes, dead, startedAt, now, services } = await status();
  expect(mutes.map(({ id }) => id)).toEqual(['sooner', 'later']);
  expect({ dead, startedAt, now, services }).toEqual({
    dead: 1,
    startedAt: '2026-11-20T11:59:59.000Z',
    now: AT,
    services: [{ name: 'main', up: true, state: 'answers' }],
  });
});

test('destinations have the names that their providers gave', async () => {
  const { store, status } = setUp();
  const destination = destinationOf('slack', 'C1');
  await store.destinationStats.failed(destination, new Date(T0).toISOString(), 'refused');
  expect((await status()).destinations[0]).not.toHaveProperty('name');
  await store.names.note(destination.id, '#alerts');
  expect((await status()).destinations).toMatchObject([{ label: 'C1', name: '#alerts' }]);
});
