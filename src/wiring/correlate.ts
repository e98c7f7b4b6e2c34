/** Keeps a stored notification from being told where an inspection tells its transaction. In doubt it is told. */
import type { Logger } from 'pino';
import type { Alert, Destination } from '../alert.ts';
import { mayBeTold, tellerAt } from '../dispatch/correlate.ts';
import { transactionsIn } from '../service/transactions.ts';
import type { Store } from './store.ts';

export interface CorrelationDependencies {
  /** `alerts.correlate`. */
  isOn: boolean;
  /** Milliseconds that a notification waits for its inspection, which another poll brings. */
  waitMs: number;
  store: Pick<Store, 'ledger' | 'told'>;
  log: Pick<Logger, 'info' | 'warn'>;
}

/** A text with more hashes is a list of its own. */
const MOST_TRANSACTIONS = 20;

const hashesOf = ({ item: { message } }: Alert): string[] =>
  transactionsIn(typeof message === 'string' ? message : JSON.stringify(message ?? ''));

export const createCorrelation = ({ isOn, waitMs, store: { ledger, told }, log }: CorrelationDependencies) => {
  const booksOn = async (hash: string) => {
    const records = await Promise.all((await ledger.byTransaction(hash)).map(ledger.read));
    return records.filter((record) => record !== undefined);
  };

  /** Ends what needs no message; gives the rest. */
  const untold = async (alert: Alert, destinations: readonly Destination[]): Promise<Destination[]> => {
    const hashes = hashesOf(alert);
    if (hashes.length === 0 || hashes.length > MOST_TRANSACTIONS) return [...destinations];
    const books = await Promise.all(hashes.map(booksOn));
    const rest: Destination[] = [];
    for (const destination of destinations) {
      const teller = tellerAt(alert, destination.id, books);
      const isOver = teller !== undefined && (await told.end(alert, destination, teller));
      if (!isOver) rest.push(destination);
    }
    const { service, protocol, itemId } = alert;
    const line = { service, protocol, item: itemId, told: destinations.length - rest.length, sent: rest.length };
    if (rest.length < destinations.length) log.info(line, 'told with its inspection');
    return rest;
  };

  const isCandidate = (alert: Alert): boolean => isOn && mayBeTold(alert) && hashesOf(alert).length > 0;

  /** Those of an alert's destinations where it still has to be told. Never throws. */
  const untoldAt = async (alert: Alert, destinations: readonly Destination[]): Promise<Destination[]> => {
    if (!isCandidate(alert)) return [...destinations];
    try {
      return await untold(alert, destinations);
    } catch (error) {
      log.warn(
        { service: alert.service, item: alert.itemId, err: error },
        'not compared with inspections, so it is sent',
      );
      return [...destinations];
    }
  };

  return {
    untoldAt,
    /** The same for what waits for one destination. */
    untold: async (destination: Destination, alerts: readonly Alert[]): Promise<Alert[]> => {
      const rest = await Promise.all(alerts.map(async (alert) => (await untoldAt(alert, [destination])).length > 0));
      return alerts.filter((_, index) => rest[index]);
    },
    /** Milliseconds that a stored notification waits for the inspection of its transaction. */
    waitOf: (alert: Alert): number | undefined => (isCandidate(alert) ? waitMs : undefined),
  };
};
