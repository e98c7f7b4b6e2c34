/**
 * Which stored notifications of a history its inspections cover: the rule of live alerts, over what is sent again and not
 * over the ledger. The inspections have to come first.
 */
import type { Alert, Destination } from '../../alert.ts';
import type { Config } from '../../config/schema.ts';
import { correlationSettings, transactionsComparedBy } from './correlate.ts';
import { isInspection } from './match.ts';

export const createHistoryCorrelation = (config: Pick<Config, 'alerts' | 'poll'>) => {
  const { isOn } = correlationSettings(config);
  /** By service and destination, the transactions of the inspections that are sent there. */
  const sent = new Map<string, Set<string>>();
  const keyOf = ({ service }: Alert, { id }: Destination): string => `${id} ${service}`;

  const note = (alert: Alert, destinations: readonly Destination[]): void => {
    if (alert.txHash === undefined || !isInspection(alert)) return;
    for (const destination of destinations) {
      const key = keyOf(alert, destination);
      const hashes = sent.get(key) ?? new Set();
      sent.set(key, hashes.add(alert.txHash.toLowerCase()));
    }
  };

  /** Those of its destinations where no inspection covers an alert; what is sent there may cover later ones. */
  return (alert: Alert, destinations: readonly Destination[]): Destination[] => {
    if (!isOn) return [...destinations];
    note(alert, destinations);
    const hashes = transactionsComparedBy({ ...alert, replay: false });
    if (hashes.length === 0) return [...destinations];
    return destinations.filter((one) => !hashes.every((hash) => sent.get(keyOf(alert, one))?.has(hash)));
  };
};
