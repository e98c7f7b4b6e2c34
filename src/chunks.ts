/** A long list in parts, so that no single call to Redis, no message and no job grows without bound. */

/** Parts of at most `size` entries, in their order; none of an empty list. */
export const chunksOf = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, index) => all.slice(index * size, (index + 1) * size));

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
