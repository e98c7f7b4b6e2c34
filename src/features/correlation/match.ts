/** Whether inspections cover a stored notification: all transactions that it names. Pure. */
import type { Alert } from '../../alert.ts';

/** What the ledger says of an alert that names a transaction. */
export interface Recorded {
  alert: Pick<Alert, 'id' | 'service' | 'source' | 'type' | 'followUp'>;
  deliveries: readonly { state: string; destination: { id: string } }[];
}

/** Only what the service itself wrote, as news. */
export const mayBeCovered = ({ type, replay }: Alert): boolean => type === 'notification.created' && !replay;

export const isInspection = ({ source, type, followUp }: Recorded['alert']): boolean =>
  source === 'inspections' && type.startsWith('inspection.') && followUp === undefined;

/** Deliveries that people have, or will have. */
const SENT: readonly string[] = ['delivered', 'waiting'];

/**
 * The inspection's alert that covers a notification at a destination: an inspection of the same service has to be sent
 * there for every transaction that it names. `byTransaction`: the records of each of them, never empty.
 */
export const coveringAlertAt = (
  { service }: Alert,
  destination: string,
  byTransaction: readonly (readonly Recorded[])[],
): Alert['id'] | undefined => {
  const isCovering = ({ alert, deliveries }: Recorded): boolean =>
    alert.service === service &&
    isInspection(alert) &&
    deliveries.some(({ state, destination: { id } }) => id === destination && SENT.includes(state));
  const covering = byTransaction.map((records) => records.find(isCovering));
  return covering.every((one) => one !== undefined) ? covering[0]?.alert.id : undefined;
};
