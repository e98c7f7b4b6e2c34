/** What the ledger knows of the first alert of an inspection, and how its follow-up gets to people. */
import type { Logger } from 'pino';
import { type Alert, type Destination, isHuman } from '../../alert.ts';
import type { RoutedAlert } from '../../dispatch/stage.ts';
import { alertId } from '../../identity.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { DeliveryRecord } from '../../ledger/record.ts';
import type { FirstAlert } from './verdict.ts';

export interface FollowUpDependencies {
  ledger: Pick<Ledger, 'read'>;
  /** Where alerts of its protocol may go now, the fallback's destinations among them. */
  destinationsOf(alert: Alert): Promise<Destination[]>;
  /** Enqueues alerts whose destinations are known, but for what is muted or held. Gives how many parcels were queued. */
  dispatchRouted(alerts: readonly RoutedAlert[]): Promise<number>;
  log: Pick<Logger, 'info'>;
}

const TYPE = /^inspection\./;

/** Destinations that have the alert or will. People get a muted alert when the mute ends; programs do not. */
const isRecipient = ({ state, destination }: DeliveryRecord): boolean =>
  state === 'delivered' || state === 'waiting' || (state === 'muted' && isHuman(destination));

export const createFollowUps = ({ ledger, destinationsOf, dispatchRouted, log }: FollowUpDependencies) => {
  /** Ids of the destinations at which the alert that this one follows was muted. */
  const mutedBefore = async ({ followUp }: Alert): Promise<ReadonlySet<string>> => {
    const first = followUp && (await ledger.read(followUp.of));
    const deliveries = first?.deliveries ?? [];
    return new Set(deliveries.filter(({ state }) => state === 'muted').map(({ destination }) => destination.id));
  };

  return {
    firstAlertOf: async (service: string, itemId: string): Promise<FirstAlert | undefined> => {
      const record = await ledger.read(alertId(service, 'inspections', itemId));
      if (!record) return undefined;
      const destinations = record.deliveries.filter(isRecipient);
      return {
        alertId: record.alert.id,
        assessment: record.alert.type.replace(TYPE, ''),
        destinations: destinations.map(({ destination }) => destination.id),
      };
    },
    /** To those of the destinations that are still routed. No trigger is asked, as it let the first alert through. */
    followUp: async (alert: Alert, destinations: readonly string[]): Promise<void> => {
      const all = await destinationsOf(alert);
      const wanted = new Map(all.filter(({ id }) => destinations.includes(id)).map((one) => [one.id, one]));
      const routed = { alert, destinations: [...wanted.values()], mutedAt: await mutedBefore(alert) };
      const parcels = await dispatchRouted([routed]);
      const { service, protocol, itemId, type, followUp: change } = alert;
      log.info({ service, protocol, item: itemId, type, ...change, destinations: parcels }, 'follow-up');
    },
  };
};
