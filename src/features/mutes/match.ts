/** Which deliveries are muted, and by what. Pure. */
import { type Alert, type Destination, firedDetectors, isAnnouncement, isSample } from '../../alert.ts';
import { labelNow } from '../../channels/address.ts';
import { createGlobs } from '../../globs.ts';
import type { Mute } from '../../mute.ts';

/** A muted delivery, and the mute that hides it. */
export interface Muted {
  destination: Destination;
  mute: Mute;
}

/**
 * The mute that hides an alert from a destination; of several the one that lasts longest. `wasMuted`: the alert is a
 * follow-up of one that was muted there, so its detectors do not matter.
 */
export type MuteOf = (alert: Alert, destination: Destination, wasMuted?: boolean) => Mute | undefined;

/** What an operator asked for, and announcements, are sent whatever is muted. */
const isMutable = (alert: Alert): boolean => !(isAnnouncement(alert) || isSample(alert) || alert.replay);

const byEnd = (a: Mute, b: Mute): number => a.until.localeCompare(b.until);
const first = (mutes: readonly Mute[]): Mute | undefined => mutes.toSorted(byEnd)[0];
const last = (mutes: readonly Mute[]): Mute | undefined => mutes.toSorted(byEnd).at(-1);

const anyOr = (globs: readonly string[]): ((text: string) => boolean) =>
  globs.length === 0 ? () => true : createGlobs(globs);

const compile = (mute: Mute) => {
  const { detectors } = mute;
  const destinations = mute.destinations.map(labelNow);
  const isProtocol = anyOr(mute.protocols);
  return {
    mute,
    isWhole: detectors.length === 0,
    fits: ({ protocol }: Alert, { id, label }: Destination): boolean =>
      isProtocol(protocol) &&
      (destinations.length === 0 || destinations.includes(id) || destinations.includes(labelNow(label))),
    hasDetector: createGlobs(detectors),
  };
};

/** `never`: globs; an alert with such a detector is never muted. */
export const createMuteOf = (mutes: readonly Mute[], never: readonly string[]): MuteOf => {
  const compiled = mutes.map(compile);
  const isFloor = createGlobs(never);

  return (alert, destination, wasMuted = false) => {
    if (compiled.length === 0 || !isMutable(alert)) return undefined;
    const fired = firedDetectors(alert);
    if (fired.some(isFloor)) return undefined;
    const near = compiled.filter(({ fits }) => fits(alert, destination));
    const whole = near.filter(({ isWhole }) => isWhole || wasMuted).map(({ mute }) => mute);
    // Every detector that fired has to be muted: a single one that is not makes it news. A follow-up names none.
    const byDetector = alert.followUp
      ? []
      : fired.map((name) => last(near.filter(({ hasDetector }) => hasDetector(name)).map(({ mute }) => mute)));
    const known = byDetector.filter((mute) => mute !== undefined);
    const together = known.length === byDetector.length ? first(known) : undefined;
    return last([...whole, ...(together ? [together] : [])]);
  };
};
