import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { assessmentLabel, createMetrics, type Metrics } from '../../src/ops/metrics.ts';
import { until } from '../support/until.ts';

interface Exported {
  type: string;
  help: string;
  /** Lines of values. */
  samples: number;
}

/** What a scraper reads. */
const parse = (text: string): Map<string, Exported> => {
  const found = new Map<string, Exported>();
  for (const line of text.split('\n')) {
    const [, word, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (word === 'HELP') found.set(name, { type: '', help: rest, samples: 0 });
    const described = found.get(name);
    if (word === 'TYPE' && described) described.type = rest;
    const sample = /^[a-z_]+/.exec(line)?.[0] ?? '';
    const family = found.get(sample) ?? found.get(sample.replace(/_(bucket|sum|count)$/, ''));
    if (family) family.samples += 1;
  }
  return found;
};

/** Every metric once, as the daemon uses it; a new one that is not added here fails the test below. */
const useAll = (metrics: Metrics): void => {
  const { service, source, kind, destination } = {
    service: 'main',
    source: 'inspections',
    kind: 'slack',
    destination: 'x',
  };
  metrics.polls.inc({ service, source, outcome: 'ok' });
  metrics.pollDuration.observe({ service, source }, 0.1);
  metrics.items.inc({ service, source, assessment: 'critical' });
  metrics.itemsMalformed.inc({ service, source });
  metrics.itemsForeign.inc({ service, source });
  metrics.boundsReached.inc({ service, bound: 'contacts' });
  metrics.alerts.inc({ service, source, protocol: 'Lending Pool' });
  metrics.cursorLag.set({ service, source }, 3);
  metrics.protocolCursorLag.set({ service, source, protocol: 'Lending Pool' }, 3);
  metrics.protocolPollDuration.set({ service, source, protocol: 'Lending Pool' }, 0.1);
  metrics.protocolSeriesLeftOut.set({ metric: 'tocsin_protocol_cursor_lag_seconds' }, 0);
  metrics.oldestUndelivered.set({ service, source }, 0);
  metrics.digests.inc({ kind });
  metrics.digestAlerts.inc({ kind }, 7);
  metrics.slotWaits.inc({ kind });
  metrics.afterwards.inc({ kind, what: 'reply', outcome: 'delivered' });
  metrics.slotWaitSeconds.inc({ kind }, 0.5);
  metrics.destinationInfo.set({ kind, destination, label: 'C1' }, 1);
  metrics.serviceUp.set({ service }, 1);
  metrics.pollInterval.set({ service }, 5);
  metrics.unreadProtocols.set({ service }, 1);
  metrics.silentProtocols.set({ service }, 1);
  metrics.catalogProtocols.set({ service }, 2);
  metrics.unroutableEntries.set(1);
  metrics.rechecks.inc({ service, outcome: 'same' });
  metrics.audits.inc({ service, outcome: 'balanced' });
  metrics.auditDifferences.inc({ service, protocol: 'Lending Pool', kind: 'missing' });
  metrics.auditedTo.set({ service }, 1_763_633_232);
  metrics.deliveries.inc({ kind, destination, outcome: 'delivered' });
  metrics.deliveryFailures.inc({ kind, destination, reason: 'unavailable' });
  metrics.deliveryDuration.observe({ kind }, 0.2);
  metrics.alertLatency.observe({ kind }, 4);
  metrics.fallbackAlerts.inc({ reason: 'late' });
  metrics.acknowledged.inc({ kind });
  metrics.pressesRefused.inc({ kind, reason: 'unknown' });
  metrics.muted.inc({ kind, destination });
  metrics.destinationSeriesLeftOut.set(0);
  metrics.heldAlerts.set(0);
  metrics.queueJobs.set({ queue: 'deliver-slack', state: 'waiting' }, 5);
  metrics.deadDeliveries.set(0);
  metrics.brokenDestinations.set({ kind: 'slack', destination: 'slack-0123456789ab' }, 1);
  metrics.trouble.set({ trouble: 'disk' }, 0);
  metrics.redisUp.set(1);
  metrics.knownRemarks.set(0);
  metrics.configReloaded.set(1);
  metrics.configReloadedAt.set(1_763_633_232);
};

const DECLARED = `
  alert_latency_seconds alerts_total audit_differences_total audited_to_timestamp_seconds audits_total broken_destinations build_info
  catalog_protocols config_last_reload_success_timestamp_seconds config_last_reload_successful cursor_lag_seconds dead_deliveries dead_removed_total deliveries_total delivery_duration_seconds destination_info destination_series_left_out digest_alerts_total digests_total
  acknowledged_total delivery_failures_total fallback_alerts_total held_alerts held_refused_total items_foreign_total items_malformed_total items_total known_remarks message_changes_total muted_total oldest_undelivered_seconds poll_duration_seconds poll_interval_seconds polls_total presses_refused_total protocol_cursor_lag_seconds protocol_poll_duration_seconds protocol_series_left_out queue_jobs redis_up
  second_looks_total send_slot_wait_seconds_total send_slot_waits_total service_bounds_reached_total service_up silent_protocols trouble unread_protocols unroutable_entries`
  .trim()
  .split(/\s+/)
  .map((name) => `tocsin_${name}`);

test('every declared metric is exported with a value', async () => {
  const metrics = createMetrics({ version: '1.2.3' });
  useAll(metrics);
  const exported = parse(await metrics.text());
  const own = [...exported.keys()].filter((name) => !/^(process|nodejs)_/.test(name));
  expect(own.sort()).toEqual(DECLARED.toSorted());
  for (const name of DECLARED) expect(exported.get(name)?.samples, name).toBeGreaterThan(0);
});

test('names follow the conventions, those of the process and of Node too', async () => {
  const metrics = createMetrics({ version: '1.2.3' });
  useAll(metrics);
  const exported = [...parse(await metrics.text())];
  expect(exported.length).toBeGreaterThan(DECLARED.length + 10);
  for (const [name, { type, help }] of exported) {
    expect(name).toMatch(/^(tocsin|process|nodejs)_[a-z0-9_]*[a-z0-9]$/);
    expect(help, name).not.toBe('');
    expect(name.endsWith('_total'), name).toBe(type === 'counter');
    expect(name, name).not.toMatch(/_(milliseconds|ms|minutes|kilobytes|count|sum|bucket|gauge|counter|histogram)$/);
    expect(name, name).not.toMatch(new RegExp(`_${type}(_|$)`));
  }
});

test('the build says its version and its commit', async () => {
  const text = await createMetrics({ version: '1.2.3', revision: '0123456789ab' }).text();
  expect(text).toContain(`tocsin_build_info{version="1.2.3",revision="0123456789ab",node="${process.version}"} 1\n`);
});

test('two daemons in one process do not share their numbers', async () => {
  const [one, other] = [createMetrics({ version: '1' }), createMetrics({ version: '1' })];
  one.polls.inc({ service: 'main', source: 'inspections', outcome: 'ok' }, 7);
  expect(await one.text()).toContain('tocsin_polls_total{service="main",source="inspections",outcome="ok"} 7');
  expect(await other.text()).not.toContain('tocsin_polls_total{');
});

test('what has to be asked for is asked at every scrape, and never fails one', async () => {
  const metrics = createMetrics({ version: '1' });
  let asked = 0;
  metrics.onScrape(async () => {
    asked += 1;
    metrics.queueJobs.set({ queue: 'deliver-slack', state: 'waiting' }, asked);
  });
  metrics.onScrape(() => Promise.reject(new Error('Redis is away')));
  metrics.onScrape(() => {
    throw new Error('at once');
  });
  expect(await metrics.text()).toContain('tocsin_queue_jobs{queue="deliver-slack",state="waiting"} 1');
  expect(await metrics.text()).toContain('tocsin_queue_jobs{queue="deliver-slack",state="waiting"} 2');
});

test('a refresh that hangs holds up no scrape', async () => {
  const metrics = createMetrics({ version: '1' });
  metrics.onScrape(() => new Promise(() => {}));
  let text: string | undefined;
  void metrics.text().then((answer) => {
    text = answer;
  });
  expect(await until('the scrape is answered', () => text)).toContain('tocsin_build_info{version="1"');
});

test('a refresh that hangs does not hold those after it, and what is known without it is shown', async () => {
  const metrics = createMetrics({ version: '1', refreshMs: 50 });
  let asked = 0;
  const ask = async (): Promise<void> => {
    asked += 1;
    if (asked === 1) await new Promise(() => {});
    metrics.deadDeliveries.set(asked);
  };
  const isUp = { isUp: 0 };
  metrics.onScrape(ask, () => metrics.redisUp.set(isUp.isUp));
  expect(await metrics.text()).toContain('tocsin_redis_up 0');
  isUp.isUp = 1;
  const text = await metrics.text();
  expect(text).toContain('tocsin_redis_up 1');
  expect(text).toContain('tocsin_dead_deliveries 2');
});

test('assessments that nobody documented make no time series of their own', () => {
  expect(['ok', 'suspecious', 'critical', 'x9', undefined].map(assessmentLabel)).toEqual([
    'ok',
    'suspecious',
    'critical',
    'other',
    'none',
  ]);
});

test('a blocked event loop shows at the next scrape, and no more at the one after', async () => {
  const metrics = createMetrics({ version: '1.2.3' });
  onTestFinished(metrics.loopDelay.stop);
  const longest = async (): Promise<number> =>
    Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(await metrics.text())?.[1]);
  await longest();
  const end = performance.now() + 300;
  while (performance.now() < end);
  await sleep(10);
  expect(await longest()).toBeGreaterThanOrEqual(0.29);
  await sleep(10);
  expect(await longest()).toBeLessThan(0.29);
});

test('what was counted of a service goes with it, and the rest stays', async () => {
  const metrics = createMetrics({ version: '1' });
  for (const service of ['old', 'kept']) {
    metrics.serviceUp.set({ service }, 0);
    metrics.polls.inc({ service, source: 'inspections', outcome: 'read' });
    metrics.alerts.inc({ service, source: 'inspections', protocol: 'Vault' });
  }
  metrics.redisUp.set(1);
  await metrics.keepServices(['kept']);
  const text = await metrics.text();
  expect(text).not.toContain('service="old"');
  expect(text.match(/service="kept"/g)?.length).toBeGreaterThan(2);
  expect(text).toContain('tocsin_redis_up 1');
});

test('shows what no screen draws in a label, wherever the label comes from, and stays a text that Prometheus reads', async () => {
  const metrics = createMetrics({ version: '1' });
  const names = ['Va\u202Eult', 'Va\u200bult', 'Va\u001b[2Jult', 'Va\u2028ult', 'Va\u{e0041}ult', 'Va\ud800ult'];
  for (const name of names) {
    metrics.alerts.inc({ service: 'main', protocol: name, source: 'inspections' });
    metrics.protocolCursorLag.set({ service: 'main', protocol: name, source: 'inspections' }, 3);
    metrics.destinationInfo.set({ kind: 'slack', destination: 'x', label: name }, 1);
  }
  metrics.alerts.inc({ service: 'main', protocol: 'Zür\n"i\\ch', source: 'inspections' });
  const text = await metrics.text();
  expect(text).not.toMatch(/[^\P{C}\n]|\p{Zl}/u);
  const shown = [...text.matchAll(/^tocsin_(?:alerts_total|protocol_cursor_lag_seconds)\{.*protocol="(.*?)",source/gm)];
  const escaped = ['Va\\\\u202eult', 'Va\\\\u200bult', 'Va\\\\u001b[2Jult', 'Va\\\\u2028ult'];
  const astral = ['Va\\\\udb40\\\\udc41ult', 'Va\\\\ud800ult'];
  expect(shown.map(([, name]) => name)).toEqual([...escaped, ...astral, 'Zür\\n\\"i\\\\ch', ...escaped, ...astral]);
});
