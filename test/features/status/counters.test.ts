/** Counters begin at 0, so that the first event is an increase. */
import { expect, test } from 'vitest';
import { createCounters } from '../../../src/features/status/counters.ts';
import { createDeliveryReport } from '../../../src/ops/delivery-report.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { createLines } from '../../ops/lines.ts';
import { destinationOf } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';

const SLACK = destinationOf('slack', 'C1');
const EMAIL = destinationOf('email', 'oncall@example.com');

test('every counter whose labels are known shows a 0, what becomes known later included, and counts on', async () => {
  const metrics = createMetrics({ version: 'test' });
  const protocols: string[] = [];
  const destinations: (typeof SLACK)[] = [];
  const { begin } = createCounters({
    config: {
      services: [{ name: 'main' }],
      alerts: { sources: ['inspections', 'notifications'], acknowledge: true },
      channels: { email: {} },
    } as unknown as Parameters<typeof createCounters>[0]['config'],
    metrics,
    catalog: {
      protocols: async () => new Map(protocols.map((name) => [name, { name, channels: [], notifyOn: [], missed: 0 }])),
    },
    routed: () => [...destinations, EMAIL],
    hasFallback: true,
  });
  await begin();
  const early = await metrics.text();
  for (const line of [
    'tocsin_polls_total{service="main",source="inspections",outcome="failed"} 0',
    'tocsin_items_total{service="main",source="inspections",assessment="critical"} 0',
    'tocsin_items_total{service="main",source="notifications",assessment="none"} 0',
    'tocsin_items_malformed_total{service="main",source="notifications"} 0',
    'tocsin_items_malformed_total{service="main",source="protocols"} 0',
    'tocsin_items_foreign_total{service="main",source="inspections"} 0',
    'tocsin_second_looks_total{service="main",outcome="downgraded"} 0',
    'tocsin_second_looks_total{service="main",outcome="same"} 0',
    'tocsin_service_bounds_reached_total{service="main",bound="protocols"} 0',
    'tocsin_audits_total{service="main",outcome="difference"} 0',
    'tocsin_fallback_alerts_total{reason="dead"} 0',
    'tocsin_fallback_alerts_total{reason="unacknowledged"} 0',
    'tocsin_acknowledged_total{kind="email"} 0',
    'tocsin_presses_refused_total{kind="email",reason="unknown"} 0',
    `tocsin_deliveries_total{kind="email",destination="${EMAIL.id}",outcome="dead"} 0`,
    `tocsin_delivery_failures_total{kind="email",destination="${EMAIL.id}",reason="bad-message"} 0`,
    'tocsin_digests_total{kind="email"} 0',
    'tocsin_send_slot_wait_seconds_total{kind="email"} 0',
    `tocsin_destination_info{kind="email",destination="${EMAIL.id}",label="${EMAIL.label}"} 1`,
  ]) {
    expect(early).toContain(`${line}\n`);
  }

  protocols.push('Vault');
  destinations.push(SLACK);
  const dead = { kind: 'slack', destination: SLACK.id, outcome: 'dead' };
  await begin();
  expect(await metrics.text()).toContain(`destination="${SLACK.id}",outcome="dead"} 0\n`);
  metrics.deliveries.inc(dead);
  await begin();
  const late = await metrics.text();
  expect(late).toContain(`destination="${SLACK.id}",outcome="dead"} 1\n`);
  expect(late).toContain('tocsin_alerts_total{service="main",protocol="Vault",source="notifications"} 0\n');
  expect(late).toContain('tocsin_audit_differences_total{service="main",protocol="Vault",kind="missing"} 0\n');
});

test('a destination has its name beside its label once that is known', async () => {
  const metrics = createMetrics({ version: 'test' });
  let names = new Map<string, string>();
  const { begin } = createCounters({
    config: { services: [], alerts: { sources: [] }, channels: {} } as unknown as Parameters<
      typeof createCounters
    >[0]['config'],
    metrics,
    catalog: { protocols: async () => new Map() },
    routed: () => [SLACK],
    hasFallback: false,
    names: async () => names,
  });
  const infos = async () =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith('tocsin_destination_info'));
  const line = (label: string) => `tocsin_destination_info{kind="slack",destination="${SLACK.id}",label="${label}"} 1`;
  await begin();
  expect(await infos()).toEqual([line('C1')]);
  names = new Map([[SLACK.id, '#alerts']]);
  await begin();
  await begin();
  expect(await infos()).toEqual([line('#alerts (C1)')]);
});

test('of thousands of destinations and protocols five hundred have series of their own, and what others do counts as well', async () => {
  const metrics = createMetrics({ version: 'test' });
  const many = Array.from({ length: 5000 }, (_, n) => destinationOf('slack', `C${n}`));
  const names = many.map((_, n) => `Protocol ${n}`);
  const { begin, keepDestinations } = createCounters({
    config: {
      services: [{ name: 'main' }],
      alerts: { sources: ['inspections'] },
      channels: {},
    } as unknown as Parameters<typeof createCounters>[0]['config'],
    metrics,
    catalog: {
      protocols: async () => new Map(names.map((name) => [name, { name, channels: [], notifyOn: [], missed: 0 }])),
    },
    routed: () => many,
    hasFallback: false,
  });
  const report = createDeliveryReport({ log: createLines().log, metrics, now: Date.now });
  const dies = (destination: (typeof many)[number]) =>
    report({
      ...{ kind: 'slack', destination, alerts: [makeAlert(1)], attempt: 1, outcome: 'dead', durationMs: 1 },
      reason: 'unknown',
    });
  const [first = SLACK, last = SLACK] = [many[0], many.at(-1)];
  await begin();
  dies(first);
  dies(last);
  metrics.alerts.inc({ service: 'main', protocol: 'Protocol 4999', source: 'inspections' });
  const series = (await metrics.text()).split('\n').filter((line) => line.startsWith('tocsin_'));
  expect(series.length).toBeLessThan(6000);
  const dead = (destination: string) =>
    `tocsin_deliveries_total{kind="slack",destination="${destination}",outcome="dead"}`;
  expect(series).toContain(`${dead(first.id)} 1`);
  expect(series).toContain(`${dead('others')} 1`);
  expect(series).toContain('tocsin_alerts_total{service="main",protocol="others",source="inspections"} 1');
  expect(series).toContain('tocsin_destination_series_left_out 4500');
  expect(series).toContain('tocsin_protocol_series_left_out{metric="tocsin_alerts_total"} 4500');

  // Places of those that are gone are free for others.
  many.splice(0, 500);
  await keepDestinations(new Set(many.map(({ id }) => id)));
  await begin();
  dies(many[0] ?? SLACK);
  const later = (await metrics.text()).split('\n');
  expect(later).toContain(`${dead(many[0]?.id ?? '')} 1`);
  expect(later).toContain(`${dead('others')} 1`);
  expect(later).toContain('tocsin_destination_series_left_out 4000');
});

test('after a restart, too, decoys take no series of protocols that were there before', async () => {
  const metrics = createMetrics({ version: 'test' });
  const names = [...Array.from({ length: 600 }, (_, n) => `decoy ${n}`), 'Vault'];
  const entry = (name: string) => ({ name, channels: [], notifyOn: [], missed: 0 });
  const { begin } = createCounters({
    config: {
      services: [{ name: 'main' }],
      alerts: { sources: ['inspections'] },
      channels: {},
    } as unknown as Parameters<typeof createCounters>[0]['config'],
    metrics,
    catalog: {
      protocols: async () =>
        new Map(names.map((name) => [name, { ...entry(name), owedSince: name === 'Vault' ? 1000 : 2000 }])),
    },
    routed: () => [],
    hasFallback: false,
  });
  await begin();
  metrics.alerts.inc({ service: 'main', protocol: 'Vault', source: 'inspections' });
  expect(await metrics.text()).toContain('tocsin_alerts_total{service="main",protocol="Vault",source="inspections"} 1');
});
