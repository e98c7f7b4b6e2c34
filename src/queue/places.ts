/**
 * The places of a worker, shared by protocols and destinations, in one process. The queue alone would be first come, first
 * served: 50 receivers that hang would take all 50 places. A job that may not start waits here, without a place, until
 * another one ends. If too many wait, some of the protocol that has the most go back into the queue until their turn may
 * have come, so that the worker sees who else is there.
 */
import { createBoundedMap } from '../bounded-map.ts';
import { nextOf, urgencyRank } from './fairness.ts';
import { createResponsiveness, type Responsiveness, type Tried } from './responsiveness.ts';

/** Whose a job is. */
interface Owner {
  /** Its protocol, see `fairness.ts`. */
  key: string;
  /** Id of the destination. */
  destination: string;
}

/** What asks for a place. */
export interface Claim extends Owner {
  /** The job's priority in its queue. */
  priority: number;
  /** The send slot that it waited for has come: if it waits any longer, the slot is missed. */
  isDue: boolean;
}

/** How many jobs there are of each protocol and destination. */
export const createOccupancy = () => {
  const byKey = new Map<string, number>();
  const byDestination = new Map<string, number>();
  let all = 0;
  const add = (counts: Map<string, number>, name: string, by: number): void => {
    const count = (counts.get(name) ?? 0) + by;
    if (count === 0) counts.delete(name);
    else counts.set(name, count);
  };
  return {
    all: (): number => all,
    ofKey: (key: string): number => byKey.get(key) ?? 0,
    ofDestination: (id: string): number => byDestination.get(id) ?? 0,
    add: ({ key, destination }: Owner, by: 1 | -1): void => {
      all += by;
      add(byKey, key, by);
      add(byDestination, destination, by);
    },
  };
};
type Occupancy = Omit<ReturnType<typeof createOccupancy>, 'add'>;

const between = (least: number, value: number, most: number): number => Math.min(most, Math.max(least, value));

/** `places`: jobs that run at once, the kind's `concurrency`. */
export const limitsOf = (places: number) => {
  const reserve = places < 2 ? 0 : Math.max(1, Math.floor(places / 5));
  const few = between(1, Math.max(2, Math.floor(places / 6)), places - reserve);
  return {
    places,
    /** Of these, kept free for protocols of which nothing runs. */
    reserve,
    /** Jobs of one destination that run at once. */
    perDestination: { well: few, slow: Math.ceil(few / 2), failing: 1 },
    /** Jobs of all failing destinations together. */
    failing: Math.max(1, Math.floor(places / 5)),
    /** Jobs that wait in the process; what is beyond goes back into the queue for a while. */
    waiting: between(20, places, 200),
  };
};

/** A protocol may have all places but the reserve while nobody else needs them. */
export const mayStart = (
  { key, destination }: Claim,
  responsiveness: Responsiveness,
  running: Occupancy & { failing(): number },
  limits: ReturnType<typeof limitsOf>,
): boolean => {
  const isFailing = responsiveness === 'failing';
  const all = running.all();
  if (all >= limits.places || running.ofDestination(destination) >= limits.perDestination[responsiveness]) return false;
  if (isFailing && running.failing() >= limits.failing) return false;
  return all < limits.places - limits.reserve || (!isFailing && running.ofKey(key) === 0);
};

/** The urgent first; then what would miss its slot; then the protocol, and the destination, of which the least runs. */
export const nextToStart = <T extends Claim>(waiting: Iterable<T>, running: Occupancy): T | undefined =>
  nextOf(waiting, ({ priority, isDue, key, destination }) => [
    ...[urgencyRank(priority), isDue ? 0 : 1],
    ...[running.ofKey(key), running.ofDestination(destination)],
  ]);

/** What is not due; of the protocol, and in it the destination, of which the most wait; the least urgent; what came last. */
export const nextToGoBack = <T extends Claim>(waiting: Iterable<T>, counts: Occupancy): T | undefined =>
  nextOf([...waiting].reverse(), ({ priority, isDue, key, destination }) => [
    ...[isDue ? 1 : 0, -counts.ofKey(key), -counts.ofDestination(destination), -priority],
  ]);

/** How long the jobs of a protocol or destination take to end one after the other; as long as none has ended: */
const FIRST_GAP_MS = 250;
const LONGEST_GAP_MS = 15_000;
/** How much the last gap says of the next one. */
const WEIGHT = 0.3;
const WAIT = { leastMs: 100, mostMs: 60_000 };
/** Protocols and destinations that a process remembers. */
const MOST_ESTIMATED = 5000;

interface Gaps {
  gapMs: number;
  endedAt: number;
  /** When the last one that went back comes again. */
  backAt: number;
}

/** When a place may come for a job that goes back into the queue: by how often one of its protocol and destination ends. */
export const createEstimate = (monotonic: () => number) => {
  const known = createBoundedMap<string, Gaps>(MOST_ESTIMATED);
  const gapsOf = (name: string, now: number): Gaps =>
    known.get(name) ?? { gapMs: FIRST_GAP_MS, endedAt: now, backAt: 0 };

  const note = (name: string, now: number): void => {
    const { gapMs, endedAt, backAt } = gapsOf(name, now);
    const gap = Math.min(LONGEST_GAP_MS, now - endedAt);
    known.set(name, { gapMs: gapMs + WEIGHT * (gap - gapMs), endedAt: now, backAt });
  };

  const backAtOf = (name: string, waiting: number, now: number): number => {
    const gaps = gapsOf(name, now);
    const backAt = Math.max(now + waiting * gaps.gapMs, gaps.backAt + gaps.gapMs);
    known.set(name, { ...gaps, backAt: Math.min(backAt, now + WAIT.mostMs) });
    return backAt;
  };

  return {
    ended: ({ key, destination }: Owner): void => {
      const now = monotonic();
      note(`key ${key}`, now);
      note(`destination ${destination}`, now);
    },
    /** Milliseconds; jobs that ask one after the other come back one after the other. */
    waitMsOf: ({ key, destination }: Owner, waiting: Occupancy): number => {
      const now = monotonic();
      const ofKey = backAtOf(`key ${key}`, waiting.ofKey(key), now);
      const ofDestination = backAtOf(`destination ${destination}`, waiting.ofDestination(destination), now);
      return between(WAIT.leastMs, Math.ceil(Math.max(ofKey, ofDestination) - now), WAIT.mostMs);
    },
  };
};

/** A place, or in how many milliseconds to ask again. */
export type Place = { leave(): void } | { againInMs: number };

interface Waiting extends Claim {
  decide(place: Place): void;
}

/** A worker that is full of jobs that must wait looks this often at what comes next: each look costs two trips to Redis. */
const LOOK_EVERY_MS = 20;

export const createPlaces = (places: number) => {
  const limits = limitsOf(places);
  const jobs = limits.places + limits.waiting;
  const responsiveness = createResponsiveness();
  const failing = new Set<Claim>();
  const running = { ...createOccupancy(), failing: () => failing.size };
  const waiting = new Set<Waiting>();
  const waitingCounts = createOccupancy();
  const estimate = createEstimate(() => performance.now());
  let look: NodeJS.Timeout | undefined;
  let isClosed = false;

  const decide = (one: Waiting, place: Place): void => {
    waiting.delete(one);
    waitingCounts.add(one, -1);
    one.decide(place);
  };

  const placeFor = (claim: Claim): Place => {
    running.add(claim, 1);
    if (responsiveness.of(claim.destination) === 'failing') failing.add(claim);
    return {
      leave: () => {
        running.add(claim, -1);
        failing.delete(claim);
        estimate.ended(claim);
        startNext();
      },
    };
  };

  const isPossible = (one: Waiting): boolean => mayStart(one, responsiveness.of(one.destination), running, limits);

  /** After each end, and after each arrival. */
  const startNext = (): void => {
    while (running.all() < limits.places) {
      const next = nextToStart([...waiting].filter(isPossible), running);
      if (next === undefined) break;
      decide(next, placeFor(next));
    }
    lookAround();
  };

  const sendOneBack = (): void => {
    const next = nextToGoBack(waiting, waitingCounts);
    if (next) decide(next, { againInMs: estimate.waitMsOf(next, waitingCounts) });
  };

  /** Only while nothing moves: a job that ends makes room as well. */
  const lookAround = (): void => {
    clearTimeout(look);
    if (running.all() + waiting.size >= jobs) look = setTimeout(sendOneBack, LOOK_EVERY_MS);
  };

  return {
    /** How many jobs a worker takes from its queue: those that run, and those that wait here. */
    jobs,
    note: (destination: string, tried: Tried): void => responsiveness.note(destination, tried),
    probeMs: responsiveness.probeMs,
    enter: (claim: Claim): Promise<Place> => {
      const { promise, resolve } = Promise.withResolvers<Place>();
      if (isClosed) resolve({ againInMs: 0 });
      else {
        waiting.add({ ...claim, decide: resolve });
        waitingCounts.add(claim, 1);
        startNext();
      }
      return promise;
    },
    /** Nobody waits here, and half of the places are free. */
    hasRoom: (): boolean => waiting.size === 0 && 2 * running.all() <= limits.places,
    /** What waits here, and what still comes, goes back into the queue at once. */
    close: (): void => {
      isClosed = true;
      for (const one of waiting) decide(one, { againInMs: 0 });
      clearTimeout(look);
    },
  };
};

export type Places = ReturnType<typeof createPlaces>;
