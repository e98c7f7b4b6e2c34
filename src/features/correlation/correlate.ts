/** Keeps a stored notification from being told where an inspection tells its transaction. In doubt it is told. */
import type { Logger } from 'pino';
import type { Alert, Destination } from '../../alert.ts';
import type { Store } from '../../app/store.ts';
import type { Config } from '../../config/schema.ts';
import { transactionsIn } from '../../service/transactions.ts';
import { coveringAlertAt, mayBeCovered } from './match.ts';

export interface CorrelationSettings {
  /** `alerts.correlate`. */
  isOn: boolean;
  /** Milliseconds that a notification waits for its inspection, which another poll brings. */
  waitMs: number;
}

export interface CorrelationDependencies extends CorrelationSettings {
  store: Pick<Store, 'ledger' | 'correlated'>;
  log: Pick<Logger, 'info' | 'warn'>;
}

/** Both are read at about the same moment, by polls of their own; whoever waits longer is late. */
const LONGEST_WAIT_MS = 3000;

/** A text with more hashes is a list of its own. */
const MOST_TRANSACTIONS = 20;

export const correlationSettings = ({ alerts, poll }: Pick<Config, 'alerts' | 'poll'>): CorrelationSettings => ({
  isOn: alerts.correlate && alerts.sources.includes('inspections'),
  waitMs: Math.min(LONGEST_WAIT_MS, poll.interval),
});

/** Which alerts are compared with inspections. Pure. */
export const comparisonOf = ({ isOn, waitMs }: CorrelationSettings) => {
  /** The transactions by which an alert is compared; none where it is sent anyway. */
  const hashesOf = (alert: Alert): string[] => {
    if (!isOn || !mayBeCovered(alert)) return [];
    const { message } = alert.item;
    const hashes = transactionsIn(typeof message === 'string' ? message : JSON.stringify(message ?? ''));
    return hashes.length > MOST_TRANSACTIONS ? [] : hashes;
  };
  return {
    hashesOf,
    /** Milliseconds that a stored notification waits for the inspection of its transaction. */
    waitOf: (alert: Alert): number | undefined => (hashesOf(alert).length > 0 ? waitMs : undefined),
  };
};

export const createCorrelation = ({ store: { ledger, correlated }, log, ...settings }: CorrelationDependencies) => {
  const { hashesOf, waitOf } = comparisonOf(settings);

  const booksOn = async (hash: string) => {
    const records = await Promise.all((await ledger.byTransaction(hash)).map(ledger.read));
    return records.filter((record) => record !== undefined);
  };

  /** Ends what needs no message; gives the rest. */
  const uncovered = async (alert: Alert, destinations: readonly Destination[]): Promise<Destination[]> => {
    const hashes = hashesOf(alert);
    if (hashes.length === 0) return [...destinations];
    const books = await Promise.all(hashes.map(booksOn));
    const rest: Destination[] = [];
    for (const destination of destinations) {
      const teller = coveringAlertAt(alert, destination.id, books);
      const isOver = teller !== undefined && (await correlated.end(alert, destination, teller));
      if (!isOver) rest.push(destination);
    }
    const { service, protocol, itemId } = alert;
    const line = { service, protocol, item: itemId, told: destinations.length - rest.length, sent: rest.length };
    if (rest.length < destinations.length) log.info(line, 'told with its inspection');
    return rest;
  };

  /** Those of an alert's destinations where it still has to be told. Never throws. */
  const uncoveredAt = async (alert: Alert, destinations: readonly Destination[]): Promise<Destination[]> => {
    try {
      return await uncovered(alert, destinations);
    } catch (error) {
      log.warn(
        { service: alert.service, item: alert.itemId, err: error },
        'not compared with inspections, so it is sent',
      );
      return [...destinations];
    }
  };

  return {
    uncoveredAt,
    /** The same for what waits for one destination. */
    uncovered: async (destination: Destination, alerts: readonly Alert[]): Promise<Alert[]> => {
      const rest = await Promise.all(alerts.map(async (alert) => (await uncoveredAt(alert, [destination])).length > 0));
      return alerts.filter((_, index) => rest[index]);
    },
    waitOf,
  };
};
