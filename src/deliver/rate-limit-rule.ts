/**
 * The rate limit of one destination or sender as pure functions over a small state. Every daemon, the tests and
 * `backtest` use these functions; `rate-limiter.ts` keeps the state. All moments are epoch milliseconds.
 */
import type { Slot } from '../queue/job.ts';
import { CLOCKS_DIFFER_MS, MINUTE_MS } from '../time.ts';

/** Messages; absent means no limit. */
export interface Rate {
  perSecond?: number;
  /** A sliding window: no minute, wherever it begins, has more. */
  perMinute?: number;
  /** This many may follow each other at once before `perSecond` holds. Default 1. */
  burst?: number;
}

/** A destination, or a sender that several destinations share, and how fast it is written to. */
export interface Pace {
  id: string;
  rate: Rate;
}

/** The messages of one round that wait at one destination: those after `served`, up to `last`. */
export interface Round {
  readonly round: number;
  readonly served: number;
  readonly last: number;
}

export interface RateState {
  /** Theoretical arrival time of the generic cell rate algorithm: `perSecond`. */
  readonly tat: number;
  /** Until then the provider takes nothing. */
  readonly hold: number;
  /** How far waits that the provider named have moved the slots, in milliseconds, all in all. */
  readonly shift: number;
  /** Until then the destination rests after its latest digest. */
  readonly rest: number;
  /** How many digests have followed each other. */
  readonly rests: number;
  /** Those in which messages wait, see `slot-turns.ts`; the lowest first. */
  readonly rounds: readonly Round[];
  /** The one that is served. */
  readonly round: number;
  /** When the state was last changed. */
  readonly at: number;
  /** The latest slots, newest first: those of the last minutes, at most as many as `perMinute` allows. */
  readonly latest: readonly number[];
}

export const EMPTY_STATE: RateState = {
  ...{ tat: 0, hold: 0, shift: 0, rest: 0, rests: 0, at: 0, latest: [] },
  ...{ rounds: [], round: 0 },
};

/** A slot that is so near, in milliseconds, is now: less is not worth a trip through the queue. */
export const NEAR_MS = 20;

/**
 * A job that comes this many milliseconds after its slot has missed it: otherwise all jobs that missed theirs in an outage
 * would be sent at once. A slot waits as long for the job whose turn it is; then the next job that comes gets it.
 */
export const LATE_MS = 2000;

/** The delay to the provider varies: a minute of ours must not be shorter than one of the provider's. */
const MARGIN_MS = 500;

/** After a digest: one second, doubled each time up to ten; it starts over after half a minute without a digest. */
const REST = { firstMs: 1000, longestMs: 10_000, startOverMs: 30_000, most: 20 };

/** The generic cell rate algorithm's two numbers, in milliseconds. */
export const cellRateOf = ({ perSecond, burst = 1 }: Rate) =>
  perSecond === undefined ? undefined : { interval: 1000 / perSecond, tolerance: ((burst - 1) * 1000) / perSecond };

/** No `length` of milliseconds has more than `count` slots. A fraction of a message a minute is one in a longer time. */
export const windowOf = ({ perMinute }: Rate) => {
  if (perMinute === undefined) return undefined;
  const count = Math.max(1, Math.floor(perMinute));
  return { count, length: Math.ceil((count * MINUTE_MS) / perMinute) + MARGIN_MS };
};

/**
 * The newest slot, and those of the last two minutes: no others limit anything, not even after a change of the config or
 * by the clock of another daemon. Without this a destination that gets little would read and write a whole minute's slots
 * each time.
 */
const recent = (latest: readonly number[], now: number): readonly number[] =>
  latest.filter((at, index) => index === 0 || at > now - 2 * MINUTE_MS - MARGIN_MS);

export const slotAt = (at: number, { shift }: RateState): Slot => ({ at: Math.ceil(at), shift });

/** Since when, or from when on, a message may be sent. */
export const freeFrom = ({ tat, hold: held, rest: rested, latest }: RateState, rate: Rate): number => {
  const cell = cellRateOf(rate);
  const window = windowOf(rate);
  const oldest = window && latest[window.count - 1];
  return Math.max(
    ...[held, rested, cell ? tat - cell.tolerance : 0],
    window && oldest !== undefined ? oldest + window.length : 0,
  );
};

/** The next free moment, and the state when it is taken. */
export const next = (
  state: RateState,
  now: number,
  rate: Rate,
  at = Math.max(now, freeFrom(state, rate)),
): { state: RateState; at: number } => {
  const cell = cellRateOf(rate);
  const window = windowOf(rate);
  // Nothing is counted: the state stays the same, and is not written again.
  if (!cell && !window) return { state, at };
  const tat = cell ? Math.max(at, state.tat) + cell.interval : state.tat;
  const latest = window ? [at, ...recent(state.latest, now).slice(0, window.count - 1)] : state.latest;
  return { state: { ...state, tat, latest }, at };
};

/** The latest moment in a state. */
export const lastMoment = ({ tat, hold: held, rest: rested, latest: [newest = 0] }: RateState): number =>
  Math.max(tat, held, rested, newest);

/**
 * Where the slot that a job holds is by now. Undefined if the job missed it, or if it lies beyond all that is reserved or
 * held up: then a clock was set back, and the job would wait until the old clock's moment.
 */
export const slotHeld = (held: Slot | undefined, state: RateState, now: number): Slot | undefined => {
  if (held === undefined) return undefined;
  const at = held.at + state.shift - held.shift;
  const isMissed = now - at > LATE_MS;
  const isBeyondAll = at > Math.max(now, lastMoment(state)) + CLOCKS_DIFFER_MS;
  return isMissed || isBeyondAll ? undefined : slotAt(at, state);
};

/** The next slot, now or later; one that is `held` already stays, as far as `slotHeld` says. */
export const reserve = (state: RateState, now: number, rate: Rate, held?: Slot): { state: RateState; slot: Slot } => {
  const slot = slotHeld(held, state, now);
  if (slot) return { state, slot };
  const taken = next(state, now, rate);
  return { state: taken.state, slot: slotAt(taken.at, taken.state) };
};

/** The slot of this moment, where it is free and nobody waits for it; else the same state. */
export const take = (state: RateState, now: number, rate: Rate): { state: RateState; slot: Slot | undefined } => {
  const freeAt = freeFrom(state, rate);
  const isAwaited = state.rounds.length > 0 && now - freeAt <= LATE_MS;
  if (freeAt > now + NEAR_MS || isAwaited) return { state, slot: undefined };
  const taken = next(state, now, rate);
  return { state: taken.state, slot: slotAt(taken.at, state) };
};

/**
 * The provider said to wait until then: every slot to come moves by what that adds. Answers to messages that were in
 * flight together add up to one wait, not to several. Gives the first slot afterwards.
 */
export const hold = (
  state: RateState,
  now: number,
  until: number,
  rate: Rate = {},
): { state: RateState; slot: Slot } => {
  const present = Math.max(now, state.hold);
  const more = Math.max(0, Math.ceil(until) - present);
  const move = (moment: number): number => (moment > now ? moment + more : moment);
  const { interval } = cellRateOf(rate) ?? {};
  const moved = {
    ...state,
    hold: present + more,
    shift: state.shift + more,
    // The message that is sent then counts, too.
    tat: Math.max(move(state.tat), interval === undefined ? 0 : present + more + interval),
    latest: state.latest.map(move),
  };
  return { state: moved, slot: slotAt(moved.hold, moved) };
};

/** A digest goes out now: the more of them follow each other, the longer until the next message. */
export const rest = (state: RateState, now: number): RateState => {
  const times = now - state.rest > REST.startOverMs ? 0 : state.rests;
  const ms = Math.min(REST.longestMs, REST.firstMs * 2 ** times);
  return { ...state, rest: now + ms, rests: Math.min(times + 1, REST.most) };
};

/**
 * A clock that was set back by an hour would wait that hour for every moment in the state. They move back with it, as if
 * no time had passed since the latest change, and so do the slots that jobs hold.
 */
export const movedBack = (state: RateState, now: number): RateState => {
  const by = state.at - now;
  if (by <= CLOCKS_DIFFER_MS) return state;
  const { tat, hold: held, shift, rest: rested, latest } = state;
  const moved = { tat: tat - by, hold: held - by, shift: shift - by, rest: rested - by, at: now };
  return { ...state, ...moved, latest: latest.map((slot) => slot - by) };
};

/** Nothing limits the destination's messages, and nothing holds them up at this moment. */
export const isFree = (state: RateState, now: number, { perSecond, perMinute }: Rate): boolean =>
  perSecond === undefined &&
  perMinute === undefined &&
  Math.max(state.hold, state.rest) <= now &&
  movedBack(state, now) === state;
