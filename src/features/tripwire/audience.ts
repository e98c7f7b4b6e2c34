/** Who hears of which changes. Pure. */
import { type Destination, isHuman } from '../../alert.ts';
import type { Change } from './changes.ts';
import type { WatchedSettings } from './settings.ts';

/** Where alerts of a protocol went and go. */
export interface ChangeRoutes {
  before: readonly Destination[];
  after: readonly Destination[];
}

const listsPeople = ({ channels }: WatchedSettings): boolean =>
  channels.some(
    ({ name, contacts = [], url }) => isHuman({ kind: name }) && (contacts.length > 0 || url !== undefined),
  );

/**
 * Somebody read its alerts, and nobody does now; by the service's channels, or by those of them that the config sets up. A
 * person whom the config adds stays.
 */
export const hasLostPeople = (change: Change, { before, after }: ChangeRoutes): boolean =>
  change.kind === 'changed' &&
  !after.some(isHuman) &&
  (before.some(isHuman) || (listsPeople(change.before) && !listsPeople(change.after)));

/** Its only news are destinations that wait for approval, which is announced by itself when they get an alert. */
export const isOnlyHeld = (
  change: Change,
  { before, after }: ChangeRoutes,
  isOpen: (destination: Destination) => boolean,
): boolean => {
  if (change.kind !== 'changed' || change.aspects.some((aspect) => aspect !== 'channels')) return false;
  const ids = new Set(before.map(({ id }) => id));
  const added = after.filter(({ id }) => !ids.has(id));
  return added.length > 0 && added.length + before.length === after.length && added.every((one) => !isOpen(one));
};

export interface AudienceInput extends ChangeRoutes {
  fallback: readonly Destination[];
  isCritical: boolean;
  /** It may be sent to. */
  isOpen(destination: Destination): boolean;
  /** It takes messages now, as far as is known. */
  isWell(destination: Destination): boolean;
}

/** Old and new destinations; with the fallback where it is critical, or where no person among them can be reached. */
export const audienceOf = ({
  before,
  after,
  fallback,
  isCritical,
  isOpen,
  isWell,
}: AudienceInput): readonly Destination[] => {
  const own = [...before, ...after].filter(isOpen);
  const isHeard = own.some((one) => isHuman(one) && isWell(one));
  const all = isHeard && !isCritical ? own : [...own, ...fallback];
  return [...new Map(all.map((one) => [one.id, one])).values()];
};

export interface Group<T> {
  destinations: Destination[];
  changes: T[];
}

/**
 * Where too many changes at once would each be an announcement: destinations that hear of the same changes share one. None
 * hears of a change that is not for it.
 */
export const groupsOf = <T>(all: readonly { change: T; audience: readonly Destination[] }[]): Group<T>[] => {
  const heard = new Map<string, { destination: Destination; indices: number[] }>();
  for (const [index, { audience }] of all.entries()) {
    for (const destination of audience) {
      const one = heard.get(destination.id) ?? { destination, indices: [] };
      one.indices.push(index);
      heard.set(destination.id, one);
    }
  }
  const groups = Map.groupBy(heard.values(), ({ indices }) => indices.join());
  return [...groups.values()].map((members) => ({
    destinations: members.map(({ destination }) => destination),
    changes: (members[0]?.indices ?? []).flatMap((index) => all[index]?.change ?? []),
  }));
};
