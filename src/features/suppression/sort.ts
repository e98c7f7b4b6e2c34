/** What of an alert's deliveries is kept back, and why. Pure. */
import type { Alert, Destination } from '../../alert.ts';
import type { IsOpen } from '../approval/policy.ts';
import type { Muted, MuteOf } from '../mutes/match.ts';

/** As things are at one moment. */
export interface Restraints {
  muteOf: MuteOf;
  isOpen: IsOpen;
}

/** An alert's destinations, by what becomes of it there. */
export interface Sorted {
  /** Those that get it now. */
  destinations: Destination[];
  /** Those that hear of it when the mute ends. */
  muted: Muted[];
  /** Those that get it when they are approved. */
  held: Destination[];
}

/** One dispatch, with mutes and approvals as they were when it began; what they keep back is booked. */
export interface Restraint {
  /** Those of its destinations where an alert is sent now. `mutedBefore` as of `sortDestinations`. */
  pass(alert: Alert, destinations: readonly Destination[], mutedBefore?: ReadonlySet<string>): Promise<Destination[]>;
  /** Keeps what is held; durable when it resolves. */
  end(): Promise<void>;
}

/** `mutedBefore`: ids of the destinations at which the alert that this one follows was muted. */
export const sortDestinations = (
  alert: Alert,
  destinations: readonly Destination[],
  { muteOf, isOpen }: Restraints,
  mutedBefore: ReadonlySet<string> = new Set(),
): Sorted => {
  const sorted: Sorted = { destinations: [], muted: [], held: [] };
  for (const destination of destinations) {
    const mute = muteOf(alert, destination, mutedBefore.has(destination.id));
    if (mute) sorted.muted.push({ destination, mute });
    else if (isOpen(destination)) sorted.destinations.push(destination);
    else sorted.held.push(destination);
  }
  return sorted;
};
