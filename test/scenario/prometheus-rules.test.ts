/** Each rule fires on what it is for, alone, and is silent before it and after it. Needs promtool of Prometheus. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { type ConditionName, TROUBLES as NAMES } from '../../src/condition.ts';
import { EVALUATED, lacksPromtool, promtoolOn } from '../support/promtool.ts';

const RULES = fileURLToPath(new URL('../../config/prometheus-rules.yml', import.meta.url));

/** All is well, then there is trouble, and then it is mended for longer than an hour; a sample each minute. */
const MINUTES = { well: 20, trouble: 40, mended: 75 };
const LOOK_AT = { well: 18, trouble: 58, mended: 133 };

/** Each a value, `_` for none, or a value and what it grows by each minute: `10+5`. */
const phases = (well: string, trouble: string, mended = well): string =>
  Object.entries({ well, trouble, mended })
    .map(([phase, value]) => `${value}x${MINUTES[phase as keyof typeof MINUTES] - (value === '_' ? 0 : 1)}`)
    .join(' ');

const gauge = (well: number, trouble: number = well): string => phases(`${well}`, `${trouble}`);

/** Grows by so much a minute in good and in bad times. */
const counter = (well: number, trouble: number = well, mended: number = well): string => {
  const before = well * MINUTES.well;
  return phases(`0+${well}`, `${before}+${trouble}`, `${before + trouble * MINUTES.trouble}+${mended}`);
};

type Series = Record<string, string>;

const DESTINATION = 'kind="slack", destination="slack-1"';
const WAITING = 'tocsin_queue_jobs{queue="deliver-slack", state="waiting"}';
const DELIVERED = `tocsin_deliveries_total{${DESTINATION}, outcome="delivered"}`;
const RETRYING = `tocsin_deliveries_total{${DESTINATION}, outcome="retrying"}`;
const DEAD = `tocsin_deliveries_total{${DESTINATION}, outcome="dead"}`;
const LATENCY = 'tocsin_alert_latency_seconds';

const troubleSeries = (name: ConditionName): string => `tocsin_trouble{trouble="${name}"}`;

/** A healthy daemon with something to do. */
const HEALTHY: Series = {
  'tocsin_build_info{instance="a"}': gauge(1),
  'process_start_time_seconds{instance="a"}': gauge(1000),
  'tocsin_service_up{service="main", instance="a"}': gauge(1),
  'tocsin_unread_protocols{service="main"}': gauge(0),
  'tocsin_silent_protocols{service="main"}': gauge(0),
  'tocsin_cursor_lag_seconds{service="main", source="inspections"}': gauge(4),
  'tocsin_poll_interval_seconds{service="main"}': gauge(15),
  'tocsin_catalog_protocols{service="main"}': gauge(5),
  'tocsin_service_bounds_reached_total{service="main", bound="contacts"}': counter(0),
  'tocsin_items_malformed_total{service="main", source="inspections"}': counter(0),
  'tocsin_audit_differences_total{service="main", protocol="Vault", kind="missing"}': counter(0),
  'tocsin_audits_total{service="main", outcome="balanced"}': counter(1),
  'tocsin_audits_total{service="main", outcome="incomplete"}': counter(0),
  [DELIVERED]: counter(10),
  [RETRYING]: counter(1),
  [DEAD]: counter(0),
  tocsin_dead_deliveries: gauge(0),
  tocsin_dead_removed_total: counter(0),
  [WAITING]: gauge(2),
  'tocsin_queue_jobs{queue="deliver-email", state="delayed"}': gauge(0),
  'tocsin_queue_jobs{queue="deadlines", state="delayed"}': counter(10),
  [`${LATENCY}_bucket{kind="slack", le="60"}`]: counter(10),
  [`${LATENCY}_count{kind="slack"}`]: counter(10),
  'tocsin_oldest_undelivered_seconds{service="main", source="inspections"}': gauge(2),
  'tocsin_fallback_alerts_total{reason="late"}': counter(0),
  tocsin_held_alerts: gauge(0),
  tocsin_held_refused_total: counter(0),
  tocsin_unroutable_entries: gauge(0),
  'tocsin_redis_up{instance="a"}': gauge(1),
  ...Object.fromEntries(NAMES.map((name) => [troubleSeries(name), gauge(0)])),
  'tocsin_config_last_reload_successful{instance="a"}': gauge(1),
  'nodejs_eventloop_lag_max_seconds{instance="a"}': gauge(0.02),
  'process_open_fds{instance="a"}': gauge(60),
  'process_max_fds{instance="a"}': gauge(1000),
};

/** What is otherwise while the trouble lasts, by the rules that fire then. */
const TROUBLES: [fires: string, series: Series][] = [
  ['', {}],
  ['TocsinGone', { 'tocsin_build_info{instance="a"}': phases('1', '_') }],
  ['TocsinRestarts', { 'process_start_time_seconds{instance="a"}': counter(0, 60) }],
  ['TocsinServiceUnreadable', { 'tocsin_service_up{service="main", instance="a"}': gauge(1, 0) }],
  // Another daemon reaches the service.
  ['', { 'tocsin_service_up{service="main", instance="b"}': gauge(1, 0) }],
  ['TocsinProtocolSilent', { 'tocsin_silent_protocols{service="main"}': gauge(0, 1) }],
  ['TocsinProtocolUnread', { 'tocsin_unread_protocols{service="main"}': gauge(0, 2) }],
  ['TocsinReadingLate', { 'tocsin_cursor_lag_seconds{service="main", source="inspections"}': gauge(4, 121) }],
  // Four intervals and a minute are no delay.
  ['', { 'tocsin_cursor_lag_seconds{service="main", source="inspections"}': gauge(4, 119) }],
  ['TocsinWatchesNothing', { 'tocsin_catalog_protocols{service="main"}': gauge(5, 0) }],
  ['TocsinBoundReached', { 'tocsin_service_bounds_reached_total{service="main", bound="contacts"}': counter(0, 1) }],
  ['TocsinItemsNotUnderstood', { 'tocsin_items_malformed_total{service="main", source="inspections"}': counter(0, 1) }],
  [
    'TocsinAuditDifference',
    { 'tocsin_audit_differences_total{service="main", protocol="Vault", kind="missing"}': counter(0, 1) },
  ],
  ['', { 'tocsin_audits_total{service="main", outcome="incomplete"}': counter(0, 1) }],
  ['TocsinDeliveriesDead', { [DEAD]: counter(0, 1) }],
  ['TocsinDeadLettersKept', { tocsin_dead_deliveries: gauge(0, 1) }],
  ['TocsinDeadLettersRemoved', { tocsin_dead_removed_total: counter(0, 1) }],
  ['TocsinSenderBroken', { 'tocsin_broken_destinations{kind="slack", destination="sender-slack"}': phases('_', '1') }],
  ['TocsinDestinationBroken', { [`tocsin_broken_destinations{${DESTINATION}}`]: phases('_', '1') }],
  ['TocsinRetries', { [RETRYING]: counter(1, 11) }],
  ['TocsinQueueGrows', { [WAITING]: phases('2', '10+10') }],
  // A storm that is being worked off.
  ['', { [WAITING]: phases('2', '900-10') }],
  ['TocsinQueueStands', { [DELIVERED]: counter(10, 0), [RETRYING]: counter(0), [WAITING]: gauge(2, 3) }],
  // There is nothing to deliver.
  ['', { [DELIVERED]: counter(10, 0), [RETRYING]: counter(0), [WAITING]: gauge(2, 0) }],
  ['TocsinAlertsLate TocsinAlertsOftenLate', { [`${LATENCY}_bucket{kind="slack", le="60"}`]: counter(10, 7) }],
  ['TocsinAlertsOftenLate', { [`${LATENCY}_bucket{kind="slack", le="60"}`]: counter(10, 8.7) }],
  ['TocsinFallbackUsed', { 'tocsin_fallback_alerts_total{reason="late"}': counter(0, 1) }],
  ['TocsinAlertsHeld', { tocsin_held_alerts: gauge(0, 1) }],
  ['TocsinHeldRefused', { tocsin_held_refused_total: counter(0, 1) }],
  ['TocsinUnroutable', { tocsin_unroutable_entries: gauge(0, 1) }],
  ['TocsinRedisDown', { 'tocsin_redis_up{instance="a"}': gauge(1, 0) }],
  ['TocsinUndelivered', { 'tocsin_oldest_undelivered_seconds{service="main", source="inspections"}': gauge(2, 1000) }],
  ['TocsinConfigRefused', { 'tocsin_config_last_reload_successful{instance="a"}': gauge(1, 0) }],
  ['TocsinEventLoopBlocked', { 'nodejs_eventloop_lag_max_seconds{instance="a"}': gauge(0.02, 0.6) }],
  // Each fires in one of these, and is silent in the other.
  [
    'TocsinChannelFailing TocsinConfigDiffers TocsinJobsUnreadable TocsinDiskNearlyFull TocsinHeartbeatFails',
    {
      [troubleSeries('channel')]: gauge(0, 1),
      [troubleSeries('config-differs')]: gauge(0, 1),
      [troubleSeries('jobs')]: gauge(0, 1),
      [troubleSeries('disk')]: gauge(0, 1),
      [troubleSeries('heartbeat')]: gauge(0, 1),
    },
  ],
  [
    'TocsinQueueSilent TocsinRedisNotDurable TocsinClockOff TocsinDaemonMissed TocsinInspectionsStrange',
    {
      [troubleSeries('misfits')]: gauge(0, 1),
      [troubleSeries('member')]: gauge(0, 1),
      [troubleSeries('queue')]: gauge(0, 1),
      [troubleSeries('durability')]: gauge(0, 1),
      [troubleSeries('clock')]: gauge(0, 1),
    },
  ],
  ['TocsinFilesExhausted', { 'process_open_fds{instance="a"}': gauge(60, 900) }],
];

const firing = (minute: number, alerts: string) => ({
  expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
  eval_time: `${minute}m`,
  exp_samples: alerts
    .split(' ')
    .filter((alert) => alert !== '')
    .map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
});

const testOf = (changes: Series, looks: readonly ReturnType<typeof firing>[]) => ({
  interval: '1m',
  input_series: Object.entries({ ...HEALTHY, ...changes }).map(([series, values]) => ({ series, values })),
  promql_expr_test: looks,
});

/** No audit comes to its end: not since the daemon has run, or not since minute 60. */
const UNFINISHED = ['0x600', '0+0.2x60 12x540'].map((balanced) => ({
  interval: '1m',
  input_series: Object.entries({
    'tocsin_build_info{instance="a"}': '1x600',
    'tocsin_audits_total{service="main", outcome="balanced"}': balanced,
    'tocsin_audits_total{service="main", outcome="incomplete"}': '0+0.2x600',
  }).map(([series, values]) => ({ series, values })),
  promql_expr_test: [firing(30, ''), firing(170, ''), firing(500, 'TocsinAuditUnfinished')],
}));

const TESTS = TROUBLES.map(([fires, series]) =>
  testOf(series, [firing(LOOK_AT.well, ''), firing(LOOK_AT.trouble, fires), firing(LOOK_AT.mended, '')]),
);

test('every rule has its trouble', () => {
  const { groups } = parse(readFileSync(RULES, 'utf8')) as { groups: { rules: { alert: string }[] }[] };
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  const shown = [...TROUBLES.flatMap(([fires]) => fires.split(' ')), 'TocsinAuditUnfinished'];
  expect(alerts.filter((alert) => !shown.includes(alert))).toEqual([]);
});

test('each rule fires in its trouble, and no other does', async ({ skip }) => {
  skip(lacksPromtool() !== undefined, lacksPromtool());
  const all = { rule_files: [RULES], ...EVALUATED, tests: [...TESTS, ...UNFINISHED] };
  const { said, status } = await promtoolOn(all, 'test', 'rules');
  expect(said).toContain('SUCCESS');
  expect(status).toBe(0);
}, 120_000);
