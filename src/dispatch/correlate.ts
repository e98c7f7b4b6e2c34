/** Stage: leaves out alerts that another one covers at a destination; an alert that may be covered soon has to wait. */
import type { Alert, Destination } from '../alert.ts';
import type { DispatchStage, RoutedAlert } from './stage.ts';

export interface CorrelateDependencies {
  /** Those of its destinations where no other alert covers this one; the others are recorded as delivered. Default: all. */
  uncoveredAt?(alert: Alert, destinations: readonly Destination[]): Promise<readonly Destination[]>;
  /** Milliseconds to wait for an alert that may cover this one. Default: nothing waits. */
  delayOf?(alert: Alert): number | undefined;
}

export const correlate: DispatchStage<CorrelateDependencies> = async (run, { uncoveredAt, delayOf }) => {
  const alerts: RoutedAlert[] = [];
  for (const one of run.alerts) {
    const destinations = (await uncoveredAt?.(one.alert, one.destinations)) ?? one.destinations;
    const delayMs = delayOf?.(one.alert);
    if (destinations.length > 0) alerts.push({ ...one, destinations, ...(delayMs === undefined ? {} : { delayMs }) });
  }
  return { ...run, alerts };
};
