/** Which protocols are newly unread, and which of the announced ones are read again. Pure. */
import { type Announced, type Over, overAmong } from '../conditions/store.ts';

/** An announcement: without members it is the service as a whole, else these protocols. */
const isWhole = ({ members }: Pick<Announced, 'members'>): boolean => members.length === 0;

/** Stands for the service beside names of protocols. */
export const WHOLE = '';

/** The reads of one protocol, the worst of its sources. */
export interface Reading {
  wasRead: boolean;
  /** Milliseconds since it was last read, or since that was first watched. */
  unreadMs: number;
}

/** All in milliseconds. */
export interface Limits {
  /** Unread for at least this long is blindness, and then news. */
  unreadAfter: number;
  tellAfter: number;
  /** Unread for less than this is normal. */
  usual: number;
  /** A read by another daemon is seen by this one at most this long after it. */
  seenLate: number;
}

export interface ChangesInput {
  /** By protocol: those that the service lists and the config includes. */
  readings: ReadonlyMap<string, Reading>;
  announced: readonly Announced[];
  /** Milliseconds since something of the service was read again, where the whole was announced. */
  backForMs: number;
  limits: Limits;
}

export interface Changes {
  /** Without protocols: the service as a whole. */
  begun: { protocols: string[]; unreadMs: number } | undefined;
  ended: Over[];
}

const isReadNow = ({ usual }: Limits, reading: Reading | undefined): boolean =>
  reading?.wasRead === true && reading.unreadMs < usual;

/** Something of the service is read. */
export const isBack = (readings: ChangesInput['readings'], limits: Limits): boolean =>
  [...readings.values()].some((reading) => isReadNow(limits, reading));

const endedOf = ({ readings, announced, backForMs, limits }: ChangesInput): Changes['ended'] => {
  const others = new Set(announced.flatMap(({ members }) => members));
  /** Polls recover one after the other. A protocol that is still unread after a while is announced on its own. */
  const isWholeOver = (): boolean => {
    const own = [...readings].filter(([name]) => !others.has(name));
    return backForMs >= limits.tellAfter || own.every(([, reading]) => isReadNow(limits, reading));
  };
  const whole = announced.filter((one) => isWhole(one) && isWholeOver());
  const isOver = (name: string): boolean => !readings.has(name) || isReadNow(limits, readings.get(name));
  return [...whole.map((one) => ({ announced: one, members: [] })), ...overAmong(announced, isOver)];
};

/**
 * If all protocols are unread, the service as a whole is announced. While no protocol is read as usual, that may be about
 * to happen, so no single protocol is announced yet: not before another one was surely read later than it.
 */
const begunOf = ({ readings, announced, limits }: ChangesInput): Changes['begun'] => {
  if (announced.some(isWhole)) return undefined;
  const known = new Set(announced.flatMap(({ members }) => members));
  const unread = [...readings].filter(([, { unreadMs }]) => unreadMs >= limits.tellAfter);
  const longest = (all: typeof unread): number => Math.max(...all.map(([, { unreadMs }]) => unreadMs));
  if (unread.length === readings.size && unread.some(([name]) => !known.has(name))) {
    return { protocols: [], unreadMs: longest(unread) };
  }
  const lastReadMs = Math.min(...[...readings.values()].map(({ unreadMs }) => unreadMs));
  const isSurelyEarlier = (unreadMs: number): boolean => unreadMs - lastReadMs >= limits.seenLate;
  const fresh = unread.filter(([name, { unreadMs }]) => !known.has(name) && isSurelyEarlier(unreadMs));
  if (fresh.length === 0 || lastReadMs >= limits.usual) return undefined;
  return { protocols: fresh.map(([name]) => name), unreadMs: longest(fresh) };
};

export const changesOf = (input: ChangesInput): Changes => ({ begun: begunOf(input), ended: endedOf(input) });
