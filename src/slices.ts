/** Work that may take long, in slices: it stops at each `yield`, and whoever drives it lets others have their turn. */
import { setImmediate } from 'node:timers/promises';

export type Sliced<T> = Generator<undefined, T, void>;

/** Short beside what people notice, long beside what a pause costs. */
const SLICE_MS = 10;

/** Entries between two stops: no slice takes much longer than it should. */
export const AT_ONCE = 20;

export interface Pauses {
  /** Lets others have their turn. */
  yieldNow(): Promise<unknown>;
  /** Milliseconds by a clock that nobody sets. */
  elapsed(): number;
}

const PAUSES: Pauses = { yieldNow: () => setImmediate(), elapsed: () => performance.now() };

/** With pauses. */
export const inSlices = async <T>(work: Sliced<T>, { yieldNow, elapsed } = PAUSES): Promise<T> => {
  let begun = elapsed();
  for (let step = work.next(); ; step = work.next()) {
    if (step.done) return step.value;
    if (elapsed() - begun < SLICE_MS) continue;
    await yieldNow();
    begun = elapsed();
  }
};

/** Without any: for little work, and where nobody waits. */
export const atOnce = <T>(work: Sliced<T>): T => {
  for (let step = work.next(); ; step = work.next()) if (step.done) return step.value;
};

/** One slice. */
export function* slice<T>(work: () => T): Sliced<T> {
  yield;
  return work();
}

export function* mapSliced<T, R>(all: readonly T[], each: (one: T, index: number) => R): Sliced<R[]> {
  const results: R[] = [];
  for (const [index, one] of all.entries()) {
    if (index % AT_ONCE === 0) yield;
    results.push(each(one, index));
  }
  return results;
}
