/** The log line of an attempt, and its metrics. */
import { describe, expect, test } from 'vitest';
import type { Alert } from '../../src/alert.ts';
import { createDeliveryReport, type ReportedAttempt } from '../../src/ops/delivery-report.ts';
import { createMetrics } from '../../src/ops/metrics.ts';
import { destinationOf, notificationAlert } from '../support/alerts.ts';
import { hashOf, makeAlert } from '../support/numbered.ts';
import { createLines } from './lines.ts';

const DESTINATION = destinationOf('slack', 'C1');

const report = async (alerts: readonly Alert[], attempt: Partial<ReportedAttempt> = {}, now = Date.now) => {
  const { lines, log } = createLines();
  const metrics = createMetrics({ version: 'test' });
  createDeliveryReport({ log, metrics, now })({
    ...{ kind: 'slack', destination: DESTINATION, alerts, attempt: 1, outcome: 'delivered', durationMs: 70 },
    ...attempt,
  });
  return { line: lines[0], text: await metrics.text() };
};

const at = (ageMs: number, alert: Alert = makeAlert(0)): Alert => ({
  ...alert,
  at: new Date(9e11 - ageMs).toISOString(),
});

describe('the line', () => {
  test('names the first few items and their transactions, each once', async () => {
    const alerts = [makeAlert(0), ...[0, 1, 2, 3, 4, 5].map((n) => makeAlert(n))];
    const { line } = await report(alerts);
    expect(line).toMatchObject({ level: 'info', message: 'delivered' });
    expect(line?.fields).toMatchObject({
      destination: DESTINATION.id,
      to: [DESTINATION.label],
      alerts: 7,
      items: [0, 0, 1, 2, 3].map((n) => `item-${n}`),
      tx: [0, 1, 2, 3, 4].map(hashOf),
    });
    expect(line?.fields).not.toHaveProperty('replay');
  });

  test('has no transaction where the alerts have none', async () => {
    expect((await report([notificationAlert('Paused.')])).line?.fields).not.toHaveProperty('tx');
  });

  test('says that history is replayed', async () => {
    expect((await report([{ ...makeAlert(0), replay: true }])).line?.fields).toMatchObject({ replay: true });
  });

  test('is a warning while it is tried again and an error when it is dead, with the reason', async () => {
    const failure = { reason: 'rate-limited', code: 'ratelimited', message: 'wait', retryInMs: 3000 };
    const retrying = await report([makeAlert(0)], { outcome: 'retrying', ...failure });
    expect(retrying.line).toMatchObject({ level: 'warn', fields: { outcome: 'retrying', ...failure } });
    const dead = await report([makeAlert(0)], { outcome: 'dead', reason: 'forbidden' });
    expect(dead.line).toMatchObject({ level: 'error', message: 'delivery is dead', fields: { reason: 'forbidden' } });
  });
});

describe('the metrics', () => {
  const labels = (outcome: string): string => `kind="slack",destination="${DESTINATION.id}",outcome="${outcome}"`;

  test('count alerts, and time the attempt', async () => {
    const { text } = await report([makeAlert(0), makeAlert(1)]);
    expect(text).toContain(`tocsin_deliveries_total{${labels('delivered')}} 2`);
    expect(text).toContain('tocsin_delivery_duration_seconds_sum{kind="slack"} 0.07');
    expect(text).not.toMatch(/^tocsin_delivery_failures_total{/m);
  });

  test('count a failed message once, by its reason', async () => {
    const { text } = await report([makeAlert(0), makeAlert(1)], { outcome: 'retrying', reason: 'unreachable' });
    expect(text).toContain(`tocsin_deliveries_total{${labels('retrying')}} 2`);
    const failure = `kind="slack",destination="${DESTINATION.id}",reason="unreachable"`;
    expect(text).toContain(`tocsin_delivery_failures_total{${failure}} 1`);
    expect(text).not.toMatch(/^tocsin_alert_latency_seconds_count{/m);
  });

  test('measure the latency of what was delivered, but not of replayed alerts', async () => {
    const alerts = [at(3000), at(4000), { ...at(86_400_000), replay: true }];
    const { text } = await report(alerts, {}, () => 9e11);
    expect(text).toContain('tocsin_alert_latency_seconds_sum{kind="slack"} 7');
    expect(text).toContain('tocsin_alert_latency_seconds_count{kind="slack"} 2');
  });

  test('tell no latency of samples and of our own announcements: the service wrote neither', async () => {
    const others = ['test.sample', 'tocsin.destination.broken'].map((type) => at(60_000, { ...makeAlert(9), type }));
    const { text } = await report([at(3000), ...others], {}, () => 9e11);
    expect(text).toContain('tocsin_alert_latency_seconds_sum{kind="slack"} 3');
    expect(text).toContain('tocsin_alert_latency_seconds_count{kind="slack"} 1');
  });

  test("count no sample that failed: its address may be nobody's", async () => {
    const sample = { ...makeAlert(0), type: 'test.sample' };
    const { text } = await report([sample], { outcome: 'dead', reason: 'destination-dead' });
    expect(text).not.toMatch(/^tocsin_(deliveries|delivery_failures)_total{/m);
  });

  test('know no negative latency: the clock of the service may be ahead', async () => {
    const { text } = await report([at(-5000)], {}, () => 9e11);
    expect(text).toContain('tocsin_alert_latency_seconds_sum{kind="slack"} 0');
  });
});

test('a digest counts as one, with its alerts, once it is delivered', async () => {
  const alerts = [0, 1, 2].map((n) => makeAlert(n));
  const { line, text } = await report(alerts, { isDigest: true });
  expect(line?.fields).toMatchObject({ digest: true });
  expect(text).toContain('tocsin_digests_total{kind="slack"} 1');
  expect(text).toContain('tocsin_digest_alerts_total{kind="slack"} 3');
  const refused = await report(alerts, { isDigest: true, outcome: 'retrying', reason: 'retry' });
  expect(refused.text).not.toMatch(/^tocsin_digests_total{/m);
});
