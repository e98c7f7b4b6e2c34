/**
 * Shares of a worker's places by protocol and destination, in one process. The queue alone would be first come, first
 * served: 50 receivers that hang would take all 50 places. A job that finds no place in its share waits here, and starts
 * when a job of its share ends; it takes no place meanwhile. If too many wait, those of the largest share go back into the
 * queue until their turn may have come, so that the worker sees who else is there.
 */
import { type Conducts, createConducts } from './conduct.ts';
import { createOccupancy } from './occupancy.ts';
import { type Claim, goesBackBefore, limitsOf, mayStart, startsBefore } from './share-rule.ts';
import { createTurnEstimate } from './turn-estimate.ts';

/** A place, or in how many milliseconds to ask again. */
export type Place = { leave(): void } | { againInMs: number };

export interface Shares extends Pick<Conducts, 'note' | 'probeMs'> {
  /** How many jobs a worker takes from its queue: those that run, and those that wait here. */
  jobs: number;
  enter(claim: Claim): Promise<Place>;
  /** Nobody waits here, and half of the places are free. */
  hasRoom(): boolean;
  /** What waits here, and what still comes, goes back into the queue at once. */
  close(): void;
}

interface Waiting {
  claim: Claim;
  decide(place: Place): void;
}

/** A worker that is full of jobs that must wait looks this often at what comes next: each look costs two trips to Redis. */
const LOOK_EVERY_MS = 20;

const firstOf = <T>(all: Iterable<T>, isBefore: (one: T, other: T) => boolean): T | undefined => {
  let first: T | undefined;
  for (const one of all) if (first === undefined || isBefore(one, first)) first = one;
  return first;
};

/** `places`: how many jobs run at once. */
export const createShares = (places: number): Shares => {
  const limits = limitsOf(places);
  const jobs = limits.places + limits.waiting;
  const conducts = createConducts();
  const running = { ...createOccupancy(), failing: () => failing.size };
  const failing = new Set<Claim>();
  const waiting = new Set<Waiting>();
  const waitingOf = createOccupancy();
  const estimate = createTurnEstimate(() => performance.now());
  let look: NodeJS.Timeout | undefined;
  let isClosed = false;

  const decide = (one: Waiting, place: Place): void => {
    waiting.delete(one);
    waitingOf.add(one.claim, -1);
    one.decide(place);
  };

  const placeOf = (claim: Claim): Place => {
    running.add(claim, 1);
    if (conducts.of(claim.destination) === 'failing') failing.add(claim);
    return {
      leave: () => {
        running.add(claim, -1);
        failing.delete(claim);
        estimate.ended(claim);
        startNext();
      },
    };
  };

  const isPossible = ({ claim }: Waiting): boolean => mayStart(claim, conducts.of(claim.destination), running, limits);

  /** After each end, and after each arrival. */
  const startNext = (): void => {
    while (running.all() < limits.places) {
      const next = firstOf([...waiting].filter(isPossible), (one, other) =>
        startsBefore(one.claim, other.claim, running),
      );
      if (next === undefined) break;
      decide(next, placeOf(next.claim));
    }
    lookAround();
  };

  const sendOneBack = (): void => {
    const last = firstOf(waiting, (one, other) => goesBackBefore(one.claim, other.claim, waitingOf));
    if (last) decide(last, { againInMs: estimate.waitOf(last.claim, waitingOf) });
  };

  /** Only while nothing moves: a job that ends makes room as well. */
  const lookAround = (): void => {
    clearTimeout(look);
    if (running.all() + waiting.size >= jobs) look = setTimeout(sendOneBack, LOOK_EVERY_MS);
  };

  return {
    jobs,
    note: conducts.note,
    probeMs: conducts.probeMs,
    enter: (claim) => {
      const { promise, resolve } = Promise.withResolvers<Place>();
      if (isClosed) resolve({ againInMs: 0 });
      else {
        waiting.add({ claim, decide: resolve });
        waitingOf.add(claim, 1);
        startNext();
      }
      return promise;
    },
    hasRoom: () => waiting.size === 0 && 2 * running.all() <= limits.places,
    close: () => {
      isClosed = true;
      for (const one of waiting) decide(one, { againInMs: 0 });
      clearTimeout(look);
    },
  };
};
