/** One parcel for each destination: the new alerts of one page that go there; too many are cut into several parcels. */
import { isHuman, type Parcel } from '../alert.ts';
import { chunksOf } from '../chunks.ts';
import type { RoutedAlert } from './stage.ts';

/** For programs: large enough to be cheap, small enough to be repeated. */
const PARCEL_ALERTS = 20;
/** For people: they get what one page brought as one digest. */
const DIGEST_ALERTS = 500;

const cut = ({ destination, alerts }: Parcel): Parcel[] =>
  chunksOf(alerts, isHuman(destination) ? DIGEST_ALERTS : PARCEL_ALERTS).map((part) => ({ destination, alerts: part }));

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
