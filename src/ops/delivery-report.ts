/** What delivering tells metrics and the log. */
import type { Logger } from 'pino';
import type { AttemptEvent } from '../deliver/attempt.ts';
import type { Metrics } from './metrics.ts';

/** Items, and their transactions, that a line names. */
const MOST_NAMED = 5;

const seconds = (ms: number): number => ms / 1000;

const lineOf = ({ destination, alerts, ...told }: AttemptEvent): object => {
  const hashes = [...new Set(alerts.flatMap(({ txHash }) => txHash ?? []))];
  return {
    ...told,
    destination: destination.id,
    to: destination.label,
    protocol: alerts[0]?.protocol,
    alerts: alerts.length,
    ...(alerts.some(({ replay }) => replay) ? { replay: true } : {}),
    items: alerts.slice(0, MOST_NAMED).map(({ itemId }) => itemId),
    ...(hashes.length === 0 ? {} : { tx: hashes.slice(0, MOST_NAMED) }),
  };
};

/** The canonical line of an attempt, and its counts. */
export const reportAttempt = (log: Logger, metrics: Metrics, now: () => number) => (event: AttemptEvent) => {
  const { kind, destination, alerts, outcome, durationMs, reason } = event;
  metrics.deliveries.inc({ kind, destination: destination.id, outcome }, alerts.length);
  metrics.deliveryDuration.observe({ kind }, seconds(durationMs));
  if (reason !== undefined) metrics.deliveryFailures.inc({ kind, destination: destination.id, reason });
  // How old history is when it is replayed says nothing of how fast alerts travel.
  for (const { at } of outcome === 'delivered' ? alerts.filter(({ replay }) => !replay) : []) {
    metrics.alertLatency.observe({ kind }, Math.max(0, seconds(now() - Date.parse(at))));
  }
  const line = lineOf(event);
  if (outcome === 'delivered') log.info(line, 'delivered');
  else if (outcome === 'dead') log.error(line, 'delivery is dead');
  else log.warn(line, 'delivery will be tried again');
};
