/** One log line and the metrics for every attempt to deliver a message. */
import type { Logger } from 'pino';
import { type Alert, type ChannelKind, type Destination, hasTravelled, isSample } from '../alert.ts';
import type { Metrics } from './metrics.ts';

/** One attempt to deliver a message with these alerts, and what came of it. */
export interface ReportedAttempt {
  kind: ChannelKind;
  destination: Destination;
  alerts: readonly Alert[];
  attempt: number;
  outcome: 'delivered' | 'retrying' | 'dead';
  durationMs: number;
  /** Of our closed set of reasons; `code` is the provider's own word. Both absent where it was delivered. */
  reason?: string;
  code?: string;
  message?: string;
  retryInMs?: number;
  maybeDelivered?: boolean;
  providerId?: string;
  isDigest?: boolean;
}

interface DeliveryReportDependencies {
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  metrics: Metrics;
  /** Where traces are sent: the trace of an alert. */
  traceIdOf?(alert: Alert): string;
  now(): number;
}

/** A line names at most this many items, and this many of their transactions. */
const MOST_NAMED = 5;

const seconds = (ms: number): number => ms / 1000;

/** The log leaves out what is undefined. */
const lineOf = (one: ReportedAttempt, traceIdOf: DeliveryReportDependencies['traceIdOf']): object => {
  const { kind, attempt, outcome, durationMs, reason, code, message, retryInMs, maybeDelivered, providerId } = one;
  const { destination, alerts, isDigest } = one;
  const named = alerts.slice(0, MOST_NAMED);
  const hashes = new Set(alerts.flatMap(({ txHash }) => txHash ?? []));
  return {
    ...{ kind, attempt, outcome, durationMs, reason, code, message, retryInMs, maybeDelivered, providerId },
    destination: destination.id,
    to: [destination.label],
    protocol: alerts[0]?.protocol,
    alerts: alerts.length,
    digest: isDigest || undefined,
    replay: alerts.some(({ replay }) => replay) || undefined,
    items: named.map(({ itemId }) => itemId),
    traces: traceIdOf && named.map(traceIdOf),
    tx: hashes.size === 0 ? undefined : [...hashes].slice(0, MOST_NAMED),
  };
};

const count = (
  { kind, destination, alerts, outcome, durationMs, reason, isDigest = false }: ReportedAttempt,
  { metrics, now }: Omit<DeliveryReportDependencies, 'log'>,
): void => {
  metrics.deliveryDuration.observe({ kind }, seconds(durationMs));
  // `tocsin test` reports a sample's failure to its sender, and its address may be made up.
  if (outcome === 'delivered' || !alerts.every(isSample)) {
    metrics.deliveries.inc({ kind, destination: destination.id, outcome }, alerts.length);
    if (reason !== undefined) metrics.deliveryFailures.inc({ kind, destination: destination.id, reason });
  }
  if (outcome === 'delivered' && isDigest) {
    metrics.digests.inc({ kind });
    metrics.digestAlerts.inc({ kind }, alerts.length);
  }
  if (outcome !== 'delivered') return;
  const labels = { kind };
  const at = now();
  for (const alert of alerts) {
    if (hasTravelled(alert)) metrics.alertLatency.observe(labels, Math.max(0, seconds(at - Date.parse(alert.at))));
  }
};

export const createDeliveryReport =
  ({ log, ...dependencies }: DeliveryReportDependencies) =>
  (one: ReportedAttempt) => {
    count(one, dependencies);
    const line = lineOf(one, dependencies.traceIdOf);
    if (one.outcome === 'delivered') log.info(line, 'delivered');
    else if (one.outcome === 'dead') log.error(line, 'delivery is dead');
    else log.warn(line, 'delivery will be tried again');
  };
