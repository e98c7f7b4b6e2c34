/** For slow questions: a time limit, and one run for calls at the same time. */

/** Rejects after `timeoutMs`; the work itself goes on. */
export const withinTime = <T>(work: Promise<T>, timeoutMs: number): Promise<T> => {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
};

/**
 * Calls during a running one share its answer: while Redis hangs, the questions of every scrape and every open status
 * page must not pile up.
 */
export const oneAtATime = <T>(ask: () => Promise<T>): (() => Promise<T>) => {
  let asked: Promise<T> | undefined;
  const forget = (): void => {
    asked = undefined;
  };
  return () => {
    if (asked === undefined) {
      asked = (async () => ask())();
      asked.then(forget, forget);
    }
    return asked;
  };
};
