/** Whether a stored notification says what an inspection has told already. Pure. */
import type { Alert } from '../../alert.ts';

/** What the books say of an alert that names a transaction. */
export interface Booked {
  alert: Pick<Alert, 'id' | 'service' | 'source' | 'type' | 'followUp'>;
  deliveries: readonly { state: string; destination: { id: string } }[];
}

/** Only what the service wrote itself, as news. */
export const mayBeCovered = ({ type, replay }: Alert): boolean => type === 'notification.created' && !replay;

const isInspection = ({ source, type, followUp }: Booked['alert']): boolean =>
  source === 'inspections' && type.startsWith('inspection.') && followUp === undefined;

/** Deliveries that people have, or will. */
const TOLD: readonly string[] = ['delivered', 'waiting'];

/**
 * The inspection's alert that tells a notification at a destination: every transaction that it names has to be told there
 * by one of the same service. `byTransaction`: the books on each of them, never empty.
 */
export const coveringAlertAt = (
  { service }: Alert,
  destination: string,
  byTransaction: readonly (readonly Booked[])[],
): Alert['id'] | undefined => {
  const isTold = ({ alert, deliveries }: Booked): boolean =>
    alert.service === service &&
    isInspection(alert) &&
    deliveries.some(({ state, destination: { id } }) => id === destination && TOLD.includes(state));
  const tellers = byTransaction.map((booked) => booked.find(isTold));
  return tellers.every((teller) => teller !== undefined) ? tellers[0]?.alert.id : undefined;
};
