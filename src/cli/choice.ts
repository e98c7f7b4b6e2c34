/** An option that takes one of a few words. */
import { didYouMean } from '../config/suggest.ts';
import { UsageError } from '../errors.ts';

/** The word that was given. Throws a `UsageError` that names them all, and the one that is nearest to a mistyped one. */
export const oneOf = <T extends string>(option: string, given: string, known: readonly T[]): T => {
  const found = known.find((one) => one === given);
  if (found !== undefined) return found;
  throw new UsageError(`${option} must be one of ${known.join(', ')} (got '${given}')${didYouMean(given, known)}`);
};
