/** Every gauge that is set at a scrape, from what is kept in Redis. */
import type { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { createStore } from '../../../src/app/store.ts';
import { TROUBLES } from '../../../src/condition.ts';
import type { HeardDaemon } from '../../../src/features/conditions/daemons.ts';
import { createKnowing } from '../../../src/features/conditions/list.ts';
import { createGauges } from '../../../src/features/status/gauges.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { destinationOf } from '../../support/alerts.ts';
import { openCommits } from '../../support/commits.ts';
import { makeAlert } from '../../support/numbered.ts';
import { TOLD } from '../../support/outages.ts';
import { openTestRedis } from '../../support/redis.ts';

const T0 = Date.parse('2026-11-20T12:00:00Z');
const AT = '2026-11-20T12:00:00.000Z';
const SLACK = destinationOf('slack', 'C1');

const setUp = () => {
  const store = createStore({ ...openTestRedis(), onError: () => {}, now: () => T0 });
  onTestFinished(() => store.close());
  const metrics = createMetrics({ version: 'test' });
  const daemons: HeardDaemon[] = [];
  const problems = [{ text: 'Vault: it has no channels, so its alerts reach nobody', id: 'vault', entries: 1 }];
  const catalog = {
    protocols: async () =>
      new Map(['Vault', 'Bridge'].map((name) => [name, { name, channels: [], notifyOn: [], missed: 0 }])),
  };
  const state = { status: 'ready' };
  const clock = { now: T0 };
  const known = createKnowing({
    ...{ ...store, ...catalog, unwatched: async () => [], daemonReports: { list: async () => daemons }, redis: state },
    config: { services: [{ name: 'main' } as never], channels: {} },
    review: { review: () => {}, problemsTogether: () => problems, protocolsOf: () => new Map() },
  });
  const dependencies = {
    ...store,
    config: { services: [{ name: 'main' }], alerts: { sources: ['inspections'] } } as Parameters<
      typeof createGauges
    >[0]['config'],
    ...{ metrics, known, catalog },
    review: { problemsTogether: () => problems },
    pollDurations: () => [{ labels: { service: 'main', protocol: 'Vault', source: 'inspections' }, value: 0.2 }],
    now: () => clock.now,
  };
  const gauges = createGauges(dependencies);
  metrics.onScrape(gauges.ask, gauges.show);
  /** Samples of our own gauges, as a scrape shows them. */
  const scrape = metrics.text;
  return { store, problems, daemons, state, clock, known, scrape };
};

test('the gauges count what waits, what is dead, held and broken', async () => {
  const { store, scrape } = setUp();
  await store.queues.enqueue([{ destination: SLACK, alerts: [makeAlert(1)] }]);
  await store.dead.add({
    alert: makeAlert(2),
    destination: SLACK,
    reason: 'unknown',
    message: 'gone',
    attempts: 2,
    at: AT,
  });
  await store.held.hold(SLACK, [makeAlert(3), makeAlert(4)]);
  await store.held.hold(destinationOf('slack', 'C2'), [makeAlert(5)]);
  const outage = {
    ...TOLD,
    since: AT,
    reason: 'sender-misconfigured' as const,
    message: 'invalid_auth',
    announcedTo: [],
  };
  await store.outageStore.note('sender-slack', outage);

  const text = await scrape();
  expect(text).toContain('tocsin_redis_up 1');
  expect(text).toContain('tocsin_unroutable_entries 1');
  expect(text).toContain('tocsin_queue_jobs{queue="deliver-slack",state="waiting"} 1');
  expect(text).toContain('tocsin_queue_jobs{queue="deliver-email",state="waiting"} 0');
  expect(text).toMatch(/^tocsin_queue_jobs{queue="deadlines",state="delayed"} 0$/m);
  expect(text).toContain('tocsin_dead_deliveries 1');
  expect(text).toContain('tocsin_held_alerts 3');
  expect(text).toContain('tocsin_broken_destinations{kind="slack",destination="sender-slack"} 1');

  await store.outageStore.forget('sender-slack');
  expect(await scrape()).not.toMatch(/^tocsin_broken_destinations{/m);
});

test('the lag is that of the protocol read longest ago', async () => {
  const { store, scrape } = setUp();
  expect(await scrape()).not.toMatch(/^tocsin_cursor_lag_seconds{/m);
  for (const [protocol, ageMs] of [
    ['Vault', 1000],
    ['Bridge', 90_000],
  ] as const) {
    const track = { service: 'main', source: 'inspections', protocol } as const;
    await store.cursors.begin(track, { start: T0, position: T0, sweptTo: T0 });
    await openCommits(store.redis as Redis, store.prefix).advance(track, { polledAt: T0 - ageMs });
  }
  const text = await scrape();
  expect(text).toContain('tocsin_cursor_lag_seconds{service="main",source="inspections"} 90');
  expect(text).toContain('tocsin_catalog_protocols{service="main"} 2');
  expect(text).toMatch(/^tocsin_protocol_cursor_lag_seconds{.*protocol="Bridge".*} 90$/m);
  expect(text).toMatch(/^tocsin_protocol_poll_duration_seconds{.*protocol="Vault".*} 0.2$/m);
  expect(text).toContain('tocsin_protocol_series_left_out{metric="tocsin_protocol_cursor_lag_seconds"} 0');
});

test('lags grow by our own clock while Redis is silent', async () => {
  const { store, state, clock, scrape } = setUp();
  const track = { service: 'main', source: 'inspections', protocol: 'Vault' } as const;
  await store.cursors.begin(track, { start: T0, position: T0, sweptTo: T0 });
  await openCommits(store.redis as Redis, store.prefix).advance(track, { polledAt: T0 - 5000 });
  await store.ledger.recordWaiting([{ destination: SLACK, alerts: [{ ...makeAlert(1), ...track, at: AT }] }]);
  await scrape();
  state.status = 'reconnecting';
  clock.now += 60_000;
  const text = await scrape();
  expect(text).toContain('tocsin_cursor_lag_seconds{service="main",source="inspections"} 65');
  expect(text).toMatch(/^tocsin_protocol_cursor_lag_seconds{.*protocol="Vault".*} 65$/m);
  expect(text).toContain('tocsin_oldest_undelivered_seconds{service="main",source="inspections"} 60');
});

test('what waits longest shows, of all destinations, until it is delivered', async () => {
  const { store, scrape } = setUp();
  const oldest = (seconds: number): string =>
    `tocsin_oldest_undelivered_seconds{service="main",source="inspections"} ${seconds}`;
  const alerts = [30, 90].map((age, n) => ({
    ...makeAlert(n),
    service: 'main',
    protocol: n === 0 ? 'Vault' : 'Bridge',
    at: new Date(T0 - age * 1000).toISOString(),
  }));
  await store.ledger.recordWaiting([{ destination: SLACK, alerts }]);
  expect(await scrape()).toContain(oldest(90));
  await store.ledger.recordAttempt(SLACK, alerts.slice(1), {
    state: 'delivered',
    attempt: { at: AT, outcome: 'delivered', durationMs: 1 },
  });
  expect(await scrape()).toContain(oldest(30));
  await store.ledger.recordAttempt(SLACK, alerts, {
    state: 'delivered',
    attempt: { at: AT, outcome: 'delivered', durationMs: 1 },
  });
  expect(await scrape()).toContain(oldest(0));
});

test('without Redis the others keep their values, and that it is away shows', async () => {
  const { store, problems, state, known, scrape } = setUp();
  await store.held.hold(SLACK, [makeAlert(1)]);
  await scrape();
  problems.push({ text: 'Bridge: telegram is not configured', id: 'bridge', entries: 1 });
  known.all = () => Promise.reject(new Error('asked without Redis'));
  state.status = 'reconnecting';
  const text = await scrape();
  expect(text).toContain('tocsin_redis_up 0');
  expect(text).toContain('tocsin_unroutable_entries 2');
  expect(text).toContain('tocsin_held_alerts 1');
});

test('each trouble that a daemon or Redis has is counted by its name, and every other name is 0', async () => {
  const { store, daemons, state, scrape } = setUp();
  await store.dead.count();
  daemons.push({
    id: 'a',
    host: 'alpha',
    pid: 1,
    version: '1',
    startedAt: '2026-11-20T11:00:00.000Z',
    uptimeMs: 0,
    ready: true,
    checks: [],
    services: [],
    conditions: [
      { name: 'config', of: '', what: 'a changed config was refused', since: '2026-11-20T11:00:00.000Z' },
      { name: 'durability', of: 'eviction', what: 'x', since: '2026-11-20T11:00:00.000Z' },
      { name: 'durability', of: 'append-only', what: 'y', since: '2026-11-20T11:00:00.000Z' },
    ],
    silentMs: 0,
  });
  const samples = (await scrape()).split('\n').filter((line) => line.startsWith('tocsin_trouble{'));
  expect(samples).toHaveLength(TROUBLES.length);
  expect(samples.filter((line) => !line.endsWith(' 0'))).toEqual([
    'tocsin_trouble{trouble="durability"} 2',
    'tocsin_trouble{trouble="config"} 1',
  ]);
  daemons.splice(0, 1, { ...daemons[0], conditions: [] } as HeardDaemon);
  expect(await scrape()).toContain('tocsin_trouble{trouble="durability"} 0');
  state.status = 'reconnecting';
  expect(await scrape()).toContain('tocsin_trouble{trouble="redis"} 1');
});
