/** How many jobs there are of each share and destination. */

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
