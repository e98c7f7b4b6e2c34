/** One parcel for each destination: the new alerts of one page that go there; too many are cut into several parcels. */
import { type Alert, type Destination, isHuman, type Parcel } from '../alert.ts';
import { packed } from '../chunks.ts';
import { itemSize } from '../item.ts';

/** An alert and where it goes. */
export interface RoutedAlert {
  alert: Alert;
  destinations: readonly Destination[];
  /** Of a follow-up: ids of the destinations at which the alert that it follows was muted. */
  mutedAt?: ReadonlySet<Destination['id']>;
  /** Milliseconds that it waits for an alert that may cover it. */
  delayMs?: number;
}

/** For programs: large enough to be cheap, small enough to be repeated, and a page of 100 is whole ones. */
const PARCEL_ALERTS = 25;
/** For people: they get what one page brought as one digest. */
const DIGEST_ALERTS = 500;

/** A job is read, written and kept whole, and a worker has a hundred of them. */
const PARCEL_BYTES = 512 * 1024;

const cut = ({ destination, alerts }: Parcel): Parcel[] => {
  const least = Math.floor(PARCEL_BYTES / (isHuman(destination) ? DIGEST_ALERTS : PARCEL_ALERTS));
  const parts = packed(alerts, PARCEL_BYTES, ({ item }) => Math.max(least, itemSize(item)));
  return parts.map((part) => ({ destination, alerts: part }));
};

export const toParcels = (routed: readonly Pick<RoutedAlert, 'alert' | 'destinations'>[]): Parcel[] => {
  const byDestination = new Map<string, Parcel>();
  for (const { alert, destinations } of routed) {
    for (const destination of destinations) {
      const parcel = byDestination.get(destination.id) ?? { destination, alerts: [] };
      parcel.alerts.push(alert);
      byDestination.set(destination.id, parcel);
    }
  }
  return [...byDestination.values()].flatMap(cut);
};
