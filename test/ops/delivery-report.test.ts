/** The canonical line of an attempt. */
import { expect, test } from 'vitest';
import type { Alert } from '../../src/alert.ts';
import { reportAttempt } from '../../src/ops/delivery-report.ts';
import { createMetrics } from '../../src/ops/metrics.ts';
import { destinationOf, notificationAlert } from '../support/alerts.ts';
import { hashOf, makeAlert } from '../support/numbered.ts';

const lineOf = (alerts: readonly Alert[]): object | undefined => {
  const lines: object[] = [];
  const log = { info: (line: object) => void lines.push(line) } as unknown as Parameters<typeof reportAttempt>[0];
  const report = reportAttempt(log, createMetrics({ version: 'test' }), Date.now);
  const destination = destinationOf('slack', 'C1');
  report({ kind: 'slack', destination, alerts, attempt: 1, outcome: 'delivered', durationMs: 7 });
  return lines[0];
};

test('names the first few items and their transactions, each once', () => {
  const alerts = [makeAlert(0), ...[0, 1, 2, 3, 4, 5].map((n) => makeAlert(n))];
  expect(lineOf(alerts)).toMatchObject({
    alerts: 7,
    items: [0, 0, 1, 2, 3].map((n) => `item-${n}`),
    tx: [0, 1, 2, 3, 4].map(hashOf),
  });
  expect(lineOf([notificationAlert('Paused.')])).not.toHaveProperty('tx');
});
