/**
 * Which inspections are others than their id says. The service gives the ids, and who can write there may give one that
 * people had an alert of to another transaction, or to one of another protocol: then it is another alert.
 */
import type { Alert } from '../alert.ts';
import { otherAlertId } from '../item.ts';
import type { Ledger } from './ledger.ts';

type Identified = Pick<Alert, 'id' | 'source' | 'protocol' | 'txHash'>;

/** One that names no transaction is the known one. One that names a transaction where none was named is news. */
const isSame = (known: Pick<Alert, 'protocol' | 'txHash'>, { protocol, txHash }: Identified): boolean =>
  known.protocol === protocol && (txHash === undefined || known.txHash?.toLowerCase() === txHash.toLowerCase());

/** The same alerts, each with the id that is its own. */
export const createDistinguish =
  (ledger: Pick<Ledger, 'summaries'>) =>
  async <T extends Identified>(alerts: readonly T[]): Promise<T[]> => {
    const known = await ledger.summaries(alerts.map(({ id }) => id));
    const firsts = new Map<Alert['id'], Pick<Alert, 'protocol' | 'txHash'>>();
    return alerts.map((alert, index) => {
      const first = known[index] ?? firsts.get(alert.id) ?? alert;
      firsts.set(alert.id, first);
      if (alert.source !== 'inspections' || isSame(first, alert)) return alert;
      return { ...alert, id: otherAlertId(alert.id, alert.protocol, alert.txHash?.toLowerCase()) };
    });
  };
