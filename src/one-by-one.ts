/** Work on several things that must not wait for each other's success. */
import { messageOf } from './errors.ts';

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
