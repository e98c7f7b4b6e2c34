/** Keeps a stored notification from being sent where inspections cover all its transactions. In doubt it is sent. */
import type { Logger } from 'pino';
import type { Alert, Destination } from '../../alert.ts';
import { longestIntervalMs } from '../../config/poll-interval.ts';
import type { Config } from '../../config/schema.ts';
import type { AlertRecord, Ledger } from '../../ledger/ledger.ts';
import { transactionsIn } from '../../service/transactions.ts';
import type { CoveredDeliveries } from './covered-deliveries.ts';
import { coveringAlertAt, mayBeCovered } from './match.ts';

export interface CorrelationSettings {
  /** `alerts.correlate`. */
  isOn: boolean;
  /** Milliseconds that a notification waits for its inspection, which another poll brings. */
  waitMs: number;
}

export interface CorrelationDependencies extends CorrelationSettings {
  ledger: Pick<Ledger, 'byTransaction' | 'read'>;
  covered: CoveredDeliveries;
  log: Pick<Logger, 'info' | 'warn'>;
}

/** Two polls bring the two at about the same moment; a notification that waits longer is late. */
const LONGEST_WAIT_MS = 3000;

/** A text with more hashes is a report of its own, and always sent. */
const MOST_TRANSACTIONS = 20;

export const correlationSettings = ({ alerts, poll }: Pick<Config, 'alerts' | 'poll'>): CorrelationSettings => ({
  isOn: alerts.correlate && alerts.sources.includes('inspections'),
  waitMs: Math.min(LONGEST_WAIT_MS, longestIntervalMs(poll)),
});

/** The transactions by which an alert is compared; none where it is sent anyway. */
export const transactionsComparedBy = (alert: Alert): string[] => {
  if (!mayBeCovered(alert)) return [];
  const { message } = alert.item;
  const hashes = transactionsIn(typeof message === 'string' ? message : JSON.stringify(message ?? ''));
  return hashes.length > MOST_TRANSACTIONS ? [] : hashes;
};

/** Which alerts are compared, and how long they wait for that. Pure. */
const comparisonOf = ({ isOn, waitMs }: CorrelationSettings) => {
  const comparedBy = (alert: Alert): string[] => (isOn ? transactionsComparedBy(alert) : []);
  return {
    comparedBy,
    /** Milliseconds that a stored notification waits for the inspection of its transaction. */
    delayOf: (alert: Alert): number | undefined => (comparedBy(alert).length > 0 ? waitMs : undefined),
  };
};

export const createCorrelation = ({ ledger, covered, log, ...settings }: CorrelationDependencies) => {
  const { comparedBy, delayOf } = comparisonOf(settings);

  const recordsOf = async (hash: string) => {
    const records = await Promise.all((await ledger.byTransaction(hash)).map(ledger.read));
    return records.filter((record) => record?.alert.txHash?.toLowerCase() === hash) as AlertRecord[];
  };

  /** Ends the deliveries that another alert covers; gives the other destinations. */
  const compare = async (alert: Alert, destinations: readonly Destination[]): Promise<Destination[]> => {
    const hashes = comparedBy(alert);
    if (hashes.length === 0) return [...destinations];
    const records = await Promise.all(hashes.map(recordsOf));
    const rest: Destination[] = [];
    for (const destination of destinations) {
      const covering = coveringAlertAt(alert, destination.id, records);
      const isCovered = covering !== undefined && (await covered.end(alert, destination, covering));
      if (!isCovered) rest.push(destination);
    }
    const { service, protocol, itemId } = alert;
    const line = { service, protocol, item: itemId, covered: destinations.length - rest.length, sent: rest.length };
    if (rest.length < destinations.length) log.info(line, 'an inspection covers this notification');
    return rest;
  };

  /** Those of an alert's destinations where no inspection covers it. Never throws. */
  const uncoveredAt = async (alert: Alert, destinations: readonly Destination[]): Promise<Destination[]> => {
    try {
      return await compare(alert, destinations);
    } catch (error) {
      const line = { service: alert.service, item: alert.itemId, err: error };
      log.warn(line, 'a notification could not be compared with inspections; sending it');
      return [...destinations];
    }
  };

  return {
    uncoveredAt,
    /** Those of the alerts that wait for one destination and that no inspection covers there. */
    uncovered: async (destination: Destination, alerts: readonly Alert[]): Promise<Alert[]> => {
      const rest = await Promise.all(alerts.map(async (alert) => (await uncoveredAt(alert, [destination])).length > 0));
      return alerts.filter((_, index) => rest[index]);
    },
    delayOf,
  };
};
