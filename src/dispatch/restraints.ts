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
