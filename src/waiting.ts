/** For a time, for an answer within a time, and together for one answer. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves after this time, or as soon as `signal` aborts. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => {});

/** Resolves when the work has ended, at the latest after `graceMs`: without Redis it may never end. Gives whether it has. */
export const endedWithin = (work: Promise<unknown>, graceMs: number): Promise<boolean> => {
  const over = new AbortController();
  const late = sleep(graceMs, false, { signal: over.signal });
  return Promise.race([work.then(() => true), late]).finally(() => over.abort());
};

/** Rejects after `timeoutMs`; the work itself goes on. */
export const withinTime = <T>(work: Promise<T>, timeoutMs: number): Promise<T> => {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
};

/**
 * Calls during a running one share its answer: while Redis hangs, the questions of every scrape, of every open status page
 * and of every lock must not pile up.
 */
export const oneAtATime = <T>(ask: () => Promise<T>): (() => Promise<T>) => {
  let asked: Promise<T> | undefined;
  return () => {
    asked ??= (async () => ask())().finally(() => {
      asked = undefined;
    });
    return asked;
  };
};
