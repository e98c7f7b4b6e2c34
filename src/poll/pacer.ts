/** The pace of this daemon's polls: a fixed interval, or what the budget of each service allows. */
import { type Budget, createBudget } from './budget.ts';
import { type Pace, paceOf } from './pace.ts';
import { type Stream, streamKey } from './stream.ts';
import { placeOf } from './turns.ts';

export interface PacerSettings {
  /** Milliseconds between two polls of a stream. */
  interval: number | 'auto';
  /** Requests a second to one service, of all daemons together. */
  requestsPerSecond: number;
  /** Milliseconds between two sweeps of a stream. */
  sweepEvery: number;
  /** Of `auto`, in milliseconds. */
  leastMs: number;
  longestMs: number;
}

export interface PacerDependencies {
  settings: PacerSettings;
  /** Called when the budget of a service becomes too small for its streams, and when it suffices again: undefined. */
  onBudget(service: string, needed: number | undefined): void;
  elapsed(): number;
}

/** How it stands with a service. */
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

const createServicePace = (service: string, { settings, onBudget, elapsed }: PacerDependencies) => {
  const { leastMs, longestMs, sweepEvery: sweepEveryMs, requestsPerSecond } = settings;
  const budget: Budget = createBudget(requestsPerSecond, elapsed);
  const busyUntil = new Map<string, number>();
  let [own, total] = [0, 0];
  let pace: Pace = { busyMs: longestMs, quietMs: longestMs, neededBudget: 0 };
  let reckonedAt = Number.NEGATIVE_INFINITY;
  let isTold = false;

  const tell = (allowed: number): void => {
    const isTooSmall = total > 0 && pace.neededBudget > allowed * TOLERANCE;
    if (isTooSmall !== isTold) onBudget(service, isTooSmall ? needed() : undefined);
    isTold = isTooSmall;
  };

  /** Of all daemons together. */
  const needed = (): number => Math.ceil((pace.neededBudget * total) / Math.max(1, own));

  const reckon = (): Pace => {
    const now = elapsed();
    if (now - reckonedAt < RECKON_MS) return pace;
    reckonedAt = now;
    for (const [key, until] of busyUntil) if (until < now) busyUntil.delete(key);
    const allowed = (budget.current() * own) / Math.max(1, total);
    const busy = Math.min(own, busyUntil.size);
    if (own > 0) pace = paceOf({ streams: own, busy, budget: allowed, sweepEveryMs, leastMs, longestMs });
    tell(allowed);
    return pace;
  };

  return {
    share: (ownStreams: number, allStreams: number): void => {
      [own, total] = [ownStreams, allStreams];
      reckonedAt = Number.NEGATIVE_INFINITY;
    },
    everyMs: (stream: Stream): number => (busyUntil.has(streamKey(stream)) ? reckon().busyMs : reckon().quietMs),
    gapMs: (): number => {
      const { quietMs, busyMs } = reckon();
      const busy = Math.min(own, busyUntil.size);
      const rate = (own - busy) / quietMs + busy / busyMs;
      return rate > 0 ? GAP_SHARE / rate : 0;
    },
    polled: (stream: Stream, alerts: number, answerMs: number | undefined): void => {
      if (alerts > 0) busyUntil.set(streamKey(stream), elapsed() + BUSY_MS);
      if (answerMs !== undefined) budget.answered(answerMs);
    },
    limited: budget.limited,
    state: (): PaceState => ({ everyMs: reckon().quietMs, ...(isTold ? { needed: needed() } : {}) }),
  };
};

export const createPacer = (dependencies: PacerDependencies) => {
  const { interval } = dependencies.settings;
  const services = new Map<string, ReturnType<typeof createServicePace>>();
  const totals = new Map<string, number>();
  const of = (service: string): ReturnType<typeof createServicePace> => {
    const known = services.get(service) ?? createServicePace(service, dependencies);
    services.set(service, known);
    return known;
  };
  const isAuto = interval === 'auto';
  const state = (service: string): PaceState => (isAuto ? of(service).state() : { everyMs: interval });
  return {
    /** So many streams of a service are this daemon's, of so many in all. */
    share: (service: string, own: number, total: number): void => {
      totals.set(service, own);
      of(service).share(own, total);
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
    togetherMs: (): number =>
      Math.min(LONGEST_TOGETHER_MS, ...[...totals.keys()].map((service) => TOGETHER_SHARE * state(service).everyMs)),
    state,
  };
};

export type Pacer = ReturnType<typeof createPacer>;
