/** Long lists: in parts, in slices that let other work run, and one by one where a failure must not stop the others. */
import { setImmediate } from 'node:timers/promises';
import { messageOf } from './errors.ts';

/**
 * Parts of at most `size` entries, in their order; none of an empty list. So no single call to Redis, no message and no
 * job grows without bound.
 */
export const chunksOf = <T>(all: readonly T[], size: number): T[][] => {
  const chunks: T[][] = [];
  for (let from = 0; from < all.length; from += size) chunks.push(all.slice(from, from + size));
  return chunks;
};

/** The entries in their order, in as few parts as keep within `limit`; one that is larger than that is a part alone. */
export const packed = <T>(all: Iterable<T>, limit: number, sizeOf: (one: T) => number): T[][] => {
  const parts: T[][] = [];
  let room = -1;
  for (const one of all) {
    const size = sizeOf(one);
    if (size > room) {
      parts.push([]);
      room = limit;
    }
    parts.at(-1)?.push(one);
    room -= size;
  }
  return parts;
};

/** Calls `each` for every entry: `size` at the same time, then the next ones. Gives the results in order. */
export const mapInChunks = async <T, R>(
  all: readonly T[],
  size: number,
  each: (one: T) => Promise<R>,
): Promise<R[]> => {
  const results: R[] = [];
  for (const chunk of chunksOf(all, size)) results.push(...(await Promise.all(chunk.map(each))));
  return results;
};

/** Work that may take long, in slices: it stops at each `yield`, and its driver may let other work run there. */
export type Sliced<T> = Generator<undefined, T, void>;

/** Short beside what people notice, long beside what a pause costs. */
const SLICE_MS = 10;

/** Entries between two stops: no slice takes much longer than it should. */
export const AT_ONCE = 20;

export interface Pauses {
  yieldNow(): Promise<unknown>;
  monotonic(): number;
}

const PAUSES: Pauses = { yieldNow: () => setImmediate(), monotonic: () => performance.now() };

/** With pauses. */
export const inSlices = async <T>(work: Sliced<T>, { yieldNow, monotonic } = PAUSES): Promise<T> => {
  let begun = monotonic();
  for (let step = work.next(); ; step = work.next()) {
    if (step.done) return step.value;
    if (monotonic() - begun < SLICE_MS) continue;
    await yieldNow();
    begun = monotonic();
  }
};

/** Without any: for little work, and where nobody waits. */
export const atOnce = <T>(work: Sliced<T>): T => {
  for (let step = work.next(); ; step = work.next()) if (step.done) return step.value;
};

export function* slice<T>(work: () => T): Sliced<T> {
  yield;
  return work();
}

export function* mapSliced<T, R>(all: readonly T[], each: (one: T, index: number) => R): Sliced<R[]> {
  const results: R[] = [];
  for (const one of all) {
    if (results.length % AT_ONCE === 0) yield;
    results.push(each(one, results.length));
  }
  return results;
}

/**
 * Does the work for each, one after the other; one that keeps failing stops no other. Then throws what failed, each by
 * its name.
 */
export const oneByOne = async <T>(
  all: readonly T[],
  nameOf: (one: T) => string,
  work: (one: T) => Promise<unknown>,
): Promise<void> => {
  const failures: Error[] = [];
  for (const one of all) {
    try {
      await work(one);
    } catch (error) {
      failures.push(new Error(`${nameOf(one)}: ${messageOf(error)}`, { cause: error }));
    }
  }
  const [first, ...others] = failures;
  if (first === undefined) return;
  throw others.length === 0 ? first : new AggregateError(failures, failures.map(messageOf).join('; '));
};
