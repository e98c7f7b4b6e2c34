/**
 * The slots of one destination, given to the protocols that wait there in turns; pure, over the state of its rate limit. No
 * slot belongs to anybody before it comes: reserved ahead of time for each message, those of a protocol with thousands would
 * put all others back.
 *
 * A message gets a round, the one after that of its protocol's last message, and a number in it. So first come all that are
 * the first of their protocol, then all that are the second. The state counts what waits in each round and knows no
 * protocols: it is as small however many there are.
 */
import type { Slot, Ticket } from '../queue/job.ts';
import {
  cellRateOf,
  freeFrom,
  LATE_MS,
  NEAR_MS,
  next,
  type Rate,
  type RateState,
  type Round,
  slotAt,
  slotHeld,
  windowOf,
} from './rate-limit-rule.ts';

export type Place = Pick<Ticket, 'round' | 'number'>;

/** What is further away than so many rounds waits in the last one, in which each message takes a turn. */
export const MOST_ROUNDS = 100;
const LAST_ROUND = Number.MAX_SAFE_INTEGER;

/** What asks for a slot, and what it holds already; it has a slot if the provider named a wait. */
export interface Asking {
  slot?: Slot | undefined;
  ticket?: Ticket | undefined;
  /** Since when the service lists its protocol, as far as that is known. */
  listedSince?: string | undefined;
  /** What Tocsin says itself: nobody's flood may crowd it out. */
  isOwn?: boolean;
  /** A batch for the address that others share the rate with: alerts of any protocol may join it. */
  isMain?: boolean;
  /** The round of the last message of its line, as far as that is known. */
  last?: number;
}

const HOUR_MS = 3_600_000;

/** How early in a round a message comes, below one: Tocsin's and main batches are first, then who is listed longest. */
const OWN_LEAD = 60 / 64;
const MOST_LEAD = 56 / 64;

/** More each time that its age has grown by a fifth, up to two years: decoys are younger, however many they are. */
const leadOf = (listedSince: string | undefined, now: number): number => {
  const doubled = Math.log2(Math.max(1, (now - Date.parse(listedSince ?? '')) / HOUR_MS));
  return Math.min(MOST_LEAD, Math.floor(4 * doubled) / 64) || 0;
};

/** Main batches stand for many protocols, and have four messages in a round. */
const roundFor = ({ round, rounds }: RateState, now: number, asking: Asking): number => {
  const { isOwn, isMain, listedSince, last = Number.NEGATIVE_INFINITY } = asking;
  // Of a round that Redis has forgotten, or that nobody came for, nothing waits any more.
  const latest = Math.min(last, Math.max(round, rounds.at(-1)?.round ?? round));
  const lead = isOwn || isMain ? OWN_LEAD : leadOf(listedSince, now);
  const found = Math.max(round - lead, isMain ? latest + 1 / 4 : Math.ceil(latest) + 1);
  return found > round + MOST_ROUNDS ? LAST_ROUND : found;
};

/** A place behind the last message of the round. */
export const join = (rounds: readonly Round[], round: number): { rounds: readonly Round[]; place: Place } => {
  const { served, last } = rounds.find((each) => each.round === round) ?? { served: 0, last: 0 };
  const others = rounds.filter((each) => each.round !== round);
  const joined = [...others, { round, served, last: last + 1 }].toSorted((a, b) => a.round - b.round);
  return { rounds: joined, place: { round, number: last + 1 } };
};

/** It came late, or its turn is still to come. */
const isKnown = ({ round, rounds }: RateState, ticket: Ticket): boolean =>
  ticket.round <= round || rounds.some((each) => each.round === ticket.round && ticket.number <= each.last);

/** How many messages go before this one. */
export const aheadOf = (rounds: readonly Round[], { round, number }: Place): number =>
  rounds
    .filter((each) => each.round <= round)
    .map(({ served, last, ...each }) => Math.max(0, (each.round < round ? last : Math.min(last, number - 1)) - served))
    .reduce((sum, count) => sum + count, 0);

/** The round that is served. */
const present = ({ round, rounds: [first] }: RateState): number =>
  first?.round === LAST_ROUND ? round + 1 : Math.max(round, Math.ceil(first?.round ?? 0));

/**
 * The message got its slot. One that it passed takes its number. Where it was not its turn, those of the first round that
 * should have gone before it did not come, and no longer count; if they still come, they are next.
 */
export const served = (rounds: readonly Round[], { round, number }: Place, isNext: boolean): readonly Round[] =>
  rounds
    .map((each, index) => {
      const isOwn = each.round === round;
      const missed = isNext || index > 0 ? 0 : isOwn ? number - 1 : each.last;
      return { ...each, served: Math.max(each.served, missed) + (isOwn ? 1 : 0) };
    })
    .filter((each) => each.served < each.last);

/** Where the slot is free, but others go first, a job asks again no sooner than this, in milliseconds. */
const LEAST_WAIT_MS = 50;

/** After slots stood free, this many times the usual number of jobs is asked to come. */
const CATCH_UP = 2;

/** When the slot comes before which so many others are used, as far as a minute's window says. */
const windowAt = (state: RateState, rate: Rate, ahead: number): number => {
  const window = windowOf(rate);
  if (!window) return 0;
  const oldest = state.latest[window.count - 1 - (ahead % window.count)];
  const first = oldest === undefined ? freeFrom(state, rate) : oldest + window.length;
  return first + Math.floor(ahead / window.count) * window.length;
};

/** The same of all limits: rather too early than too late. */
const slotAfter = (state: RateState, rate: Rate, ahead: number): number =>
  Math.max(freeFrom(state, rate) + ahead * (cellRateOf(rate)?.interval ?? 0), windowAt(state, rate, ahead));

/**
 * When a job asks again. Where slots stood free, as those whose turn it was came late, up to twice as many come in the same
 * time until that is made good.
 */
const expected = (state: RateState, now: number, rate: Rate, ahead: number): number => {
  const freeAt = freeFrom(state, rate);
  const cellMs = ahead * (cellRateOf(rate)?.interval ?? 0);
  const leastMs = Math.max(freeAt > now ? 0 : LEAST_WAIT_MS, cellMs / CATCH_UP);
  const at = Math.ceil(Math.max(slotAfter(state, rate, ahead), now + leastMs));
  return freeAt > now ? at : Math.min(at, freeAt + LATE_MS + 1);
};

/** Its slot, which has come, or a ticket with which it asks again. */
export type Queued = { slot: Slot; ticket?: undefined } | { slot?: undefined; ticket: Ticket };

/**
 * The slot of this moment, if it is the turn of who asks, or a ticket. A slot that nobody came for in time is for the next one
 * that comes: a job that is gone must not stop the others. `joined`: the round of one that had no place yet.
 */
export const queue = (
  state: RateState,
  now: number,
  rate: Rate,
  asking: Asking,
): { state: RateState; slot: Queued; joined?: number } => {
  const slot = slotHeld(asking.slot, state, now);
  if (slot) return { state, slot: { slot } };
  const { ticket } = asking;
  const hasWaited = ticket !== undefined && isKnown(state, ticket);
  const { rounds, place } = hasWaited
    ? { rounds: state.rounds, place: { round: ticket.round, number: ticket.number } }
    : join(state.rounds, roundFor(state, now, asking));
  const joined = hasWaited ? {} : { joined: place.round };
  const waiting = hasWaited ? state : { ...state, rounds };
  const ahead = aheadOf(rounds, place);
  // At a fast rate a job's slot comes while one before it is late, as delayed jobs are by up to 100 ms: it need not wait.
  const isNext = slotAfter(state, rate, ahead) <= now + NEAR_MS;
  const freeAt = freeFrom(state, rate);
  const isIdle = now - freeAt > LATE_MS;
  if (!(isNext || isIdle)) {
    return { state: waiting, slot: { ticket: { ...place, at: expected(state, now, rate, ahead) } }, ...joined };
  }
  // Somebody has waited since before it was free: coming a little late must not make the pace slower.
  const isKept = hasWaited && !isIdle;
  const at = isKept ? Math.max(freeAt, Math.min(now, state.latest[0] ?? 0)) : Math.max(now, freeAt);
  const after = { ...state, rounds: served(rounds, place, isNext), round: present(waiting) };
  const taken = next(after, now, rate, at);
  return { state: taken.state, slot: { slot: slotAt(taken.at, state) }, ...joined };
};
