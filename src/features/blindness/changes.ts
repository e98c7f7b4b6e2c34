/** Which protocols are newly unread, and which of the announced ones are read again. Pure. */
import type { Announced } from '../conditions/store.ts';

/** An announcement: without members it is the service as a whole, else these protocols. */
export const isWhole = ({ members }: Pick<Announced, 'members'>): boolean => members.length === 0;

/**
 * What this daemon has lately seen announced as unread. When another daemon tells that something is read again, this one
 * may see those reads a little later: until then it must not announce the same again. `keptMs`: how long that is lately.
 */
export const createRecent = ({ keptMs, monotonic }: { keptMs: number; monotonic(): number }) => {
  const services = new Map<string, { wholeAt: number; protocols: Map<string, number> }>();
  return {
    note: (service: string, announced: readonly Announced[]): void => {
      const at = monotonic();
      const seen = services.get(service) ?? { wholeAt: -Infinity, protocols: new Map<string, number>() };
      services.set(service, seen);
      if (announced.some(isWhole)) seen.wholeAt = at;
      for (const { members } of announced) for (const name of members) seen.protocols.set(name, at);
      for (const [name, seenAt] of seen.protocols) if (at - seenAt >= keptMs) seen.protocols.delete(name);
    },
    of: (service: string) => {
      const { wholeAt = -Infinity, protocols = new Map<string, number>() } = services.get(service) ?? {};
      const isRecent = (at: number): boolean => monotonic() - at < keptMs;
      const names = [...protocols].flatMap(([name, at]) => (isRecent(at) ? [name] : []));
      return { isWhole: isRecent(wholeAt), protocols: new Set(names) };
    },
  };
};

export type Recent = ReturnType<ReturnType<typeof createRecent>['of']>;

/** The reads of one protocol, the worst of its sources. */
export interface Reading {
  wasRead: boolean;
  /** Milliseconds since it was last read, or since that was first watched. */
  unreadMs: number;
}

/** All in milliseconds. */
export interface Limits {
  /** Unread for at least this long is news. */
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
  /** What this daemon saw announced within `limits.seenLate`. */
  recent: Recent;
  /** Milliseconds since something of the service was read again, where the whole was announced. */
  backForMs: number;
  limits: Limits;
}

export interface Changes {
  begun?: { isWhole: boolean; protocols: string[]; unreadMs: number };
  ended: { announced: Announced; protocols: string[] }[];
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
  return announced.flatMap((one) => {
    if (isWhole(one)) return isWholeOver() ? [{ announced: one, protocols: [] }] : [];
    const protocols = one.members.filter((name) => !readings.has(name) || isReadNow(limits, readings.get(name)));
    return protocols.length === 0 ? [] : [{ announced: one, protocols }];
  });
};

/**
 * If all protocols are unread, the service as a whole is announced. While no protocol is read as usual, that may be about
 * to happen, so no single protocol is announced yet: not before another one was surely read later than it.
 */
const begunOf = ({ readings, announced, recent, limits }: ChangesInput): Changes['begun'] => {
  if (recent.isWhole || announced.some(isWhole)) return undefined;
  const known = new Set([...recent.protocols, ...announced.flatMap(({ members }) => members)]);
  const unread = [...readings].filter(([, { unreadMs }]) => unreadMs >= limits.tellAfter);
  const longest = (all: typeof unread): number => Math.max(...all.map(([, { unreadMs }]) => unreadMs));
  if (unread.length === readings.size && unread.some(([name]) => !known.has(name))) {
    return { isWhole: true, protocols: [], unreadMs: longest(unread) };
  }
  const lastReadMs = Math.min(...[...readings.values()].map(({ unreadMs }) => unreadMs));
  const isSurelyEarlier = (unreadMs: number): boolean => unreadMs - lastReadMs >= limits.seenLate;
  const fresh = unread.filter(([name, { unreadMs }]) => !known.has(name) && isSurelyEarlier(unreadMs));
  if (fresh.length === 0 || lastReadMs >= limits.usual) return undefined;
  return { isWhole: false, protocols: fresh.map(([name]) => name), unreadMs: longest(fresh) };
};

export const changesOf = (input: ChangesInput): Changes => {
  const begun = begunOf(input);
  return { ...(begun === undefined ? {} : { begun }), ended: endedOf(input) };
};
