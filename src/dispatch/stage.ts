/** What the stages of dispatch hand on, and the one shape that they have. */
import type { Alert, Destination, Parcel } from '../alert.ts';

/** An alert and where it goes. */
export interface RoutedAlert {
  alert: Alert;
  destinations: readonly Destination[];
  /** Of a follow-up: ids of the destinations at which the alert that it follows was muted. */
  mutedAt?: ReadonlySet<Destination['id']>;
  /** Milliseconds that it waits for an alert that may cover it. */
  delayMs?: number;
}

/** Parcels that become jobs at the same time. */
export interface ParcelGroup {
  parcels: Parcel[];
  /** Milliseconds until the job may run. It leaves out alerts that another alert covers by then. Absent: at once. */
  delayMs?: number;
}

/** New alerts of one page on their way through the stages. */
export interface DispatchRun {
  alerts: readonly RoutedAlert[];
  /** Filled in by `pack`. */
  groups: readonly ParcelGroup[];
  /** Makes a deliberate repeat of the same alerts other jobs. */
  nonce?: string;
}

/** One step of dispatch: takes the run, does its part, and gives what goes on. */
export type DispatchStage<Dependencies> = (run: DispatchRun, dependencies: Dependencies) => Promise<DispatchRun>;
