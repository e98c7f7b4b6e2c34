/** What of an alert's deliveries is kept back, and why. Pure. */
import type { Alert, Destination } from '../alert.ts';
import type { IsOpen } from './gate.ts';
import type { Muted, MuteOf } from './mutes.ts';

/** As things are at one moment. */
export interface Restraints {
  muteOf: MuteOf;
  isOpen: IsOpen;
}

export interface Restrained {
  /** Those that get it now. */
  destinations: Destination[];
  /** Those that hear of it when the mute ends. */
  muted: Muted[];
  /** Those that get it when they are approved. */
  held: Destination[];
}

/** One dispatch, with mutes and approvals as they were when it began; what they keep back is booked. */
export interface Restraint {
  /** Those of its destinations where an alert is sent now. `mutedBefore` as of `restrain`. */
  pass(alert: Alert, destinations: readonly Destination[], mutedBefore?: ReadonlySet<string>): Promise<Destination[]>;
  /** Keeps what is held; durable when it resolves. */
  end(): Promise<void>;
}

/** `mutedBefore`: ids of the destinations at which the alert that this one follows was muted. */
export const restrain = (
  alert: Alert,
  destinations: readonly Destination[],
  { muteOf, isOpen }: Restraints,
  mutedBefore: ReadonlySet<string> = new Set(),
): Restrained => {
  const restrained: Restrained = { destinations: [], muted: [], held: [] };
  for (const destination of destinations) {
    const mute = muteOf(alert, destination, mutedBefore.has(destination.id));
    if (mute) restrained.muted.push({ destination, mute });
    else if (isOpen(destination)) restrained.destinations.push(destination);
    else restrained.held.push(destination);
  }
  return restrained;
};
