import { createGlobs } from '../globs.ts';

/** `protocols.include` and `exclude` as one question. */
export const createNameFilter = (
  include: readonly string[],
  exclude: readonly string[],
): ((name: string) => boolean) => {
  const isIncluded = createGlobs(include);
  const isExcluded = createGlobs(exclude);
  return (name) => isIncluded(name) && !isExcluded(name);
};
