/** The pace of this daemon's polls: a fixed interval, or what the budget of each service allows. */
import { getOrCreate } from '../bounded-map.ts';
import { type Stream, streamKey } from './stream.ts';

/** An answer of a well service takes less. */
const SLOW_MS = 2000;
/** What one sign of trouble leaves of the budget, at most once in so many milliseconds: several are of the same trouble. */
const LIMITED_SHARE = 0.5;
const SLOW_SHARE = 0.75;
const ONCE_IN_MS = 5000;
/** It is whole again after so many milliseconds without trouble, from nothing. */
const RECOVERY_MS = 120_000;
/** No less than this share of what the config allows. */
const LEAST_SHARE = 1 / 16;

/** How many requests a second a service bears: what the config allows, less while it is slow or says that it is too much. */
export const createBudget = (most: number, monotonic: () => number) => {
  let share = 1;
  let at = monotonic();
  let loweredAt = Number.NEGATIVE_INFINITY;

  const recover = (): void => {
    const now = monotonic();
    // Right after trouble it may still go on.
    if (now - loweredAt >= ONCE_IN_MS) share = Math.min(1, share + (now - at) / RECOVERY_MS);
    at = now;
  };
  const lower = (to: number): void => {
    recover();
    if (monotonic() - loweredAt < ONCE_IN_MS) return;
    loweredAt = monotonic();
    share = Math.max(LEAST_SHARE, share * to);
  };
  return {
    current: (): number => {
      recover();
      return most * share;
    },
    /** It answered, after so many milliseconds. */
    answered: (ms: number): void => {
      if (ms > SLOW_MS) lower(SLOW_SHARE);
    },
    limited: (): void => lower(LIMITED_SHARE),
  };
};

export interface PaceInput {
  /** Of this daemon, those that brought alerts lately included. */
  streams: number;
  busy: number;
  /** Requests a second that this daemon may make. */
  budget: number;
  /** Milliseconds between two sweeps of a stream. */
  sweepEveryMs: number;
  /** Never more often, never more seldom; milliseconds. */
  leastMs: number;
  longestMs: number;
}

/** What a sweep that finds nothing asks besides its poll. What there is to find is read at once, beyond the budget if need be. */
const SWEEP_REQUESTS = 1;

/** Of all polls these are only for busy streams, besides those that each stream has: the others hardly wait for them. */
const BUSY_SHARE = 0.1;

/**
 * How often each stream of a service is read, so that a budget of requests a second is kept. `neededBudget`: with which no
 * stream waits for longer than it may. Pure.
 */
export const paceOf = ({ streams, busy, budget, sweepEveryMs, leastMs, longestMs }: PaceInput) => {
  const sweeps = (SWEEP_REQUESTS * streams) / Math.max(sweepEveryMs, longestMs);
  const neededBudget = 1000 * (streams / longestMs + sweeps);
  const [most, least] = [1 / leastMs, 1 / longestMs];
  const within = (rate: number): number => Math.min(most, Math.max(least, rate));
  // Polls a millisecond. No poll is more than one sweep.
  const all = Math.max(budget / 1000 - sweeps, budget / 1000 / (1 + SWEEP_REQUESTS));
  const quiet = streams - busy;
  const extra = busy === 0 ? 0 : BUSY_SHARE * all;
  const wanted = within((all - extra) / streams + extra / Math.max(1, busy));
  // What the busy ones cannot use is for the others, and what those need at least is not for the busy ones.
  const quietRate = quiet === 0 ? wanted : within((all - busy * wanted) / quiet);
  const busyRate = busy === 0 ? wanted : within(Math.min(wanted, (all - quiet * quietRate) / busy));
  return { busyMs: 1 / busyRate, quietMs: 1 / Math.min(quietRate, busyRate), neededBudget };
};

export interface PacerSettings {
  interval: number | 'auto';
  /** Requests a second to one service, of all daemons together. */
  requestsPerSecond: number;
  /** Milliseconds between two sweeps of a stream. */
  sweepEvery: number;
  /** Of `auto`, in milliseconds. */
  leastMs: number;
  longestMs: number;
  /** Called when the budget of a service becomes too small for its streams, and when it suffices again: undefined. */
  onBudget(service: string, needed: number | undefined): void;
  monotonic(): number;
}

export interface PaceState {
  /** The longest that a stream waits between two polls, in milliseconds. */
  everyMs: number;
  /** Requests a second that would suffice, where the budget does not. */
  needed?: number;
}

/** Brought alerts within so many milliseconds. */
const BUSY_MS = 300_000;
/** The pace is reckoned again at most once in so many milliseconds. */
const RECKON_MS = 1000;
/** Turns of a service come no closer than this share of their average distance: what is late may catch up. */
const GAP_SHARE = 0.5;
/** Turns begin together that are due within this share of the time between two polls of a stream, but not more than that. */
const TOGETHER_SHARE = 1 / 50;
const LONGEST_TOGETHER_MS = 100;
/** A budget that is missed by less is met. */
const TOLERANCE = 1.02;

const createServicePace = (service: string, settings: PacerSettings) => {
  const { leastMs, longestMs, sweepEvery: sweepEveryMs, requestsPerSecond, onBudget, monotonic } = settings;
  const budget = createBudget(requestsPerSecond, monotonic);
  const busyUntil = new Map<string, number>();
  let [own, total] = [0, 0];
  let pace = { busyMs: longestMs, quietMs: longestMs, neededBudget: 0 };
  let reckonedAt = Number.NEGATIVE_INFINITY;
  let isTooSmall = false;

  /** Of all daemons together. */
  const needed = (): number => Math.ceil((pace.neededBudget * total) / Math.max(1, own));
  const busy = (): number => Math.min(own, busyUntil.size);

  const reckon = () => {
    const now = monotonic();
    if (now - reckonedAt < RECKON_MS) return pace;
    reckonedAt = now;
    for (const [key, until] of busyUntil) if (until < now) busyUntil.delete(key);
    const allowed = (budget.current() * own) / Math.max(1, total);
    if (own > 0) pace = paceOf({ streams: own, busy: busy(), budget: allowed, sweepEveryMs, leastMs, longestMs });
    const wasTooSmall = isTooSmall;
    isTooSmall = total > 0 && pace.neededBudget > allowed * TOLERANCE;
    if (isTooSmall !== wasTooSmall) onBudget(service, isTooSmall ? needed() : undefined);
    return pace;
  };

  return {
    assign: (ownStreams: number, allStreams: number): void => {
      [own, total] = [ownStreams, allStreams];
      reckonedAt = Number.NEGATIVE_INFINITY;
    },
    everyMs: (stream: Stream): number => (busyUntil.has(streamKey(stream)) ? reckon().busyMs : reckon().quietMs),
    gapMs: (): number => {
      const { quietMs, busyMs } = reckon();
      const rate = (own - busy()) / quietMs + busy() / busyMs;
      return rate > 0 ? GAP_SHARE / rate : 0;
    },
    polled: (stream: Stream, alerts: number, answerMs: number | undefined): void => {
      if (alerts > 0) busyUntil.set(streamKey(stream), monotonic() + BUSY_MS);
      if (answerMs !== undefined) budget.answered(answerMs);
    },
    limited: budget.limited,
    state: (): PaceState => ({ everyMs: reckon().quietMs, ...(isTooSmall ? { needed: needed() } : {}) }),
  };
};

export const createPacer = (settings: PacerSettings) => {
  const { interval } = settings;
  const services = new Map<string, ReturnType<typeof createServicePace>>();
  const totals = new Map<string, number>();
  const of = (service: string) => getOrCreate(services, service, () => createServicePace(service, settings));
  const isAuto = interval === 'auto';
  const state = (service: string): PaceState => (isAuto ? of(service).state() : { everyMs: interval });
  return {
    /** So many streams of a service are this daemon's, of so many in all. */
    assign: (service: string, own: number, total: number): void => {
      totals.set(service, own);
      of(service).assign(own, total);
    },
    everyMs: (stream: Stream): number => (isAuto ? of(stream.service).everyMs(stream) : interval),
    /** Spread over the whole interval, as a budget is by the second; else soon. */
    firstInMs: (stream: Stream): number => {
      if (!isAuto) return placeOf(stream, interval, totals.get(stream.service) ?? 0);
      return (Number.parseInt(streamKey(stream).slice(0, 8), 16) / 2 ** 32) * of(stream.service).everyMs(stream);
    },
    gapMs: (service: string): number => (isAuto ? of(service).gapMs() : 0),
    /** `answerMs`: how long one that found nothing took. */
    polled: (stream: Stream, alerts: number, answerMs: number | undefined): void =>
      of(stream.service).polled(stream, alerts, answerMs),
    limited: (service: string): void => of(service).limited(),
    togetherMs: (): number => {
      let ms = LONGEST_TOGETHER_MS;
      for (const service of totals.keys()) ms = Math.min(ms, TOGETHER_SHARE * state(service).everyMs);
      return ms;
    },
    state,
  };
};

export type Pacer = ReturnType<typeof createPacer>;

/** Over this many milliseconds the polls of one interval are spread; two for each where that is more. */
const SPREAD_MS = 2000;
const APART_MS = 2;

/**
 * Milliseconds from the start of an interval. Polls that all came at once would wait for each other, and their alerts with
 * them. Notifications come first: the transactions that they name are then in the poll of inspections that follows.
 */
export const placeOf = (stream: Stream, everyMs: number, streams: number): number => {
  if (stream.source === 'notifications') return 0;
  const spreadMs = Math.min(everyMs - 1, Math.max(SPREAD_MS, APART_MS * streams));
  return Number.parseInt(streamKey(stream).slice(0, 8), 16) % Math.max(1, spreadMs);
};
