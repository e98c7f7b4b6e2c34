/**
 * The slots of one destination, given to the protocols that wait there in turns; pure, over the state of its rate limit. No
 * slot belongs to anybody before it comes: reserved ahead of time for each message, those of a protocol with thousands would
 * put all others back.
 *
 * Each protocol has a line, and a message a number in its line. The line that was served least is next, as everywhere (see
 * `queue/fairness.ts`): so first come all that are number 1, then all that are number 2.
 */
import { protocolKey, TOCSIN } from '../alert.ts';
import { lineId } from '../item.ts';
import type { Slot, Ticket } from '../queue/job.ts';
import {
  cellRateOf,
  freeFrom,
  LATE_MS,
  type Line,
  NEAR_MS,
  next,
  type Rate,
  type RateState,
  slotAt,
  slotHeld,
  windowOf,
} from './rate-limit-rule.ts';

export type Place = Pick<Ticket, 'line' | 'number'>;

/** The most protocols that have a line of their own at one destination; what comes beyond that shares one. */
export const MOST_LINES = 100;
const OTHERS = 'others';

/** The last number in the line at `index` that goes before `number` in the line at `own`. */
const lastBefore = (index: number, own: number, number: number): number => (index < own ? number : number - 1);

/** Of batches for the address that others share the rate with: any protocol's alert may join one. */
export const MAIN_LINE = 'main';

/** These keep their line. Ours says what was changed: nobody's flood may crowd it out. */
const KEPT: ReadonlySet<string> = new Set([
  ...[OTHERS, MAIN_LINE],
  lineId(protocolKey({ service: TOCSIN, protocol: TOCSIN })),
]);

/** Below zero where `one` gives its line up before `other`: more waits in it, or as much and it is listed later. */
const bySize = (one: Line, other: Line): number =>
  other.last - other.served - (one.last - one.served) || (other.since ?? '').localeCompare(one.since ?? '');

const isOf = (line: Line, name: string): boolean => line.name === name || line.name.startsWith(`${name}.`);

/** Of a protocol that may have had a line before: tickets of that one do not count in the new one. */
const renamed = (name: string, lines: readonly Line[]): string =>
  `${name}.${1 + Math.max(...lines.map((line) => Number(line.name.split('.')[1] ?? 0)))}`;

/**
 * A place behind the last message of the line. A new line begins where the others are now. Where all lines are taken, the
 * longest gives way, as what has little waiting must not stand behind decoys; what was in it goes to the others. `mayOust`: else
 * it goes there itself, as each that has waited would oust the next.
 */
const joinEnd = (
  lines: readonly Line[],
  name: string,
  since?: string,
  mayOust = true,
): { lines: readonly Line[]; place: Place } => {
  const known = lines.find((line) => isOf(line, name));
  if (known) {
    const number = known.last + 1;
    return {
      lines: lines.map((line) => (line === known ? { ...known, last: number } : line)),
      place: { line: known.name, number },
    };
  }
  const served = lines.length === 0 ? 0 : Math.min(...lines.map((line) => line.served));
  const own: Line = { name, served, last: served + 1, ...(since !== undefined && { since }) };
  const isFull = lines.length >= MOST_LINES && !KEPT.has(name);
  const [longest = own] = isFull ? lines.filter((line) => !KEPT.has(line.name)).toSorted(bySize) : [];
  if (isFull && (!mayOust || bySize(longest, own) >= 0)) return joinEnd(lines, OTHERS);
  const line = isFull ? { ...own, name: renamed(name, lines) } : own;
  return {
    lines: [...lines.filter((each) => each !== longest), line],
    place: { line: line.name, number: line.last },
  };
};

/** The place that is held; without one, or if its line is gone, a place at the end. */
export const join = (
  lines: readonly Line[],
  name: string,
  { held, since, isLate = false }: { held?: Place | undefined; since?: string | undefined; isLate?: boolean } = {},
): { lines: readonly Line[]; place: Place } =>
  held && lines.some((line) => line.name === held.line && held.number <= line.last)
    ? { lines, place: held }
    : joinEnd(lines, name, since, held === undefined || isLate);

/** How many messages go before this one. */
export const aheadOf = (lines: readonly Line[], { line, number }: Place): { ofOwnLine: number; ofOthers: number } => {
  const own = lines.findIndex(({ name }) => name === line);
  const counts = lines.map(({ served, last }, index) =>
    Math.max(0, Math.min(last, lastBefore(index, own, number)) - served),
  );
  const ofOwnLine = counts[own] ?? 0;
  return { ofOwnLine, ofOthers: counts.reduce((sum, count) => sum + count, 0) - ofOwnLine };
};

const withServed = (lines: readonly Line[], servedOf: (line: Line, index: number) => number): readonly Line[] =>
  lines.map((line, index) => ({ ...line, served: servedOf(line, index) })).filter((line) => line.served < line.last);

/** The message got its slot. One that it passed in its line takes its number. */
export const served = (lines: readonly Line[], { line }: Place): readonly Line[] =>
  withServed(lines, (each) => (each.name === line ? each.served + 1 : each.served));

/** The message got its slot. Those that should have gone before it and did not come no longer count. */
export const servedAlone = (lines: readonly Line[], { line, number }: Place): readonly Line[] => {
  const own = lines.findIndex(({ name }) => name === line);
  return withServed(lines, (each, index) =>
    Math.max(each.served, Math.min(each.last, index === own ? number : lastBefore(index, own, number))),
  );
};

/** Where the slot is free, but others go first, a job asks again no sooner than this, in milliseconds. */
const LEAST_WAIT_MS = 50;

/** After slots stood free, this many times the usual number of jobs is asked to come. */
const CATCH_UP = 2;

/**
 * A delayed job comes up to 100 ms late. At a fast rate it may pass as many of its own line as have their slots in this
 * time, in milliseconds, and those of other lines where the slot has waited as long: else all would wait for one that is
 * late, and too many would ask in vain.
 */
const PASS_MS = 200;

const passableAt = (rate: Rate): number =>
  Math.floor(PASS_MS / (cellRateOf(rate)?.interval ?? Number.POSITIVE_INFINITY));

/** What a job holds already; it has a slot if the provider named a wait. */
export interface Held {
  slot?: Slot | undefined;
  ticket?: Ticket | undefined;
  /** Since when the service lists its protocol, as far as that is known. */
  listedSince?: string | undefined;
}

/** When the slot comes before which so many others are used, as far as a minute's window says. */
const windowAt = (state: RateState, rate: Rate, ahead: number): number => {
  const window = windowOf(rate);
  if (!window) return 0;
  const oldest = state.latest[window.count - 1 - (ahead % window.count)];
  const first = oldest === undefined ? freeFrom(state, rate) : oldest + window.length;
  return first + Math.floor(ahead / window.count) * window.length;
};

/**
 * The same of all limits: rather too early than too late. Where slots stood free, as those whose turn it was came late, up
 * to twice as many come in the same time until that is made good.
 */
const expected = (state: RateState, now: number, rate: Rate, ahead: number): number => {
  const freeAt = freeFrom(state, rate);
  const cellMs = ahead * (cellRateOf(rate)?.interval ?? 0);
  const leastMs = Math.max(freeAt > now ? 0 : LEAST_WAIT_MS, cellMs / CATCH_UP);
  const at = Math.ceil(Math.max(freeAt + cellMs, windowAt(state, rate, ahead), now + leastMs));
  return freeAt > now ? at : Math.min(at, freeAt + LATE_MS + 1);
};

/** What a message has in a line: its slot, which has come, or a ticket with which it asks again. */
export type Queued = { slot: Slot; ticket?: undefined } | { slot?: undefined; ticket: Ticket };

/**
 * The slot of this moment, if it is the turn of this line, or a ticket. A slot that nobody came for in time is for the next
 * one that comes: a job that is gone must not stop the others.
 */
export const queue = (
  state: RateState,
  now: number,
  rate: Rate,
  line: string,
  held: Held = {},
): { state: RateState; slot: Queued } => {
  const slot = slotHeld(held.slot, state, now);
  if (slot) return { state, slot: { slot } };
  const { ticket, listedSince: since } = held;
  const isLate = ticket !== undefined && now - ticket.at > LATE_MS;
  const { lines, place } = join(state.lines, line, { held: ticket, since, isLate });
  const joined = lines === state.lines ? state : { ...state, lines };
  const { ofOwnLine, ofOthers } = aheadOf(lines, place);
  const hasWaited = ticket === place;
  const canPass = hasWaited ? passableAt(rate) : 0;
  const freeAt = freeFrom(state, rate);
  const isIdle = now - freeAt > LATE_MS;
  const mostOfOthers = now - freeAt > PASS_MS ? canPass - ofOwnLine : 0;
  const isNext = ofOwnLine <= canPass && ofOthers <= mostOfOthers;
  if (freeAt > now + NEAR_MS || !(isNext || isIdle)) {
    return { state: joined, slot: { ticket: { ...place, at: expected(state, now, rate, ofOwnLine + ofOthers) } } };
  }
  // Somebody has waited since before it was free: coming a little late must not make the pace slower.
  const isKept = hasWaited && !isIdle;
  const at = isKept ? Math.max(freeAt, Math.min(now, state.latest[0] ?? 0)) : Math.max(now, freeAt);
  const after = !isNext || canPass === 0 ? servedAlone(lines, place) : served(lines, place);
  const taken = next({ ...joined, lines: after }, now, rate, at);
  return { state: taken.state, slot: { slot: slotAt(taken.at, state) } };
};
