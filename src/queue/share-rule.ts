/** Who may take a free place of a worker, and who comes first, as pure functions. */
import { urgencyRank } from './priority.ts';

// How many jobs there are of each share and destination.

/** Whose a job is. */
export interface Owner {
  /** A protocol, see `priority.ts`. */
  share: string;
  /** Id of the destination. */
  destination: string;
}

export interface Occupancy {
  all(): number;
  ofShare(share: string): number;
  ofDestination(destination: string): number;
}

export interface CountedOccupancy extends Occupancy {
  add(owner: Owner, by: 1 | -1): void;
}

const createCount = () => {
  const counts = new Map<string, number>();
  return {
    of: (name: string): number => counts.get(name) ?? 0,
    add: (name: string, by: 1 | -1): void => {
      const count = (counts.get(name) ?? 0) + by;
      if (count === 0) counts.delete(name);
      else counts.set(name, count);
    },
  };
};

export const createOccupancy = (): CountedOccupancy => {
  const shares = createCount();
  const destinations = createCount();
  let all = 0;
  return {
    all: () => all,
    ofShare: shares.of,
    ofDestination: destinations.of,
    add: ({ share, destination }, by) => {
      all += by;
      shares.add(share, by);
      destinations.add(destination, by);
    },
  };
};

/** What asks for a place. */
export interface Claim extends Owner {
  /** The job's priority in its queue. */
  priority: number;
  /** The send slot that it waited for has come: if it waits any longer, the slot is missed. */
  isDue: boolean;
}

/** What a destination's last try was like. */
export type Conduct = 'well' | 'slow' | 'failing';

/** Places of a worker, in one process. */
export interface ShareLimits {
  /** Jobs that run at once: the kind's `concurrency`. */
  places: number;
  /** Of these, kept free for protocols of which nothing runs. */
  reserve: number;
  /** Jobs of one destination that run at once, by what its last try was like. */
  perDestination: Record<Conduct, number>;
  /** Jobs of all failing destinations together. */
  failing: number;
  /** Jobs that wait in the process for their share; what is beyond goes back into the queue for a while. */
  waiting: number;
}

const between = (least: number, value: number, most: number): number => Math.min(most, Math.max(least, value));

export const limitsOf = (places: number): ShareLimits => {
  const reserve = places < 2 ? 0 : Math.max(1, Math.floor(places / 5));
  const few = between(1, Math.max(2, Math.floor(places / 6)), places - reserve);
  return {
    places,
    reserve,
    perDestination: { well: few, slow: Math.ceil(few / 2), failing: 1 },
    failing: Math.max(1, Math.floor(places / 5)),
    waiting: between(20, places, 200),
  };
};

/** A protocol may have all places but the reserve while nobody else needs them. */
export const mayStart = (
  { share, destination }: Claim,
  conduct: Conduct,
  running: Occupancy & { failing(): number },
  limits: ShareLimits,
): boolean => {
  const isFailing = conduct === 'failing';
  const all = running.all();
  if (all >= limits.places || running.ofDestination(destination) >= limits.perDestination[conduct]) return false;
  if (isFailing && running.failing() >= limits.failing) return false;
  return all < limits.places - limits.reserve || (!isFailing && running.ofShare(share) === 0);
};

const compare = (one: readonly number[], other: readonly number[]): number => {
  const index = one.findIndex((key, at) => key !== other[at]);
  return index === -1 ? 0 : (one[index] ?? 0) - (other[index] ?? 0);
};

/** The urgent first; then what would miss its slot; then the protocol, and the destination, of which the least runs. */
export const startsBefore = (one: Claim, other: Claim, running: Occupancy): boolean => {
  const keysOf = ({ priority, isDue, share, destination }: Claim): number[] => [
    urgencyRank(priority),
    isDue ? 0 : 1,
    running.ofShare(share),
    running.ofDestination(destination),
  ];
  return compare(keysOf(one), keysOf(other)) < 0;
};

/** Of the share, and in it the destination, of which the most wait, the least urgent, which came last; what is due only if nothing else is left. */
export const goesBackBefore = (one: Claim, other: Claim, waiting: Occupancy): boolean => {
  const keysOf = ({ priority, isDue, share, destination }: Claim): number[] => [
    isDue ? 0 : 1,
    waiting.ofShare(share),
    waiting.ofDestination(destination),
    priority,
  ];
  return compare(keysOf(one), keysOf(other)) >= 0;
};
