/**
 * Shares of a worker's places by protocol and destination, in one process. The queue alone would be first come, first
 * served: 50 receivers that hang would take all 50 places. A job that finds no place in its share waits here, and starts
 * when a job of its share ends; it takes no place meanwhile. If too many wait, those of the largest share go back into the
 * queue until their turn may have come, so that the worker sees who else is there.
 */
import { isConclusive } from '../errors.ts';
import {
  type Claim,
  type Conduct,
  createOccupancy,
  goesBackBefore,
  limitsOf,
  mayStart,
  type Occupancy,
  type Owner,
  startsBefore,
} from './share-rule.ts';

// What the last try at each destination was like, as far as this process remembers.

export interface Tried {
  /** Absent where the message was taken. */
  reason?: string;
  durationMs: number;
}

interface Conducts {
  of(destination: string): Conduct;
  /** Milliseconds that the next try may take, where the last ones timed out; undefined: the whole timeout. */
  probeMs(destination: string): number | undefined;
  note(destination: string, tried: Tried): void;
}

/** An answer that takes longer holds its place longer than others can wait for one. */
const SLOW_MS = 2000;

/** A receiver that hangs holds a place for so long, and longer only if it has answered more slowly before. */
const PROBE_MS = 5000;

/** Every third try in a row has the whole time: a receiver that is slow now gets its messages, too. */
const WHOLE_EVERY = 3;

/** Destinations that are slow or fail, of which one process remembers so many; the oldest are forgotten first. */
const MOST_REMEMBERED = 10_000;

interface Known {
  conduct: Conduct;
  /** Tries in a row that failed without an answer in time. */
  hangs: number;
  /** How long the last message took that it accepted. */
  answeredMs: number;
}

const after = (before: Known | undefined, { reason, durationMs }: Tried): Known => {
  const isSlow = durationMs > SLOW_MS;
  if (reason === undefined || !isConclusive(reason)) {
    return { conduct: isSlow ? 'slow' : 'well', hangs: 0, answeredMs: durationMs };
  }
  return { conduct: 'failing', hangs: isSlow ? (before?.hangs ?? 0) + 1 : 0, answeredMs: before?.answeredMs ?? 0 };
};

const createConducts = (): Conducts => {
  const known = new Map<string, Known>();
  return {
    of: (destination) => known.get(destination)?.conduct ?? 'well',
    probeMs: (destination) => {
      const { hangs = 0, answeredMs = 0 } = known.get(destination) ?? {};
      return hangs % WHOLE_EVERY === 0 ? undefined : Math.max(PROBE_MS, 2 * answeredMs);
    },
    note: (destination, tried) => {
      const now = after(known.get(destination), tried);
      known.delete(destination);
      if (now.conduct === 'well') return;
      known.set(destination, now);
      const [oldest = ''] = known.keys();
      if (known.size > MOST_REMEMBERED) known.delete(oldest);
    },
  };
};

// When the turn of a job may come that goes back into the queue: by how often one of its share, and of its destination, ends.

export interface TurnEstimate {
  /** A job has ended. */
  ended(owner: Owner): void;
  /** Milliseconds; jobs that ask one after the other come back one after the other. */
  waitOf(owner: Owner, waiting: Occupancy): number;
}

/** As long as none has ended. */
const FIRST_GAP_MS = 250;
const LONGEST_GAP_MS = 15_000;
/** How much the last gap says of the next one. */
const WEIGHT = 0.3;
const WAIT = { leastMs: 100, mostMs: 60_000 };
/** Shares and destinations that a process remembers; those of which nothing ended for longest are forgotten first. */
const MOST_ESTIMATED = 5000;

interface Line {
  gapMs: number;
  endedAt: number;
  /** When the last one that went back comes again. */
  backAt: number;
}

/** `elapsed`: milliseconds by a clock that nobody sets. */
export const createTurnEstimate = (elapsed: () => number): TurnEstimate => {
  const lines = new Map<string, Line>();
  const lineOf = (name: string, now: number): Line =>
    lines.get(name) ?? { gapMs: FIRST_GAP_MS, endedAt: now, backAt: 0 };
  const remember = (name: string, line: Line): void => {
    lines.delete(name);
    lines.set(name, line);
    const [oldest = ''] = lines.keys();
    if (lines.size > MOST_ESTIMATED) lines.delete(oldest);
  };

  const note = (name: string, now: number): void => {
    const { gapMs, endedAt, backAt } = lineOf(name, now);
    const gap = Math.min(LONGEST_GAP_MS, now - endedAt);
    remember(name, { gapMs: gapMs + WEIGHT * (gap - gapMs), endedAt: now, backAt });
  };

  const backAtOf = (name: string, waiting: number, now: number): number => {
    const line = lineOf(name, now);
    const backAt = Math.max(now + waiting * line.gapMs, line.backAt + line.gapMs);
    remember(name, { ...line, backAt: Math.min(backAt, now + WAIT.mostMs) });
    return backAt;
  };

  return {
    ended: ({ share, destination }) => {
      const now = elapsed();
      note(`share ${share}`, now);
      note(`destination ${destination}`, now);
    },
    waitOf: ({ share, destination }, waiting) => {
      const now = elapsed();
      const ofShare = backAtOf(`share ${share}`, waiting.ofShare(share), now);
      const ofDestination = backAtOf(`destination ${destination}`, waiting.ofDestination(destination), now);
      return Math.min(WAIT.mostMs, Math.max(WAIT.leastMs, Math.ceil(Math.max(ofShare, ofDestination) - now)));
    },
  };
};

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
